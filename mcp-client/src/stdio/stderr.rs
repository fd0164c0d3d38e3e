//! What a server complains of: read so that it never blocks, the last of it kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

/// How many of the last lines are kept.
pub(crate) const KEPT_LINES: usize = 20;
/// How much of a line is kept, in bytes.
pub(crate) const KEPT_LINE_BYTES: usize = 512;
/// How much is read at a time.
const CHUNK_BYTES: usize = 8 * 1024;

/// The last lines of a stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<String>,
    /// The line that is not complete yet.
    open: Vec<u8>,
}

impl Tail {
    /// The last lines, each cut to its bound.
    pub(crate) fn lines(&self) -> Vec<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let open = (!kept.open.is_empty()).then(|| text(&kept.open));
        kept.lines.iter().cloned().chain(open).collect()
    }

    /// Reads a stream to its end. Each line is told to the log of this server.
    pub(crate) async fn drain(self, server: String, mut from: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            match from.read(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(read) => self.push(&server, chunk.get(..read).unwrap_or_default()),
            }
        }
    }

    fn push(&self, server: &str, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, piece) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if at > 0 {
                let line = text(&std::mem::take(&mut kept.open));
                tracing::info!(server, line, "MCP server stderr");
                if kept.lines.len() == KEPT_LINES {
                    kept.lines.pop_front();
                }
                kept.lines.push_back(line);
            }
            let room = KEPT_LINE_BYTES.saturating_sub(kept.open.len());
            kept.open.extend_from_slice(piece.get(..room).unwrap_or(piece));
        }
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end_matches('\r').to_owned()
}

#[cfg(test)]
#[path = "stderr_tests.rs"]
mod tests;
