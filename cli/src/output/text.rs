//! Foreign text, made fit to be shown: a tool's output must not move the cursor, change colours or turn the reading
//! direction.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every control character but line feed and tab written out: `^[` for ESC, `^M` for a CR that ends no
/// line, `<U+202E>` for the invisible ones of Unicode. A CR before a line feed is dropped.
pub(crate) fn neutral(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unfit) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            c if !is_unfit(c) => shown.push(c),
            c if c.is_ascii() => {
                shown.push('^');
                // A control character and its letter differ in one bit; DEL is `^?`.
                shown.push(char::from(c as u8 ^ 0x40));
            }
            c => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "<U+{:04X}>", u32::from(c));
            }
        }
    }
    Cow::Owned(shown)
}

/// Control characters of both ranges, line and paragraph separators, and what turns or hides text.
fn is_unfit(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // The joiners U+200C and U+200D belong to words and emoji.
        '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' => true,
        // Letters of Hangul that have no shape.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        // Tags: invisible letters.
        '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

/// The first `most` characters of a line, with `…` for the rest.
pub(crate) fn clip(line: &str, most: usize) -> Cow<'_, str> {
    match line.char_indices().nth(most) {
        None => Cow::Borrowed(line),
        Some((end, _)) => Cow::Owned(format!("{}…", line.get(..end).unwrap_or_default())),
    }
}

/// The first line of a text, harmless and at most `most` characters long, with a note when there are more lines.
pub(crate) fn first_line(text: &str, most: usize) -> String {
    let mut lines = text.trim().lines();
    let first = neutral(lines.next().unwrap_or_default()).into_owned();
    let first = clip(&first, most);
    match lines.count() {
        0 => first.into_owned(),
        more => format!("{first} (+{more} lines)"),
    }
}

/// At most `most` lines of a text: its first and its last ones, with a note of what stands between.
pub(crate) fn excerpt(text: &str, most: usize) -> Vec<Cow<'_, str>> {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= most {
        return lines.into_iter().map(Cow::Borrowed).collect();
    }
    let head = most / 2;
    let tail = most.saturating_sub(head + 1);
    let hidden = lines.len() - head - tail;
    let note = Cow::Owned(format!("… {hidden} more lines …"));
    let first = lines.iter().take(head).map(|line| Cow::Borrowed(*line));
    let last = lines.iter().skip(lines.len() - tail).map(|line| Cow::Borrowed(*line));
    first.chain([note]).chain(last).collect()
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
