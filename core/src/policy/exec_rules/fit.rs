//! Whether a rule that restricts fits a command, with the options before its subcommand passed over, and words that are
//! not known taken for what they may be.
//!
//! A rule that allows is compared word for word alone ([`PrefixRule::matches`](super::PrefixRule)).

use super::rule::PatternWord;

/// How a rule fits. In the order of strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// Not at all.
    No,
    /// It may: a word is not known, or it is not known whether a word is the value of an option.
    Perhaps,
    /// It does; the words behind the program do from this place on.
    At(usize),
}

/// Options of `git`, before the subcommand, whose value is the next word.
const GIT_VALUES: [&str; 7] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source"];
/// What a setting of git begins with that gives a command another name.
const GIT_ALIAS: &str = "alias.";
/// What may stand for other letters.
const OPEN: [char; 4] = ['*', '?', '[', '{'];

/// How a pattern fits words that are known as far as they are `Some`.
pub(super) fn fit(pattern: &[PatternWord], words: &[Option<&str>]) -> Fit {
    let (Some((program, rest)), Some((word, arguments))) = (pattern.split_first(), words.split_first())
    else {
        return Fit::No;
    };
    // What is not known may be this program, and all that is behind it.
    let Some(word) = word else { return Fit::Perhaps };
    let name = word.rsplit('/').next().unwrap_or(word);
    match (one(program, word).max(one(program, name)), rest) {
        (Fit::No, _) => Fit::No,
        (Fit::Perhaps, _) => Fit::Perhaps,
        (Fit::At(_), []) => Fit::At(1),
        (Fit::At(_), rest) => behind_options(rest, arguments, name == "git"),
    }
}

/// Compares at each place that has nothing but options and their values before it.
fn behind_options(rest: &[PatternWord], arguments: &[Option<&str>], git: bool) -> Fit {
    // Whether the word at hand may be the value of the option before it; whether one before was taken for one.
    let (mut may_be_value, mut guessed, mut best) = (false, false, Fit::No);
    let mut place = 0;
    while let Some(word) = arguments.get(place) {
        let found = match first(rest, arguments.get(place..).unwrap_or_default()) {
            Fit::At(_) if guessed => Fit::Perhaps,
            Fit::At(_) => return Fit::At(place + 1),
            Fit::Perhaps => Fit::Perhaps,
            Fit::No => Fit::No,
        };
        best = best.max(found);
        let Some(word) = word else { return best.max(Fit::Perhaps) };
        if is_option(word) {
            if word.contains('{') || (git && word.to_lowercase().contains(GIT_ALIAS)) {
                return best.max(Fit::Perhaps);
            }
            let takes_next = git && GIT_VALUES.contains(word);
            if takes_next && !arguments.get(place + 1).is_none_or(is_plain_value) {
                return best.max(Fit::Perhaps);
            }
            may_be_value = !git && *word != "--" && !word.contains('=');
            place += if takes_next { 2 } else { 1 };
        } else if may_be_value {
            (may_be_value, guessed) = (false, true);
            place += 1;
        } else {
            break;
        }
    }
    best
}

/// `-x`, `--long`, and what chooses a version (`cargo +nightly`).
fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with(['-', '+'])
}

/// One word, and none that names a command anew.
fn is_plain_value(value: &Option<&str>) -> bool {
    value.is_some_and(|value| !value.contains(OPEN) && !value.to_lowercase().starts_with(GIT_ALIAS))
}

/// How a pattern fits the first of these words.
fn first(pattern: &[PatternWord], words: &[Option<&str>]) -> Fit {
    let mut words = words.iter();
    for expected in pattern {
        match words.next() {
            None => return Fit::No,
            // It may be any number of words.
            Some(None) => return Fit::Perhaps,
            Some(Some(word)) => match one(expected, word) {
                Fit::At(_) => {}
                other => return other,
            },
        }
    }
    Fit::At(1)
}

/// How one word fits. What a glob or a brace list may make of it counts as far as it is certain.
fn one(expected: &PatternWord, word: &str) -> Fit {
    if expected.alternatives().iter().any(|alternative| alternative == word) {
        return Fit::At(1);
    }
    let Some((certain, _)) = word.split_once(OPEN).filter(|_| word.len() > 1) else { return Fit::No };
    let may = |alternative: &String| alternative.starts_with(certain);
    if expected.alternatives().iter().any(may) { Fit::Perhaps } else { Fit::No }
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
