//! What a recorder and a reader ask of the operating system, in one place: a test lets each of it fail.

use std::fmt;
use std::fs::{DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A rollout holds what was said and what commands printed: it is the user's alone.
pub(super) const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// What is asked. All errors are the system's.
pub(super) trait System: fmt::Debug + Send + Sync {
    /// Makes one folder, for the user alone.
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        DirBuilder::new().mode(FOLDER_MODE).create(path)
    }

    /// Makes a file that is not there, for the user alone, and opens it for appending.
    fn create(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().append(true).create_new(true).mode(FILE_MODE).open(path)
    }

    /// Opens a file that is there, for appending.
    fn open_append(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().append(true).open(path)
    }

    /// Opens a file that is there, for reading.
    fn open_read(&self, path: &Path) -> io::Result<File> {
        File::open(path)
    }

    /// Locks a file against other recorders, without waiting.
    fn lock(&self, file: &File) -> Result<(), TryLockError> {
        file.try_lock()
    }

    /// What the system knows of a file.
    fn metadata(&self, file: &File) -> io::Result<Metadata> {
        file.metadata()
    }

    /// Reads on in a file.
    fn read(&self, mut file: &File, into: &mut [u8]) -> io::Result<usize> {
        file.read(into)
    }

    /// Reads all of `into` from a place in a file.
    fn read_at(&self, file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
        file.read_exact_at(into, at)
    }

    /// Appends the first of these bytes, and says how many.
    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<usize> {
        file.write(bytes)
    }

    /// Makes durable what a file holds.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    /// Makes durable which names a folder holds.
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }
}

/// The operating system itself.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Os;

impl System for Os {}

/// Makes a folder, and those above it that are missing. Gives the folders that have a new name in them, the deepest
/// first: a file below is not durable before they are.
pub(super) fn make_folders(system: &dyn System, path: &Path) -> io::Result<Vec<PathBuf>> {
    let missing = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    let missing: Vec<&Path> = missing.collect();
    let mut changed = Vec::new();
    for folder in missing.into_iter().rev() {
        match system.make_folder(folder) {
            // Another session was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            made => made?,
        }
        changed.extend(folder_of(folder));
    }
    changed.reverse();
    Ok(changed)
}

/// The folder that holds the name of a file or folder; none of the root.
pub(super) fn folder_of(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    // A name alone lies in the working folder.
    Some(if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() })
}

/// Reads a file through the system.
#[derive(Debug)]
pub(super) struct SystemRead<'a> {
    pub(super) system: &'a dyn System,
    pub(super) file: &'a File,
}

impl Read for SystemRead<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.system.read(self.file, into)
    }
}
