//! Cutting one text in the middle (core.md 3.2, 3.3, 3.6).

use std::num::NonZeroU64;

use super::TruncationPolicy;

/// Bytes that count as one token where no tokenizer is asked (core.md 3.1).
pub(super) const BYTES_PER_TOKEN: usize = 4;

/// The approximate number of tokens of a text: its UTF-8 length / 4, rounded up.
pub fn approx_token_count(text: &str) -> usize {
    text.len().div_ceil(BYTES_PER_TOKEN)
}

/// Cuts the middle out of a text that is longer than the budget, and says there how much is gone. Both ends keep half
/// of the budget, to whole characters; the marker is not charged to it (core.md 3.2).
pub fn truncate_text(text: &str, policy: TruncationPolicy) -> String {
    let budget = policy.byte_budget();
    if text.len() <= budget {
        return text.to_owned();
    }
    let left = budget / 2;
    let prefix_end = char_boundary_at_or_before(text, left);
    let suffix_start = char_boundary_at_or_after(text, text.len() - (budget - left));
    // `left` and the start of the right half never cross, since the text is longer than both together.
    let prefix = text.get(..prefix_end).unwrap_or_default();
    let removed = text.get(prefix_end..suffix_start).unwrap_or_default();
    let suffix = text.get(suffix_start..).unwrap_or_default();
    let marker = match policy {
        TruncationPolicy::Bytes(_) => format!("…{} chars truncated…", removed.chars().count()),
        TruncationPolicy::Tokens(_) => {
            format!("…{} tokens truncated…", (text.len() - budget).div_ceil(BYTES_PER_TOKEN))
        }
    };
    [prefix, &marker, suffix].concat()
}

/// As [`truncate_text`], with a header that tells what was there: the approximate tokens and the lines of the whole
/// (core.md 3.3). A text within the budget comes back unchanged and without header.
pub fn formatted_truncate_text(text: &str, policy: TruncationPolicy) -> String {
    if text.len() <= policy.byte_budget() {
        return text.to_owned();
    }
    let tokens = approx_token_count(text);
    let lines = text.lines().count();
    let cut = truncate_text(text, policy);
    format!("{}\nTotal output lines: {lines}\n\n{cut}", warning(tokens))
}

/// The line that stands between head and tail of a captured output when the buffer lost `bytes` (core.md 3.6).
pub fn omission_marker(bytes: NonZeroU64) -> String {
    format!("... {bytes} bytes omitted ...")
}

/// Bounds the output of a command whose buffer may have lost bytes (core.md 3.6, runtime.md B10.5). The marker of the
/// loss survives; where the text must be cut besides, there is a warning but no line count, since nobody knows it.
///
/// `original_token_count` is what the whole output would have counted; without it the text at hand is counted.
pub fn truncate_captured(
    text: &str,
    policy: TruncationPolicy,
    original_token_count: Option<usize>,
    omitted: Option<NonZeroU64>,
) -> String {
    let Some(omitted) = omitted else {
        return formatted_truncate_text(text, policy);
    };
    let marker = omission_marker(omitted);
    if text.len() <= policy.byte_budget() {
        return if text.contains(&marker) { text.to_owned() } else { format!("{marker}\n{text}") };
    }
    let tokens = original_token_count.unwrap_or_else(|| approx_token_count(text));
    let cut = truncate_text(text, policy);
    let marker_line = if cut.contains(&marker) { String::new() } else { format!("{marker}\n") };
    format!("{}\n{marker_line}\n{cut}", warning(tokens))
}

fn warning(original_tokens: usize) -> String {
    format!("Warning: truncated output (original token count: {original_tokens})")
}

/// The longest start of `text` that has at most `limit` bytes and ends between characters.
pub(crate) fn char_prefix(text: &str, limit: usize) -> &str {
    text.get(..char_boundary_at_or_before(text, limit)).unwrap_or_default()
}

fn char_boundary_at_or_before(text: &str, index: usize) -> usize {
    let mut at = index.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn char_boundary_at_or_after(text: &str, index: usize) -> usize {
    let mut at = index.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}
