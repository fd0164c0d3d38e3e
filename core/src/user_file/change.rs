//! Changes them: under a lock, in one step, and nothing but what is to be changed.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Gid, OFlags, Uid, fchown, flock};

use super::read_user_file;

/// How long the lock is waited for: far longer than anybody needs for a change.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(10);
/// How often it is tried meanwhile.
const LOCK_POLL: Duration = Duration::from_millis(5);

/// A file of the user's could not be read or written. It is as it was.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", file.display())]
pub struct UserFileError {
    /// Which.
    pub file: PathBuf,
    /// Why.
    pub source: Error,
}

/// Changes a text file of the user's. `change` is given the file and its text (none yet is an empty one), and gives the
/// new text, or none to leave the file as it is. The new text takes the old one's place in one step and durably; nobody
/// who changes the file in this way loses what another has written meanwhile. Where the file is a link, what it leads to
/// is changed. Permissions and owner stay. This blocks, for ten seconds at the most while others change the file.
///
/// # Errors
/// What `change` says; and where the file cannot be read or written: it is no regular file, no UTF-8 text, or longer
/// than `limit` bytes before or after; it is marked read-only; the disk is full. Then it is as it was.
pub fn change_user_file<E: From<UserFileError>>(
    path: &Path,
    limit: u64,
    change: impl FnOnce(&Path, &str) -> std::result::Result<Option<String>, E>,
) -> std::result::Result<(), E> {
    // Somebody may keep the file elsewhere: then that one is written, and the link stays.
    let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let fault = |source| E::from(UserFileError { file: file.clone(), source });
    let _lock = lock(&beside(&file, "", ".lock"), MAX_LOCK_WAIT).map_err(fault)?;
    let old = text_of(&file, limit).map_err(fault)?;
    let Some(new) = change(&file, &old)? else { return Ok(()) };
    within(limit, new.len()).and_then(|()| replace(&file, &new)).map_err(fault)
}

fn text_of(file: &Path, limit: u64) -> Result<String> {
    let bytes = read_user_file(file, limit)?.unwrap_or_default();
    within(limit, bytes.len())?;
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is no UTF-8 text"))
}

fn within(limit: u64, length: usize) -> Result<()> {
    let fits = u64::try_from(length).is_ok_and(|length| length <= limit);
    if fits { Ok(()) } else { Err(Error::other(format!("it would be larger than {limit} bytes"))) }
}

/// The name of a file in the same folder.
fn beside(file: &Path, before: &str, behind: &str) -> PathBuf {
    let mut name = OsString::from(before);
    name.push(file.file_name().unwrap_or_default());
    name.push(behind);
    file.with_file_name(name)
}

/// An exclusive lock, held until the file is dropped. It is a file of its own, since the other one is replaced.
fn lock(path: &Path, wait: Duration) -> Result<File> {
    // Something else in its place, such as a pipe that nobody reads, is an error and not waited for.
    let at_once = OFlags::NONBLOCK.bits().cast_signed();
    let mut options = OpenOptions::new();
    let file = options.create(true).truncate(false).write(true).custom_flags(at_once).open(path)?;
    let begin = Instant::now();
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) if begin.elapsed() < wait => thread::sleep(LOCK_POLL),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(Error::new(
                    ErrorKind::TimedOut,
                    "another program is changing it and does not end",
                ));
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Puts a text in the place of a file.
fn replace(file: &Path, text: &str) -> Result<()> {
    let old = match fs::metadata(file) {
        Ok(old) if old.permissions().readonly() => {
            return Err(Error::new(ErrorKind::PermissionDenied, "it is marked read-only"));
        }
        Ok(old) => Some(old),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let new = beside(file, ".", &format!(".{}", uuid::Uuid::new_v4().simple()));
    let written = write_new(&new, old.as_ref(), text).and_then(|()| fs::rename(&new, file));
    if written.is_err() {
        // It may not have come into being at all.
        let _ = fs::remove_file(&new);
    }
    written?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

fn write_new(new: &Path, like: Option<&Metadata>, text: &str) -> Result<()> {
    let mut file = OpenOptions::new().create_new(true).write(true).open(new)?;
    if let Some(old) = like {
        let ours = file.metadata()?;
        if (ours.uid(), ours.gid()) != (old.uid(), old.gid()) {
            fchown(&file, Some(Uid::from_raw(old.uid())), Some(Gid::from_raw(old.gid())))?;
        }
        file.set_permissions(old.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
