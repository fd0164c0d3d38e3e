//! The words of a text, and the parts of words that are identifiers.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The text without accents, in compatibility form: a search for `cafe` finds `café`, and one in full-width letters
/// what is written in narrow ones. Case is kept, since it tells the parts of a word apart.
pub(super) fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let is_accent = |letter: &char| ('\u{300}'..='\u{36f}').contains(letter);
    let straight = |letter| if letter == '\u{2019}' { '\'' } else { letter };
    Cow::Owned(text.nfkd().filter(|letter| !is_accent(letter)).map(straight).collect())
}

/// The words of a folded text, in order: letters, digits, marks and underscores in a row, and such rows with a single
/// point, colon or apostrophe between letters, or a point, comma or apostrophe between digits. An ideograph is a word
/// of its own, and a word does not go from one kana to the other: these scripts write no spaces.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(|letter: char| letter.is_alphanumeric())?;
            rest = rest.get(start..)?;
            let (word, after) = rest.split_at_checked(word_length(rest))?;
            rest = after;
            let word = word.trim_end_matches('_');
            if !word.is_empty() {
                return Some(word);
            }
        }
    })
}

/// How many bytes the word at the start of a text has. The text starts with a letter or a digit.
fn word_length(text: &str) -> usize {
    let mut end = 0;
    let mut last = None;
    while let Some(rest) = text.get(end..) {
        // Most words are rows of ASCII.
        let row = if last.is_none_or(|last: char| last.is_ascii()) { ascii_row(rest) } else { 0 };
        if let Some(byte) = row.checked_sub(1).and_then(|at| rest.as_bytes().get(at)) {
            end += row;
            last = Some(char::from(*byte));
            continue;
        }
        let mut letters = rest.chars();
        let Some(letter) = letters.next() else { break };
        let is_mark = !letter.is_ascii() && is_combining_mark(letter);
        let goes_on = match last {
            None => true,
            Some(_) if is_mark => true,
            Some(last) if is_of_word(letter) => {
                last == '_' || letter == '_' || Script::of(last).joins(Script::of(letter))
            }
            Some(last) => letters.next().is_some_and(|next| joins(last, letter, next)),
        };
        if !goes_on {
            break;
        }
        end += letter.len_utf8();
        last = if is_mark { last } else { Some(letter) };
    }
    end
}

/// How many ASCII letters, digits and underscores the text begins with.
fn ascii_row(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Whether a sign between two letters, or two digits, belongs to their word.
fn joins(before: char, sign: char, after: char) -> bool {
    match sign {
        '.' | '\'' if before.is_alphabetic() && after.is_alphabetic() => true,
        ':' => before.is_alphabetic() && after.is_alphabetic(),
        '.' | '\'' | ',' => before.is_numeric() && after.is_numeric(),
        _ => false,
    }
}

/// As far as it matters where words end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Ideographs,
    Hiragana,
    Katakana,
    Other,
}

impl Script {
    fn of(letter: char) -> Self {
        match letter {
            '\u{3040}'..='\u{309f}' => Self::Hiragana,
            '\u{30a0}'..='\u{30ff}' => Self::Katakana,
            '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => Self::Ideographs,
            '\u{20000}'..='\u{3ffff}' => Self::Ideographs,
            _ => Self::Other,
        }
    }

    fn joins(self, next: Self) -> bool {
        self == next && self != Self::Ideographs
    }
}

/// The parts of a word that is an identifier: `create`, `event` of `createEvent`, `create_event` and `create.event`.
/// None of a word that has no parts; numbers are none.
pub(super) fn parts(word: &str) -> Vec<&str> {
    let pieces = word.split(['_', '.', ':']).flat_map(humps);
    let parts: Vec<&str> = pieces.filter(|part| part.contains(char::is_alphabetic)).collect();
    if parts.len() > 1 { parts } else { Vec::new() }
}

/// The humps of a word in camel case. A row of capitals is one hump, but for the last before a small letter: `HTTP`,
/// `Server` of `HTTPServer`.
fn humps(piece: &str) -> Vec<&str> {
    let mut humps = Vec::new();
    let mut start = 0;
    let mut letters = piece.char_indices().peekable();
    let mut last: Option<char> = None;
    while let Some((place, letter)) = letters.next() {
        let next_is_small = letters.peek().is_some_and(|(_, next)| next.is_lowercase());
        let begins = match last {
            Some(last) if letter.is_uppercase() => !last.is_uppercase() || next_is_small,
            Some(_) | None => false,
        };
        if begins {
            humps.extend(piece.get(start..place));
            start = place;
        }
        last = Some(letter);
    }
    humps.extend(piece.get(start..));
    humps
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
