//! Where copies lie: a folder beside the rollout, a file for each, named by the hash of what it holds.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::texts::TextHash;
use crate::rollout::system::{FILE_MODE, Os, make_folders};

/// The file that is being written. It gets its name when it is whole.
const UNFINISHED: &str = "unfinished";

/// What copies are written to. A test may put one in its place that fails where it wants.
pub(in crate::rollout) trait CopyDisk: Send {
    /// What lies there, with the lengths in bytes; an unfinished copy does not.
    fn list(&mut self) -> io::Result<Vec<(TextHash, u64)>>;

    /// Begins a copy; one that was begun and not finished is forgotten.
    fn begin(&mut self) -> io::Result<()>;

    /// Appends to the copy that was begun, perhaps only the first of `bytes`, and says how many.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Gives the copy that was begun its name: from here on it is there, whole.
    fn finish(&mut self, name: &TextHash) -> io::Result<()>;

    /// Makes what a copy holds durable.
    fn sync(&mut self, name: &TextHash) -> io::Result<()>;

    /// Makes the names durable.
    fn sync_names(&mut self) -> io::Result<()>;

    /// What a copy holds.
    fn read(&mut self, name: &TextHash) -> io::Result<Vec<u8>>;

    /// Removes a copy.
    fn remove(&mut self, name: &TextHash) -> io::Result<()>;

    /// Removes what is unfinished, and the folder where nothing is in it.
    fn close(&mut self);
}

/// The folder of a rollout. It is made with the first copy.
#[derive(Debug)]
pub(in crate::rollout) struct CopyFolder {
    path: PathBuf,
    unfinished: Option<File>,
    /// The entry of the folder itself is durable.
    is_named: bool,
}

impl CopyFolder {
    /// The folder of the rollout at `path`: its name with `.copies` for `.jsonl`.
    pub(in crate::rollout) fn of(rollout: &Path) -> Self {
        Self { path: rollout.with_extension("copies"), unfinished: None, is_named: false }
    }

    /// Where a copy lies, or would.
    pub(super) fn file(&self, name: &TextHash) -> PathBuf {
        self.path.join(name.as_str())
    }

    /// A copy, if it is there and a file of this length: nothing else is opened.
    ///
    /// # Errors
    /// The system's: it may be there all the same.
    pub(super) fn read_whole(&self, name: &TextHash, bytes: u64) -> io::Result<Option<Vec<u8>>> {
        let path = self.file(name);
        let is_gone = |kind| matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        match path.symlink_metadata() {
            Ok(found) if found.is_file() && found.len() == bytes => fs::read(path).map(Some),
            Ok(_) => Ok(None),
            Err(error) if is_gone(error.kind()) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl CopyDisk for CopyFolder {
    fn list(&mut self) -> io::Result<Vec<(TextHash, u64)>> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            if let Some(name) = entry.file_name().to_str().and_then(TextHash::read) {
                found.push((name, entry.metadata()?.len()));
            }
        }
        Ok(found)
    }

    fn begin(&mut self) -> io::Result<()> {
        self.unfinished = None;
        make_folders(&Os, &self.path)?;
        let path = self.path.join(UNFINISHED);
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(path)?;
        self.unfinished = Some(file);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = self.unfinished.as_mut().ok_or(io::ErrorKind::NotFound)?;
        file.write(bytes)
    }

    fn finish(&mut self, name: &TextHash) -> io::Result<()> {
        self.unfinished.take().ok_or(io::ErrorKind::NotFound)?;
        fs::rename(self.path.join(UNFINISHED), self.file(name))
    }

    fn sync(&mut self, name: &TextHash) -> io::Result<()> {
        File::open(self.file(name))?.sync_data()
    }

    fn sync_names(&mut self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()?;
        if let Some(parent) = self.path.parent().filter(|_| !self.is_named) {
            File::open(parent)?.sync_all()?;
        }
        self.is_named = true;
        Ok(())
    }

    fn read(&mut self, name: &TextHash) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(self.file(name))?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn remove(&mut self, name: &TextHash) -> io::Result<()> {
        fs::remove_file(self.file(name))
    }

    fn close(&mut self) {
        self.unfinished = None;
        // Either may be gone, and the folder may hold copies that are needed.
        let _ = fs::remove_file(self.path.join(UNFINISHED));
        let _ = fs::remove_dir(&self.path);
    }
}
