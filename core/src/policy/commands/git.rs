//! What git runs besides itself: `git rebase --exec 'make test'`, `git submodule foreach make`, `git bisect run make`.

use super::behind::{Scripts, glued};

/// Subcommands, and the word behind them that a command follows.
const RUN_WHAT_FOLLOWS: [(&str, &str); 2] = [("submodule", "foreach"), ("bisect", "run")];
/// The subcommand whose options take a line for a shell, and those options.
const REBASE: &str = "rebase";
const REBASE_RUNS: [&str; 2] = ["-x", "--exec"];
/// What the options of `git filter-branch` end with that take a line for a shell.
const FILTER: &str = "-filter";

/// The scripts of a command of git.
pub(super) fn scripts_of(arguments: &[Option<String>]) -> Scripts {
    let mut scripts = Scripts::default();
    let place = |of: &str| arguments.iter().position(|word| word.as_deref() == Some(of));
    for (subcommand, word) in RUN_WHAT_FOLLOWS {
        if let Some((_, begins)) = place(subcommand).zip(place(word)).filter(|(one, other)| one < other) {
            let rest = arguments.iter().skip(begins + 1);
            add(&mut scripts, rest.skip_while(|word| is_option(word.as_deref())));
        }
    }
    let rebases = place(REBASE).is_some();
    for (option, value) in arguments.iter().zip(arguments.iter().skip(1).map(Some).chain([None])) {
        let Some(option) = option.as_deref() else { continue };
        let runs = option.ends_with(FILTER) || (rebases && REBASE_RUNS.contains(&option));
        if runs {
            add(&mut scripts, value.into_iter());
        } else if rebases && (option.starts_with("-x") || option.starts_with("--e")) {
            scripts.known.extend(option.strip_prefix('-').map(glued).unwrap_or_default());
        }
    }
    scripts
}

fn is_option(word: Option<&str>) -> bool {
    word.is_some_and(|word| word.starts_with('-'))
}

/// Words that make one script.
fn add<'w>(scripts: &mut Scripts, words: impl Iterator<Item = &'w Option<String>> + Clone) {
    scripts.unknown |= words.clone().any(Option::is_none);
    scripts.known.push(words.flatten().cloned().collect::<Vec<_>>().join(" "));
}
