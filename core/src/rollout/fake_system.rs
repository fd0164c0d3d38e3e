//! The operating system, of which one operation fails, or every write.

use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use super::system::{Os, System};

pub(super) const EIO: i32 = 5;
pub(super) const EACCES: i32 = 13;
pub(super) const ENOSPC: i32 = 28;

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// With this error; nothing of it happens.
    With(i32),
    /// A read or write is done by half, and the write behind that fails; what cannot be done by half fails.
    Short,
}

/// The operating system itself, but for what is to fail.
#[derive(Debug, Default)]
pub(super) struct FaultySystem(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    operations: Vec<&'static str>,
    fault: Option<(usize, Failure)>,
    full: bool,
}

impl FaultySystem {
    /// The operation of this number, from 0, fails.
    pub(super) fn with_fault(at: usize, failure: Failure) -> Self {
        let state = State { fault: Some((at, failure)), ..State::default() };
        Self(Mutex::new(state))
    }

    /// Whether there is no space for anything.
    pub(super) fn set_full(&self, full: bool) {
        self.lock_state().full = full;
    }

    /// What was asked so far.
    pub(super) fn operations(&self) -> Vec<&'static str> {
        self.lock_state().operations.clone()
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn next(&self, name: &'static str) -> Option<Failure> {
        let mut state = self.lock_state();
        let at = state.operations.len();
        state.operations.push(name);
        state.fault.take_if(|(due, _)| *due == at).map(|(_, failure)| failure)
    }

    fn whole(&self, name: &'static str) -> io::Result<()> {
        match self.next(name) {
            None => Ok(()),
            Some(Failure::With(error)) => Err(io::Error::from_raw_os_error(error)),
            Some(Failure::Short) => Err(io::Error::from_raw_os_error(EIO)),
        }
    }

    /// How many of so many bytes are read or written.
    fn part(&self, name: &'static str, bytes: usize) -> io::Result<usize> {
        match self.next(name) {
            None => Ok(bytes),
            Some(Failure::With(error)) => Err(io::Error::from_raw_os_error(error)),
            Some(Failure::Short) => Ok(bytes.div_ceil(2)),
        }
    }
}

impl System for FaultySystem {
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.whole("make folder")?;
        Os.make_folder(path)
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        self.whole("create")?;
        Os.create(path)
    }

    fn open_append(&self, path: &Path) -> io::Result<File> {
        self.whole("open to append")?;
        Os.open_append(path)
    }

    fn open_read(&self, path: &Path) -> io::Result<File> {
        self.whole("open to read")?;
        Os.open_read(path)
    }

    fn lock(&self, file: &File) -> Result<(), TryLockError> {
        self.whole("lock").map_err(TryLockError::Error)?;
        Os.lock(file)
    }

    fn metadata(&self, file: &File) -> io::Result<Metadata> {
        self.whole("metadata")?;
        Os.metadata(file)
    }

    fn read(&self, file: &File, into: &mut [u8]) -> io::Result<usize> {
        let count = self.part("read", into.len())?;
        Os.read(file, &mut into[..count])
    }

    fn read_at(&self, file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
        self.whole("read the end")?;
        Os.read_at(file, into, at)
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        if self.lock_state().full {
            return Err(io::Error::from_raw_os_error(ENOSPC));
        }
        let count = self.part("write", bytes.len())?;
        if count < bytes.len() {
            let mut state = self.lock_state();
            state.fault = Some((state.operations.len(), Failure::With(ENOSPC)));
        }
        Os.write(file, &bytes[..count])
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.whole("sync")?;
        Os.sync(file)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.whole("sync the folder")?;
        Os.sync_folder(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.whole("remove")?;
        Os.remove(path)
    }
}
