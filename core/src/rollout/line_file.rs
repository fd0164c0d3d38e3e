//! The file under a recorder: what is appended stands, or is known not to.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::error::RolloutError;

/// How much of a file is looked at in one piece when it is written again after a sync has failed.
const REWRITE_CHUNK: usize = 64 * 1024;

/// A rollout holds what was said and what commands printed: it is the user's alone.
pub(super) const FILE_MODE: u32 = 0o600;

/// What a recorder writes to. A test may put one in its place that fails where it wants.
pub trait LineFile: Send {
    /// Appends bytes, perhaps only the first of them, and says how many.
    ///
    /// # Errors
    /// The system's. Then nothing of `bytes` was appended.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Makes durable what was appended.
    ///
    /// # Errors
    /// The system's. Then nothing that was appended since the last success may be counted on.
    fn sync_data(&mut self) -> io::Result<()>;

    /// Opens the file afresh after a failure, and sees to it that what was appended so far can be made durable.
    ///
    /// # Errors
    /// The system's. The file is as it was before.
    fn reopen(&mut self) -> io::Result<Tail>;
}

/// What a reopened file ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// With what was appended last.
    Intact,
    /// With something else: what comes next begins on a line of its own.
    Changed,
}

/// A rollout file that is open for appending, and locked against other recorders as long as it is.
#[derive(Debug)]
pub struct AppendFile {
    path: PathBuf,
    file: File,
    /// Holds the lock. Never written, never reopened: a lock ends with its handle.
    lock: File,
    /// The length that the file has by our count.
    len: u64,
    /// How much of it is durable.
    synced: u64,
    /// A sync has failed: the system may have forgotten what it had not yet written.
    tainted: bool,
    /// The folder's entry for the file is durable.
    entry_synced: bool,
}

impl AppendFile {
    /// Creates the file, which must not exist.
    ///
    /// # Errors
    /// When it cannot be created or locked.
    pub fn create(path: &Path) -> Result<Self, RolloutError> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(path)
            .map_err(|error| RolloutError::io("create", path, error))?;
        Self::locked(path, file, false)
    }

    /// Opens the file, which must exist, and gives its last line an end if it has none (runtime.md D11.8).
    ///
    /// # Errors
    /// When it cannot be opened, or is locked by another recorder.
    pub fn open(path: &Path) -> Result<Self, RolloutError> {
        let mut this = Self::lock_existing(path)?;
        this.end_last_line()?;
        Ok(this)
    }

    /// Opens and locks the file, which must exist, and changes nothing in it yet.
    pub(super) fn lock_existing(path: &Path) -> Result<Self, RolloutError> {
        let file = open_for_append(path).map_err(|error| RolloutError::io("open", path, error))?;
        Self::locked(path, file, true)
    }

    /// Gives the last line an end if it has none.
    pub(super) fn end_last_line(&mut self) -> Result<(), RolloutError> {
        self.try_end_last_line().map_err(|error| RolloutError::io("append to", &self.path, error))
    }

    fn locked(path: &Path, file: File, entry_synced: bool) -> Result<Self, RolloutError> {
        let lock = File::open(path).map_err(|error| RolloutError::io("open", path, error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(RolloutError::Locked(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(RolloutError::io("lock", path, error)),
        }
        let len = file.metadata().map_err(|error| RolloutError::io("read", path, error))?.len();
        let path = path.to_owned();
        // What stood there before is not ours to write again; the first sync takes it along.
        Ok(Self { path, file, lock, len, synced: len, tainted: false, entry_synced })
    }

    fn try_end_last_line(&mut self) -> io::Result<()> {
        let Some(before_end) = self.len.checked_sub(1) else { return Ok(()) };
        let mut last = [0_u8; 1];
        self.lock.read_exact_at(&mut last, before_end)?;
        if last != *b"\n" {
            self.file.write_all(b"\n")?;
            self.len += 1;
        }
        Ok(())
    }

    /// Writes again, in place, what may have been forgotten when a sync failed: only what is written after a failure
    /// is sure to be taken up by the next sync.
    fn rewrite_unsynced(&self) -> io::Result<()> {
        let plain = OpenOptions::new().read(true).write(true).open(&self.path)?;
        let mut chunk = vec![0_u8; REWRITE_CHUNK];
        let mut at = self.synced;
        while at < self.len {
            let want = usize::try_from(self.len - at).unwrap_or(REWRITE_CHUNK).min(REWRITE_CHUNK);
            let Some(piece) = chunk.get_mut(..want) else { break };
            plain.read_exact_at(piece, at)?;
            plain.write_all_at(piece, at)?;
            at += want as u64;
        }
        Ok(())
    }

    fn sync_entry(&mut self) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            File::open(folder)?.sync_all()?;
        }
        self.entry_synced = true;
        Ok(())
    }
}

impl LineFile for AppendFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.len += count as u64;
        Ok(count)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        let done =
            self.file.sync_data().and_then(|()| if self.entry_synced { Ok(()) } else { self.sync_entry() });
        match &done {
            Ok(()) => self.synced = self.len,
            Err(_) => self.tainted = true,
        }
        done
    }

    fn reopen(&mut self) -> io::Result<Tail> {
        let file = open_for_append(&self.path)?;
        let (now, ours) = (file.metadata()?, self.lock.metadata()?);
        if (now.dev(), now.ino()) != (ours.dev(), ours.ino()) {
            return Err(io::Error::other("the file was moved away, and another one is in its place"));
        }
        let tail = if now.len() == self.len { Tail::Intact } else { Tail::Changed };
        self.len = now.len();
        self.synced = self.synced.min(self.len);
        if self.tainted {
            self.rewrite_unsynced()?;
            self.tainted = false;
        }
        self.file = file;
        Ok(tail)
    }
}

fn open_for_append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

/// Creates a folder and those above it, for the user alone where they are new.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(test)]
#[path = "line_file_tests.rs"]
mod tests;
