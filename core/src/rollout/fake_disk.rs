//! A disk for tests: it fails where it is told to, and tells what would be left after a power cut.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use super::line_file::{LineFile, Tail};

/// How an operation fails.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    /// With this error; nothing of it happens.
    Error(io::ErrorKind),
    /// Only the first half of what was to be written is, and the next write fails too.
    Short,
}

#[derive(Debug, Default)]
pub(super) struct Disk {
    /// What was written.
    pub(super) written: Vec<u8>,
    /// How much of it a power cut leaves.
    pub(super) durable: usize,
    /// What a sync that failed has forgotten: it is not durable before it is written again.
    forgotten: bool,
    operations: usize,
    pub(super) writes: usize,
    pub(super) syncs: usize,
    pub(super) reopens: usize,
    /// Which operations fail, counted from 0 over all kinds.
    pub(super) faults: BTreeMap<usize, Fault>,
    /// All operations fail.
    pub(super) dead: Option<io::ErrorKind>,
    /// A sync that has begun waits while this is set.
    pub(super) hold_syncs: bool,
    /// A write that has begun waits while this is set.
    pub(super) hold_writes: bool,
    /// How many operations wait so.
    pub(super) held: usize,
}

/// A handle on a [`Disk`].
#[derive(Clone, Default)]
pub(super) struct FakeFile {
    disk: Arc<(Mutex<Disk>, Condvar)>,
}

impl FakeFile {
    pub(super) fn with_fault(at: usize, fault: Fault) -> Self {
        let file = Self::default();
        file.disk().faults.insert(at, fault);
        file
    }

    pub(super) fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.0.lock().unwrap()
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8(self.disk().written.clone()).unwrap()
    }

    /// Whether a power cut would leave everything.
    pub(super) fn is_durable(&self) -> bool {
        let disk = self.disk();
        disk.durable == disk.written.len()
    }

    /// How many writes and syncs there were.
    pub(super) fn operations(&self) -> usize {
        let disk = self.disk();
        disk.writes + disk.syncs
    }

    /// Lets what is held go on, and holds nothing from here on.
    pub(super) fn release(&self) {
        let mut disk = self.disk();
        (disk.hold_syncs, disk.hold_writes) = (false, false);
        self.disk.1.notify_all();
    }

    /// Waits until an operation is held.
    pub(super) fn wait_until_held(&self) {
        let mut disk = self.disk();
        while disk.held == 0 {
            disk = self.disk.1.wait(disk).unwrap();
        }
    }

    fn held(&self, is_held: fn(&Disk) -> bool) -> MutexGuard<'_, Disk> {
        let mut disk = self.disk();
        if is_held(&disk) {
            disk.held += 1;
            self.disk.1.notify_all();
            while is_held(&disk) {
                disk = self.disk.1.wait(disk).unwrap();
            }
            disk.held -= 1;
        }
        disk
    }
}

impl Disk {
    fn next_fault(&mut self) -> Option<Fault> {
        let fault = self.faults.remove(&self.operations);
        self.operations += 1;
        fault.or(self.dead.map(Fault::Error))
    }
}

impl LineFile for FakeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut disk = self.held(|disk| disk.hold_writes);
        disk.writes += 1;
        let count = match disk.next_fault() {
            Some(Fault::Error(kind)) => return Err(kind.into()),
            Some(Fault::Short) => {
                let next = disk.operations;
                disk.faults.insert(next, Fault::Error(io::ErrorKind::StorageFull));
                bytes.len().div_ceil(2)
            }
            None => bytes.len(),
        };
        disk.written.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        let mut disk = self.held(|disk| disk.hold_syncs);
        disk.syncs += 1;
        if let Some(fault) = disk.next_fault() {
            disk.forgotten = true;
            return Err(match fault {
                Fault::Error(kind) => kind.into(),
                Fault::Short => io::ErrorKind::Other.into(),
            });
        }
        if !disk.forgotten {
            disk.durable = disk.written.len();
        }
        Ok(())
    }

    fn reopen(&mut self) -> io::Result<Tail> {
        let mut disk = self.disk();
        disk.reopens += 1;
        if let Some(Fault::Error(kind)) = disk.next_fault() {
            return Err(kind.into());
        }
        disk.forgotten = false;
        Ok(Tail::Intact)
    }
}
