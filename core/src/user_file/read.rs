//! Reads them.

use std::fs::{File, FileType};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Reads a file of the user's, or finds that there is none. Of a file with more than `limit` bytes only one byte more
/// than that is read.
///
/// # Errors
/// When the file cannot be read; where a link leads to nothing, which is not the same as no file; and where there is
/// something else than a regular file: a named pipe would be waited for without end.
pub fn read_user_file(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let mut options = File::options();
    // Not to wait for whoever writes to a named pipe; to a regular file it means nothing.
    let file = match options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return match path.symlink_metadata() {
                Ok(_) => Err(Error::new(ErrorKind::NotFound, "it is a link to something that is not there")),
                Err(_) => Ok(None),
            };
        }
        Err(error) => return Err(error),
    };
    let kind = file.metadata()?.file_type();
    if !kind.is_file() {
        return Err(Error::other(format!("it is {}, and no regular file", name_of(kind))));
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn name_of(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a named pipe"
    } else {
        "a device"
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
