//! Telling from what a command printed that the sandbox has refused it something (runtime.md D9.2).

use super::Limits;

/// What the system says when it refuses, in lower case.
const WORDS: [&str; 7] = [
    "operation not permitted",
    "permission denied",
    "read-only file system",
    "seccomp",
    "sandbox",
    "landlock",
    "failed to write file",
];

/// How a command ends that seccomp has killed, as a shell sees it: 128 + SIGSYS.
const KILLED_BY_SECCOMP: i32 = 128 + 31;

/// What looks like a refusal by the sandbox. It is told by the words that were printed, so a program that prints them
/// for another reason and fails looks the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Denial {
    mode: &'static str,
    path: Option<String>,
}

impl Denial {
    /// Looks at what a command printed that ended with `code` under these limits.
    pub(crate) fn find(limits: &Limits, code: i32, printed: impl FnOnce() -> String) -> Option<Self> {
        if code == 0 {
            return None;
        }
        let printed = printed();
        let line = printed.lines().find(|line| {
            let line = line.to_lowercase();
            WORDS.iter().any(|word| line.contains(word))
        });
        if line.is_none() && code != KILLED_BY_SECCOMP {
            return None;
        }
        Some(Self { mode: limits.mode(), path: line.and_then(path_in).map(str::to_owned) })
    }

    /// What the model is told.
    pub(crate) fn line(&self) -> String {
        let mode = self.mode;
        match &self.path {
            Some(path) => format!("[denied by the sandbox, as it seems: {path} (sandbox mode {mode})]"),
            None => format!("[denied by the sandbox, as it seems (sandbox mode {mode})]"),
        }
    }
}

/// The path that an error message names: what is in quotes, or what a shell says its line is about, or else the last
/// word between colons that has a slash. What stands first is who speaks.
fn path_in(line: &str) -> Option<&str> {
    if let Some(path) = quoted(line).or_else(|| named_by_shell(line)) {
        return Some(path);
    }
    let parts = || line.split(": ");
    let speaker = usize::from(parts().count() > 2);
    let words = parts().skip(speaker).filter_map(|part| part.split_whitespace().next_back());
    words.filter(|word| word.contains('/') && !word.contains("://")).last()
}

/// The path of `{shell}: line {n}: {path}: {message}`. A message of a system call that concerns no file names none.
fn named_by_shell(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(": line ")?;
    let (number, rest) = rest.split_once(": ")?;
    let (path, message) = rest.rsplit_once(": ")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let of_file =
        ["permission denied", "read-only file system"].contains(&message.trim_end().to_lowercase().as_str());
    (is_number && of_file && !path.is_empty() && !path.contains(": ")).then_some(path)
}

/// What is in the last quotes. An apostrophe inside a word is none.
fn quoted(line: &str) -> Option<&str> {
    [('\'', '\''), ('"', '"'), ('`', '\''), ('‘', '’')].into_iter().find_map(|(open, close)| {
        let before_close = line.get(..line.rfind(close)?)?;
        let open_at = before_close.rfind(open)?;
        let stands_alone = !line.get(..open_at)?.ends_with(char::is_alphanumeric);
        let inside = before_close.get(open_at + open.len_utf8()..)?;
        (stands_alone && !inside.is_empty()).then_some(inside)
    })
}

#[cfg(test)]
#[path = "denial_tests.rs"]
mod tests;
