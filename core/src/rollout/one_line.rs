//! Reads one line of a rollout file: finds its end, takes off what disks and editors put around it, says what it is.

use std::io::{self, BufRead};

use tenon_protocol::{RolloutItem, RolloutLine, parse_line_mended};

/// How every line of ours and of the reference begins: where one stands behind a torn line, it is found by this.
const LINE_START: &str = "{\"timestamp\":";

/// A line without what disks and editors put around it: NUL bytes, white space, a byte order mark.
pub(super) fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| matches!(c, '\0' | '\u{feff}') || c.is_ascii_whitespace())
}

/// What the bytes of a line say, as far as they can be read: the line, or the one that stands behind a torn one.
pub(super) fn glance(bytes: &[u8]) -> Option<RolloutLine> {
    let line = bare(std::str::from_utf8(bytes).ok()?);
    read_line(line).ok().or_else(|| read_line(behind_torn(line)?).ok()).map(|(line, _)| line)
}

/// What a writer that did not end a torn line has put behind it: perhaps a line.
pub(super) fn behind_torn(line: &str) -> Option<&str> {
    let (at, _) = line.rmatch_indices(LINE_START).find(|&(at, _)| at > 0)?;
    line.get(at..)
}

/// Reads one line as what it says, or says why it is none; and whether it had to be mended.
pub(super) fn read_line(text: &str) -> Result<(RolloutLine, bool), String> {
    let (line, was_mended) = parse_line_mended(text).map_err(|error| in_plain_words(&error.to_string()))?;
    if let RolloutItem::ResponseItem(item) = &line.item
        && item.tag().is_empty()
    {
        return Err("a response item without a `type`".to_owned());
    }
    Ok((line, was_mended))
}

/// What serde says, without names of types.
fn in_plain_words(error: &str) -> String {
    let Some((before, named)) = error.split_once("expected struct ") else { return error.to_owned() };
    let after = named.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    let after = after.split_once(" elements").map_or(after, |(_, after)| after);
    format!("{before}expected an object{after}")
}

/// Reads up to the next line break, which is not kept, or the end. Of a line that is longer than `limit` only so much
/// is kept; gives how many bytes more it had. None at the end.
pub(super) fn next_line(
    source: &mut impl BufRead,
    line: &mut Vec<u8>,
    limit: usize,
) -> io::Result<Option<u64>> {
    let mut beyond = 0_u64;
    let mut any = false;
    loop {
        let available = match source.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(any.then_some(beyond));
        }
        any = true;
        let end = available.iter().position(|&byte| byte == b'\n');
        let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        let kept = piece.len().min(limit.saturating_sub(line.len()));
        line.extend_from_slice(piece.get(..kept).unwrap_or_default());
        beyond += (piece.len() - kept) as u64;
        let used = piece.len() + usize::from(end.is_some());
        source.consume(used);
        if end.is_some() {
            return Ok(Some(beyond));
        }
    }
}
