//! What a yes is bound to: everything the call would do, and the content of the scripts it names.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tenon_tools::{CommandEffect, ContentHash, Effects, FileEffect};

use crate::policy::named_scripts;

/// The longest script whose content is looked at, in bytes. Of a longer one only its length and its time of change
/// are.
const MAX_SCRIPT_BYTES: u64 = 16 * 1024 * 1024;

/// What a call would do, as it is now. Two are equal when a yes to one is a yes to the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bound {
    effects: Effects,
    /// The folder that its command runs in, links resolved: one that leads there may lead elsewhere by then.
    folder: Option<PathBuf>,
}

impl Bound {
    /// Takes what was prepared, and reads the scripts that its command names.
    pub(super) async fn of(effects: &Effects) -> Self {
        let mut effects = effects.clone();
        let mut folder = None;
        if let Some(CommandEffect { argv, cwd, .. }) = &effects.command {
            folder = tokio::fs::canonicalize(cwd).await.ok();
            effects.reads.extend(hashed(named_scripts(argv, cwd)).await);
        }
        Self { effects, folder }
    }

    pub(super) fn effects(&self) -> &Effects {
        &self.effects
    }
}

/// The hashes of those that are files.
async fn hashed(files: BTreeSet<PathBuf>) -> Vec<FileEffect> {
    if files.is_empty() {
        return Vec::new();
    }
    let hash = move || files.into_iter().filter_map(|path| file_effect(&path)).collect();
    tokio::task::spawn_blocking(hash).await.unwrap_or_default()
}

/// None where there is no file. One that cannot be read has no hash: the command will not be able to read it either.
fn file_effect(path: &Path) -> Option<FileEffect> {
    let path = path.canonicalize().ok()?;
    let about = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
    let content = hash(&path, &about).ok().map(ContentHash);
    Some(FileEffect { path, content })
}

fn hash(path: &Path, about: &std::fs::Metadata) -> std::io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    if about.len() > MAX_SCRIPT_BYTES {
        let changed = about.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        hasher.update(about.len().to_le_bytes());
        hasher.update(changed.as_nanos().to_le_bytes());
    } else {
        let mut content = Vec::new();
        std::fs::File::open(path)?.take(MAX_SCRIPT_BYTES + 1).read_to_end(&mut content)?;
        hasher.update(&content);
    }
    Ok(hasher.finalize().into())
}

#[cfg(test)]
#[path = "bound_tests.rs"]
mod tests;
