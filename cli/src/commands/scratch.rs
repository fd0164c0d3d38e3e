//! The fresh folder that a replay works in.

use std::io;
use std::path::{Path, PathBuf};

use crate::invocation::Environment;
use crate::replay::RecordedFile;

/// Makes a folder that is not there yet, with its files in it. It is kept: what the calls did is there to be seen.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn make(environment: &Environment, files: &[RecordedFile]) -> io::Result<PathBuf> {
    let place = environment.get("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let folder = place.join(format!("tenon-replay-{}", uuid::Uuid::new_v4().simple()));
    std::fs::create_dir(&folder)?;
    for file in files {
        put(&folder, file)?;
    }
    folder.canonicalize()
}

/// Takes a folder away in which nothing has run.
pub(crate) fn discard(folder: &Path) {
    if let Err(error) = std::fs::remove_dir_all(folder) {
        tracing::warn!(folder = %folder.display(), %error, "a scratch folder is left");
    }
}

fn put(folder: &Path, file: &RecordedFile) -> io::Result<()> {
    let path = folder.join(&file.path);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, &file.content)
}
