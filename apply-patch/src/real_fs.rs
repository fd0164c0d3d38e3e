//! The file system's operations on the machine's own (see `walk` for how paths are walked).

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, Dir, FileType, Gid, Mode, OFlags, RenameFlags, Uid, XattrFlags};
use rustix::io::Errno;

use crate::fs::{Facts, Fs, Kind};
use crate::walk::Walk;

/// Bytes compared at a time.
const COMPARE_BYTES: usize = 64 * 1024;
/// Permissions of a new folder, less the process's mask.
const NEW_FOLDER_MODE: u32 = 0o777;

impl From<&Metadata> for Facts {
    fn from(metadata: &Metadata) -> Self {
        Self {
            kind: kind_of(FileType::from_raw_mode(metadata.mode())),
            len: metadata.len(),
            mode: metadata.mode() & 0o7777,
            owner: metadata.uid(),
            group: metadata.gid(),
            links: metadata.nlink(),
            identity: (metadata.dev(), metadata.ino()),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            no_xattrs: false,
        }
    }
}

fn kind_of(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

impl<W: Walk> Fs for W {
    fn facts(&self, path: &Path) -> io::Result<Facts> {
        let (at, path) = self.walk(path)?;
        let stat = rustix::fs::statat(at, path, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Facts {
            kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
            len: stat.st_size.cast_unsigned(),
            mode: stat.st_mode & 0o7777,
            owner: stat.st_uid,
            group: stat.st_gid,
            links: stat.st_nlink as u64,
            identity: (stat.st_dev, stat.st_ino),
            modified: (stat.st_mtime, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime, stat.st_ctime_nsec as i64),
            no_xattrs: false,
        })
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        let (at, path) = self.walk(path)?;
        let to = rustix::fs::readlinkat(at, path, Vec::new())?;
        Ok(PathBuf::from(OsString::from_vec(to.into_bytes())))
    }

    fn read(&self, path: &Path) -> io::Result<(Facts, Vec<u8>)> {
        let file = self.open(path, OFlags::RDONLY, 0)?;
        let facts = Facts::from(&file.metadata()?);
        let bytes = if facts.kind == Kind::File { read_all(&file, facts.len)? } else { Vec::new() };
        Ok((facts, bytes))
    }

    fn read_seen(&self, path: &Path, facts: &Facts) -> io::Result<(Facts, Vec<u8>)> {
        let file = self.open(path, OFlags::RDONLY, 0)?;
        let no_xattrs = matches!(rustix::fs::flistxattr_query(&file), Ok(0) | Err(Errno::NOTSUP));
        Ok((Facts { no_xattrs, ..*facts }, read_all(&file, facts.len)?))
    }

    fn holds(&self, path: &Path, bytes: &[u8]) -> io::Result<bool> {
        let mut file = self.open(path, OFlags::RDONLY, 0)?;
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
        let (at, path) = self.walk(path)?;
        Ok(rustix::fs::accessat(at, path, Access::WRITE_OK, AtFlags::EACCESS)?)
    }

    fn create(&self, path: &Path, mode: u32) -> io::Result<File> {
        self.open(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, mode)
    }

    fn open_existing(&self, path: &Path) -> io::Result<File> {
        self.open(path, OFlags::WRONLY, 0)
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
        // Most files have none, and need not be opened for it.
        if !facts.no_xattrs {
            copy_xattrs(&self.open(from, OFlags::RDONLY, 0)?, to)?;
        }
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
        let ((from_at, from), (to_at, to)) = (self.walk(from)?, self.walk(to)?);
        Ok(rustix::fs::renameat(from_at, from, to_at, to)?)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        let ((from_at, near_from), (to_at, near_to)) = (self.walk(from)?, self.walk(to)?);
        match rustix::fs::renameat_with(from_at, near_from, to_at, near_to, RenameFlags::NOREPLACE) {
            // Not every file system knows the flag.
            Err(Errno::INVAL | Errno::NOSYS) => match self.facts(to) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.rename(from, to),
                Err(error) => Err(error),
            },
            other => Ok(other?),
        }
    }

    fn names(&self, folder: &Path, prefix: &str, limit: usize) -> io::Result<Vec<OsString>> {
        let (at, folder) = self.walk(folder)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let entries = Dir::new(rustix::fs::openat(at, folder, flags, Mode::empty())?)?;
        let mut names = Vec::new();
        // The folder itself and the one above it are among its entries.
        for entry in entries.take(limit.saturating_add(2)) {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") && name.starts_with(prefix.as_bytes()) {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        names.truncate(limit);
        Ok(names)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let (at, path) = self.walk(path)?;
        Ok(rustix::fs::unlinkat(at, path, AtFlags::empty())?)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let (at, path) = self.walk(path)?;
        Ok(rustix::fs::mkdirat(at, path, Mode::from_raw_mode(NEW_FOLDER_MODE))?)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let (at, path) = self.walk(path)?;
        Ok(rustix::fs::unlinkat(at, path, AtFlags::REMOVEDIR)?)
    }
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
fn copy_xattrs(from: &File, to: &File) -> io::Result<()> {
    let size = match rustix::fs::flistxattr_query(from) {
        Ok(0) | Err(Errno::NOTSUP) => return Ok(()),
        Ok(size) => size,
        Err(error) => return Err(error.into()),
    };
    let mut names = Vec::with_capacity(size);
    rustix::fs::flistxattr(from, rustix::buffer::spare_capacity(&mut names))?;
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let size = rustix::fs::fgetxattr_query(from, name)?;
        // One more than needed: a buffer without room is refused, and values may be empty.
        let mut value = Vec::with_capacity(size + 1);
        rustix::fs::fgetxattr(from, name, rustix::buffer::spare_capacity(&mut value))?;
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
