//! Long words of a hook for the model: they go into a file, and the model is told which (core.md 8.10).

use std::path::{Path, PathBuf};

use tenon_tools::{TruncationPolicy, approx_token_count, truncate_text};
use tokio::io::AsyncWriteExt;

/// How many approximate tokens of one text of a hook the model is given.
pub const HOOK_TEXT_MAX_TOKENS: usize = 2500;

/// The folder below the home folder.
const FOLDER: &str = "hook_outputs";

/// For the user's eyes only: what a hook says may be about anything.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Where long texts go.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spill {
    folder: Option<PathBuf>,
}

impl Spill {
    /// Into the home folder, under the name of the thread. Without a home, what is cut out of a text is lost.
    pub(crate) fn new(home: Option<&Path>, thread: &str) -> Self {
        Self { folder: home.map(|home| home.join(FOLDER).join(thread)) }
    }

    /// The text as the model is given it.
    pub(super) async fn bounded(&self, text: String) -> String {
        if approx_token_count(&text) <= HOOK_TEXT_MAX_TOKENS {
            return text;
        }
        let footer = match self.save(&text).await {
            Ok(Some(path)) => format!("\n\nFull hook output saved to: {}", path.display()),
            Ok(None) => String::new(),
            Err(error) => {
                tracing::warn!(%error, "the full output of a hook could not be saved");
                String::new()
            }
        };
        let room = HOOK_TEXT_MAX_TOKENS.saturating_sub(approx_token_count(&footer));
        let preview = truncate_text(&text, TruncationPolicy::Tokens(room));
        format!("{preview}{footer}")
    }

    /// The same for several texts.
    pub(super) async fn all_bounded(&self, texts: Vec<String>) -> Vec<String> {
        let mut bounded = Vec::with_capacity(texts.len());
        for text in texts {
            bounded.push(self.bounded(text).await);
        }
        bounded
    }

    async fn save(&self, text: &str) -> std::io::Result<Option<PathBuf>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        tokio::fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder).await?;
        let path = folder.join(format!("{}.txt", uuid::Uuid::new_v4()));
        let mut options = tokio::fs::OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(FILE_MODE).open(&path).await?;
        file.write_all(text.as_bytes()).await?;
        file.flush().await?;
        Ok(Some(path))
    }
}

#[cfg(test)]
#[path = "spill_tests.rs"]
mod tests;
