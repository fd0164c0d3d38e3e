//! What telemetry is shown of a text.

use crate::truncation::char_prefix;

/// How many bytes of a text telemetry is shown (core.md 2.5).
pub const TELEMETRY_PREVIEW_MAX_BYTES: usize = 2048;

/// How many lines of those.
pub const TELEMETRY_PREVIEW_MAX_LINES: usize = 64;

/// What stands at the end of a preview that is not the whole.
pub const TELEMETRY_PREVIEW_NOTICE: &str = "[... telemetry preview truncated ...]";

/// The start of a text, for telemetry: at most 2048 bytes, cut between characters, and of those at most 64 lines.
/// What fits comes back unchanged; otherwise the notice follows directly (core.md 2.5).
pub fn telemetry_preview(text: &str) -> String {
    let start = char_prefix(text, TELEMETRY_PREVIEW_MAX_BYTES);
    if start.len() == text.len() && start.lines().nth(TELEMETRY_PREVIEW_MAX_LINES).is_none() {
        return text.to_owned();
    }
    let lines: Vec<&str> = start.lines().take(TELEMETRY_PREVIEW_MAX_LINES).collect();
    let mut preview = lines.join("\n");
    preview.push_str(TELEMETRY_PREVIEW_NOTICE);
    preview
}

#[cfg(test)]
#[path = "preview_tests.rs"]
mod tests;
