//! The machine's own file system.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Gid, Mode, OFlags, RenameFlags, Uid, XattrFlags};
use rustix::io::Errno;

use crate::fs::{Facts, Fs, Kind};

/// Bytes compared at a time.
const COMPARE_BYTES: usize = 64 * 1024;

/// The machine's own file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealFs;

impl From<&Metadata> for Facts {
    fn from(metadata: &Metadata) -> Self {
        let kind = match metadata.file_type() {
            kind if kind.is_file() => Kind::File,
            kind if kind.is_dir() => Kind::Directory,
            kind if kind.is_symlink() => Kind::Link,
            _ => Kind::Other,
        };
        Self {
            kind,
            len: metadata.len(),
            mode: metadata.mode() & 0o7777,
            owner: metadata.uid(),
            group: metadata.gid(),
            links: metadata.nlink(),
            identity: (metadata.dev(), metadata.ino()),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

impl Fs for RealFs {
    fn facts(&self, path: &Path) -> io::Result<Facts> {
        Ok(Facts::from(&path.symlink_metadata()?))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        path.read_link()
    }

    fn read(&self, path: &Path) -> io::Result<(Facts, Vec<u8>)> {
        let file = open(path, OpenOptions::new().read(true))?;
        let facts = Facts::from(&file.metadata()?);
        let bytes = if facts.kind == Kind::File { read_all(&file, facts.len)? } else { Vec::new() };
        Ok((facts, bytes))
    }

    fn holds(&self, path: &Path, bytes: &[u8]) -> io::Result<bool> {
        let mut file = open(path, OpenOptions::new().read(true))?;
        let facts = Facts::from(&file.metadata()?);
        if facts.kind != Kind::File || facts.len != bytes.len() as u64 {
            return Ok(false);
        }
        let mut buffer = vec![0; COMPARE_BYTES.min(bytes.len() + 1)];
        let mut rest = bytes;
        loop {
            let read = retry(|| file.read(&mut buffer))?;
            if read == 0 {
                return Ok(rest.is_empty());
            }
            let (Some(found), Some((wanted, after))) = (buffer.get(..read), rest.split_at_checked(read))
            else {
                return Ok(false);
            };
            if found != wanted {
                return Ok(false);
            }
            rest = after;
        }
    }

    fn may_write(&self, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS)?)
    }

    fn create(&self, path: &Path, mode: u32) -> io::Result<File> {
        open(path, OpenOptions::new().write(true).create_new(true).mode(mode))
    }

    fn open_existing(&self, path: &Path) -> io::Result<File> {
        open(path, OpenOptions::new().write(true))
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn set_len(&self, file: &File, len: u64) -> io::Result<()> {
        file.set_len(len)
    }

    fn copy_attributes(&self, from: &Path, facts: &Facts, to: &File) -> io::Result<()> {
        let fresh = to.metadata()?;
        if (fresh.uid(), fresh.gid()) != (facts.owner, facts.group) {
            rustix::fs::fchown(to, Some(Uid::from_raw(facts.owner)), Some(Gid::from_raw(facts.group)))?;
        }
        copy_xattrs(from, to)?;
        // Last, since a change of the owner takes set-id bits away.
        if fresh.mode() & 0o7777 != facts.mode || facts.mode & 0o6000 != 0 {
            self.set_mode(to, facts.mode)?;
        }
        Ok(())
    }

    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // Not every file system knows the flag.
            Err(Errno::INVAL | Errno::NOSYS) => match to.symlink_metadata() {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::rename(from, to),
                Err(error) => Err(error),
            },
            other => Ok(other?),
        }
    }

    fn names(&self, folder: &Path, prefix: &str, limit: usize) -> io::Result<Vec<OsString>> {
        let starts = |name: &OsString| name.as_encoded_bytes().starts_with(prefix.as_bytes());
        let mut names = Vec::new();
        for entry in folder.read_dir()?.take(limit) {
            names.extend(Some(entry?.file_name()).filter(starts));
        }
        Ok(names)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        std::fs::create_dir(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir(path)
    }
}

/// Opens without following a link and without waiting for the other end of a pipe.
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.custom_flags(flags.bits().cast_signed()).open(path)
}

/// Reads to the end. A read that brings all that was expected and has room for more has seen the end.
fn read_all(file: &File, expected: u64) -> io::Result<Vec<u8>> {
    let expected = usize::try_from(expected).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(expected + 1).map_err(|_| io::ErrorKind::OutOfMemory)?;
    loop {
        if bytes.len() == bytes.capacity() {
            bytes.try_reserve(COMPARE_BYTES).map_err(|_| io::ErrorKind::OutOfMemory)?;
        }
        let read = retry(|| Ok(rustix::io::read(file, rustix::buffer::spare_capacity(&mut bytes))?))?;
        if read == 0 || bytes.len() == expected {
            return Ok(bytes);
        }
    }
}

fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Copies the extended attributes, access control lists and labels among them.
fn copy_xattrs(from: &Path, to: &File) -> io::Result<()> {
    let size = match rustix::fs::llistxattr_query(from) {
        Ok(0) | Err(Errno::NOTSUP) => return Ok(()),
        Ok(size) => size,
        Err(error) => return Err(error.into()),
    };
    let mut names = Vec::with_capacity(size);
    rustix::fs::llistxattr(from, rustix::buffer::spare_capacity(&mut names))?;
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let size = rustix::fs::lgetxattr_query(from, name)?;
        // One more than needed: a buffer without room is refused, and values may be empty.
        let mut value = Vec::with_capacity(size + 1);
        rustix::fs::lgetxattr(from, name, rustix::buffer::spare_capacity(&mut value))?;
        if !has_xattr(to, name, &value) {
            rustix::fs::fsetxattr(to, name, &value, XattrFlags::empty())?;
        }
    }
    Ok(())
}

/// Some attributes are given to every new file and cannot be set, but are right already.
fn has_xattr(file: &File, name: &[u8], value: &[u8]) -> bool {
    let mut found = Vec::with_capacity(value.len() + 1);
    let read = rustix::fs::fgetxattr(file, name, rustix::buffer::spare_capacity(&mut found));
    read.is_ok() && found == value
}

#[cfg(test)]
#[path = "real_fs_tests.rs"]
mod tests;
