//! A disk for tests: it fails where it is told to, and tells what would be left after a power cut.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use super::copies::{CopyDisk, TextHash};
use super::line_file::{LineFile, Tail};

/// How an operation fails.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    /// With this error; nothing of it happens.
    Error(io::ErrorKind),
    /// Only the first half of what was to be written is, and the next write fails too.
    Short,
}

/// A copy beside the file.
#[derive(Debug, Clone, Default)]
pub(super) struct FakeCopy {
    pub(super) bytes: Vec<u8>,
    /// What it holds is durable.
    synced: bool,
    /// A sync that failed has forgotten what it holds.
    forgotten: bool,
    /// Its name is durable.
    named: bool,
}

#[derive(Debug, Default)]
pub(super) struct Disk {
    /// What was written.
    pub(super) written: Vec<u8>,
    /// How much of it a power cut leaves.
    pub(super) durable: usize,
    /// What a sync that failed has forgotten: it is not durable before it is written again.
    forgotten: bool,
    /// The copies beside the file.
    pub(super) copies: BTreeMap<TextHash, FakeCopy>,
    unfinished: Option<Vec<u8>>,
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

/// A handle on a [`Disk`]: on its one file, and on the folder of copies beside it.
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

    /// What a power cut leaves of the file.
    pub(super) fn durable_text(&self) -> Vec<u8> {
        let disk = self.disk();
        disk.written[..disk.durable].to_vec()
    }

    /// The copies that a power cut leaves whole.
    pub(super) fn durable_copies(&self) -> Vec<(TextHash, Vec<u8>)> {
        let disk = self.disk();
        let whole = disk.copies.iter().filter(|(_, copy)| copy.synced && copy.named);
        whole.map(|(name, copy)| (name.clone(), copy.bytes.clone())).collect()
    }

    /// How many operations of all kinds there were.
    pub(super) fn operations_so_far(&self) -> usize {
        self.disk().operations
    }

    /// How many writes and syncs of the file there were.
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

impl Disk {
    /// An operation that is done or not, never in part.
    fn whole(&mut self) -> io::Result<()> {
        match self.next_fault() {
            Some(Fault::Error(kind)) => Err(kind.into()),
            Some(Fault::Short) => Err(io::ErrorKind::Other.into()),
            None => Ok(()),
        }
    }

    /// How many of so many bytes a write takes.
    fn taken(&mut self, bytes: usize) -> io::Result<usize> {
        match self.next_fault() {
            Some(Fault::Error(kind)) => Err(kind.into()),
            Some(Fault::Short) => {
                self.faults.insert(self.operations, Fault::Error(io::ErrorKind::StorageFull));
                Ok(bytes.div_ceil(2))
            }
            None => Ok(bytes),
        }
    }
}

fn gone() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl CopyDisk for FakeFile {
    fn list(&mut self) -> io::Result<Vec<(TextHash, u64)>> {
        Ok(self.disk().copies.iter().map(|(name, copy)| (name.clone(), copy.bytes.len() as u64)).collect())
    }

    fn begin(&mut self) -> io::Result<()> {
        let mut disk = self.disk();
        disk.whole()?;
        disk.unfinished = Some(Vec::new());
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut disk = self.disk();
        let count = disk.taken(bytes.len())?;
        disk.unfinished.as_mut().ok_or_else(gone)?.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn finish(&mut self, name: &TextHash) -> io::Result<()> {
        let mut disk = self.disk();
        disk.whole()?;
        let bytes = disk.unfinished.take().ok_or_else(gone)?;
        disk.copies.insert(name.clone(), FakeCopy { bytes, ..FakeCopy::default() });
        Ok(())
    }

    fn sync(&mut self, name: &TextHash) -> io::Result<()> {
        let mut disk = self.disk();
        let done = disk.whole();
        let copy = disk.copies.get_mut(name).ok_or_else(gone)?;
        copy.forgotten |= done.is_err();
        copy.synced = !copy.forgotten;
        done
    }

    fn sync_names(&mut self) -> io::Result<()> {
        let mut disk = self.disk();
        disk.whole()?;
        disk.copies.values_mut().for_each(|copy| copy.named = true);
        Ok(())
    }

    fn read(&mut self, name: &TextHash) -> io::Result<Vec<u8>> {
        let mut disk = self.disk();
        disk.whole()?;
        Ok(disk.copies.get(name).ok_or_else(gone)?.bytes.clone())
    }

    fn remove(&mut self, name: &TextHash) -> io::Result<()> {
        let mut disk = self.disk();
        disk.whole()?;
        disk.copies.remove(name).map(|_| ()).ok_or_else(gone)
    }

    fn close(&mut self) {
        self.disk().unfinished = None;
    }
}

impl LineFile for FakeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut disk = self.held(|disk| disk.hold_writes);
        disk.writes += 1;
        let count = disk.taken(bytes.len())?;
        disk.written.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        let mut disk = self.held(|disk| disk.hold_syncs);
        disk.syncs += 1;
        if let Err(error) = disk.whole() {
            disk.forgotten = true;
            return Err(error);
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
