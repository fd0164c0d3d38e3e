//! The file under a recorder: what is appended stands, or is known not to.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::RolloutError;
use super::system::{Os, System, SystemRead, folder_of, make_folders};

/// How much of a file is looked at in one piece when it is written again after a sync has failed.
const REWRITE_CHUNK: usize = 64 * 1024;

/// How much of a file is read in one piece.
const READ_CHUNK: usize = 64 * 1024;

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
    /// Its last line was left without an end, which is still to be written.
    open_end: bool,
    /// Folders whose entries for the file and for the folders above it are not durable yet.
    entries: Vec<PathBuf>,
    system: Arc<dyn System>,
}

impl AppendFile {
    /// Creates the file, which must not exist.
    ///
    /// # Errors
    /// When it cannot be created or locked. Then it is not there.
    pub fn create(path: &Path) -> Result<Self, RolloutError> {
        Self::create_on(&(Arc::new(Os) as Arc<dyn System>), path)
    }

    /// As [`create`](Self::create), with its folder where that is missing.
    pub(super) fn create_on(system: &Arc<dyn System>, path: &Path) -> Result<Self, RolloutError> {
        let mut entries: Vec<PathBuf> = folder_of(path).into_iter().collect();
        if let Some(folder) = folder_of(path) {
            let made = make_folders(&**system, &folder);
            entries.extend(made.map_err(|error| RolloutError::io("create the folder", &folder, error))?);
        }
        let file = system.create(path).map_err(|error| RolloutError::io("create", path, error))?;
        let locked = Self::locked(Arc::clone(system), path, file, entries);
        if locked.is_err() {
            discard(&**system, path);
        }
        locked
    }

    /// Opens the file, which must exist, and gives its last line an end if it has none (runtime.md D11.8). Where the
    /// disk does not take that, it is tried again with the first write.
    ///
    /// # Errors
    /// When it cannot be opened or read, or is locked by another recorder.
    pub fn open(path: &Path) -> Result<Self, RolloutError> {
        let mut this = Self::lock_existing(Arc::new(Os), path)?;
        this.end_last_line()?;
        Ok(this)
    }

    /// Opens and locks the file, which must exist, and changes nothing in it yet.
    pub(super) fn lock_existing(system: Arc<dyn System>, path: &Path) -> Result<Self, RolloutError> {
        let file = system.open_append(path).map_err(|error| RolloutError::io("open", path, error))?;
        Self::locked(system, path, file, Vec::new())
    }

    /// Gives the last line an end if it has none.
    pub(super) fn end_last_line(&mut self) -> Result<(), RolloutError> {
        let Some(before_end) = self.len.checked_sub(1) else { return Ok(()) };
        let mut last = [0_u8; 1];
        let read = self.system.read_at(&self.lock, &mut last, before_end);
        read.map_err(|error| RolloutError::io("read", &self.path, error))?;
        self.open_end = last != *b"\n";
        if let Err(error) = self.write_open_end() {
            tracing::warn!(%error, path = %self.path.display(), "the last line of a rollout cannot be ended yet");
        }
        Ok(())
    }

    /// What the file holds, from its beginning. It can be read once.
    pub(super) fn reader(&self) -> BufReader<SystemRead<'_>> {
        let read = SystemRead { system: &*self.system, file: &self.lock };
        BufReader::with_capacity(READ_CHUNK, read)
    }

    fn locked(
        system: Arc<dyn System>,
        path: &Path,
        file: File,
        entries: Vec<PathBuf>,
    ) -> Result<Self, RolloutError> {
        let lock = system.open_read(path).map_err(|error| RolloutError::io("open", path, error))?;
        match system.lock(&lock) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(RolloutError::Locked(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(RolloutError::io("lock", path, error)),
        }
        let len = system.metadata(&file).map_err(|error| RolloutError::io("read", path, error))?.len();
        let path = path.to_owned();
        // What stood there before is not ours to write again; the first sync takes it along.
        Ok(Self { path, file, lock, len, synced: len, tainted: false, open_end: false, entries, system })
    }

    fn write_open_end(&mut self) -> io::Result<()> {
        if self.open_end {
            let count = self.system.write(&self.file, b"\n")?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.len += 1;
            self.open_end = false;
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

    fn sync_entries(&mut self) -> io::Result<()> {
        while let Some(folder) = self.entries.first() {
            self.system.sync_folder(folder)?;
            self.entries.remove(0);
        }
        Ok(())
    }
}

impl LineFile for AppendFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_open_end()?;
        let count = self.system.write(&self.file, bytes)?;
        self.len += count as u64;
        Ok(count)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        let done = self.system.sync(&self.file).and_then(|()| self.sync_entries());
        match &done {
            Ok(()) => self.synced = self.len,
            Err(_) => self.tainted = true,
        }
        done
    }

    fn reopen(&mut self) -> io::Result<Tail> {
        let file = self.system.open_append(&self.path)?;
        let (now, ours) = (self.system.metadata(&file)?, self.system.metadata(&self.lock)?);
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

/// Takes a file away that was just made, and of which nothing is to be left.
pub(super) fn discard(system: &dyn System, path: &Path) {
    if let Err(error) = system.remove(path) {
        tracing::warn!(%error, path = %path.display(), "a rollout that could not be begun cannot be removed");
    }
}

#[cfg(test)]
#[path = "line_file_tests.rs"]
mod tests;
