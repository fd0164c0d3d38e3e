//! Commands that are never run unasked, whatever the sandbox lets through: a forced `rm` (runtime.md D10.3).

use super::name;

/// Whether a command, its words known as far as they are `Some`, is a forced removal. What stands behind it (`sudo`, a
/// nested shell) is asked about on its own.
pub(in crate::policy) fn is_dangerous(words: &[Option<String>]) -> bool {
    let Some((Some(program), arguments)) = words.split_first() else { return false };
    if name(program) != "rm" {
        return false;
    }
    let options = arguments.iter().take_while(|word| word.as_deref() != Some("--"));
    options.flatten().any(|word| forces(word))
}

/// `-f` alone or among others, `--force` or a beginning of it, and what a brace list may make of a word.
fn forces(word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(long) => !long.is_empty() && "force".starts_with(long),
        None => word.strip_prefix('-').is_some_and(|short| short.contains('f')) || word.starts_with("{-"),
    }
}

#[cfg(test)]
#[path = "dangerous_tests.rs"]
mod tests;
