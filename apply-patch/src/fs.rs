//! The file system as a patch sees it: a few primitive operations, so that a test can fail each of them.
//!
//! Paths are absolute. Nothing here follows a link in the last place of a path: links are resolved
//! before (see `place`), and what is resolved is used as it is. Files are not synced: a patch replaces
//! each file in one step by a rename, and what a power cut may cost is the last edits. (A sync for each
//! file would make a patch of many files many times slower.)

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// What kind of thing lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

/// What is known of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// What it is.
    pub kind: Kind,
    /// Its size in bytes.
    pub len: u64,
    /// Its permission bits, set-id and sticky bits included.
    pub mode: u32,
    /// Its owner.
    pub owner: u32,
    /// Its group.
    pub group: u32,
    /// How many names it has.
    pub links: u64,
    /// Its device and number there: together its identity.
    pub identity: (u64, u64),
    /// When its content changed last, in seconds and nanoseconds.
    pub modified: (i64, i64),
    /// When anything about it changed last, in seconds and nanoseconds.
    pub changed: (i64, i64),
    /// Whether it is known to have no extended attributes.
    pub no_xattrs: bool,
}

impl Facts {
    /// Whether nothing about the content can have changed between the two looks.
    #[must_use]
    pub fn same_content(&self, later: &Self) -> bool {
        (self.identity, self.len, self.modified, self.changed)
            == (later.identity, later.len, later.modified, later.changed)
    }
}

/// The operations that a patch is made of.
pub trait Fs: Send + Sync + fmt::Debug {
    /// Looks at what lies at `path`.
    ///
    /// # Errors
    /// As `lstat`.
    fn facts(&self, path: &Path) -> io::Result<Facts>;

    /// Where a link points.
    ///
    /// # Errors
    /// As `readlink`.
    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;

    /// Reads a regular file. For anything else only the facts are true and the bytes are empty; a pipe
    /// is not waited for.
    ///
    /// # Errors
    /// As `open` and `read`.
    fn read(&self, path: &Path) -> io::Result<(Facts, Vec<u8>)>;

    /// Reads a regular file that was just looked at. Its facts may be those of that look: whoever uses them looks
    /// again before anything is written.
    ///
    /// # Errors
    /// As `open` and `read`.
    fn read_seen(&self, path: &Path, _facts: &Facts) -> io::Result<(Facts, Vec<u8>)> {
        self.read(path)
    }

    /// Whether a regular file lies at `path` and has exactly these bytes.
    ///
    /// # Errors
    /// As `open` and `read`.
    fn holds(&self, path: &Path, bytes: &[u8]) -> io::Result<bool>;

    /// Whether the file may be written to. A rename could replace a file that is write-protected, which
    /// is not what its owner wanted.
    ///
    /// # Errors
    /// As `access`.
    fn may_write(&self, path: &Path) -> io::Result<()>;

    /// Makes a new file; fails when something lies there.
    ///
    /// # Errors
    /// As `open`.
    fn create(&self, path: &Path, mode: u32) -> io::Result<File>;

    /// Opens an existing file for writing, its content still in place.
    ///
    /// # Errors
    /// As `open`.
    fn open_existing(&self, path: &Path) -> io::Result<File>;

    /// Writes at the file's position.
    ///
    /// # Errors
    /// As `write`; some of the bytes may be written then.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()>;

    /// Cuts or extends a file.
    ///
    /// # Errors
    /// As `ftruncate`.
    fn set_len(&self, file: &File, len: u64) -> io::Result<()>;

    /// Gives `to` the owner, group, mode and extended attributes of the file at `from`.
    ///
    /// # Errors
    /// When one of them cannot be given.
    fn copy_attributes(&self, from: &Path, facts: &Facts, to: &File) -> io::Result<()>;

    /// Sets the permission bits.
    ///
    /// # Errors
    /// As `fchmod`.
    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()>;

    /// Renames, replacing a file at `to`.
    ///
    /// # Errors
    /// As `rename`.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames to a path where nothing may lie.
    ///
    /// # Errors
    /// As `renameat2`; of kind `AlreadyExists` when something does.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Names in a folder that start with `prefix`. At most `limit` entries are looked at, in no order.
    ///
    /// # Errors
    /// As `opendir` and `readdir`.
    fn names(&self, folder: &Path, prefix: &str, limit: usize) -> io::Result<Vec<OsString>>;

    /// Removes a file or a link.
    ///
    /// # Errors
    /// As `unlink`.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes one directory.
    ///
    /// # Errors
    /// As `mkdir`.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// Removes one empty directory.
    ///
    /// # Errors
    /// As `rmdir`.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
}
