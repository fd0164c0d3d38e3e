//! A look at a patch that still streams in (runtime.md A12).

use std::time::{Duration, Instant};

use crate::parser::StreamingParser;
use crate::patch::{Chunk, Hunk};

/// Shortest time between two looks (A12.2).
pub const PREVIEW_INTERVAL: Duration = Duration::from_millis(500);

/// For each path, as the patch spells it, what would become of it.
pub type Preview = Vec<(String, String)>;

/// Reads a patch piece by piece and says, not too often, what it would do so far. A mistake in the patch
/// stops the view and is told by nobody here: that is for the call itself (A12.4).
#[derive(Debug, Default)]
pub struct PatchPreview {
    parser: StreamingParser,
    shown_at: Option<Instant>,
    /// Lines came since the last look.
    stale: bool,
}

impl PatchPreview {
    /// Takes the next piece. Gives a preview when a line was finished and enough time has passed.
    pub fn push(&mut self, delta: &str, now: Instant) -> Option<Preview> {
        self.parser.push(delta);
        self.stale |= delta.contains('\n') && !self.parser.hunks().is_empty();
        let due = self.shown_at.is_none_or(|shown| now.saturating_duration_since(shown) >= PREVIEW_INTERVAL);
        if due { self.look(now) } else { None }
    }

    /// Says that the text is whole. Gives what was held back.
    pub fn finish(&mut self) -> Option<Preview> {
        self.look(Instant::now())
    }

    fn look(&mut self, now: Instant) -> Option<Preview> {
        if !std::mem::take(&mut self.stale) {
            return None;
        }
        self.shown_at = Some(now);
        let mut preview = Preview::new();
        for hunk in self.parser.hunks() {
            let text = preview_of(hunk);
            match preview.iter_mut().find(|(path, _)| path == hunk.path()) {
                Some((_, shown)) => *shown = text,
                None => preview.push((hunk.path().to_owned(), text)),
            }
        }
        Some(preview)
    }
}

/// The text so far for an added file, nothing for a deleted one, a sketch of a diff for an update (A12.3).
fn preview_of(hunk: &Hunk) -> String {
    match hunk {
        Hunk::Add { contents, .. } => contents.clone(),
        Hunk::Delete { .. } => String::new(),
        Hunk::Update { move_to, chunks, .. } => {
            let mut text = String::new();
            if let Some(path) = move_to {
                push_line(&mut text, "*** Move to: ", path);
            }
            for chunk in chunks {
                push_chunk(&mut text, chunk);
            }
            text
        }
    }
}

/// All old lines, then all new ones: lines that stay appear on both sides.
fn push_chunk(text: &mut String, chunk: &Chunk) {
    if chunk.change_contexts.is_empty() {
        push_line(text, "@@", "");
    }
    for context in &chunk.change_contexts {
        push_line(text, "@@ ", context);
    }
    for line in &chunk.old_lines {
        push_line(text, "-", line);
    }
    for line in &chunk.new_lines {
        push_line(text, "+", line);
    }
    if chunk.is_end_of_file {
        push_line(text, "*** End of File", "");
    }
}

fn push_line(text: &mut String, sign: &str, line: &str) {
    text.push_str(sign);
    text.push_str(line);
    text.push('\n');
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
