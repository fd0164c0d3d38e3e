//! Which copies lie beside a file, and how surely.

use std::collections::{BTreeMap, HashSet};
use std::io;

use tenon_protocol::{CallFinished, ResponseItem, TextAside};

use super::folder::CopyDisk;
use super::texts::{TextHash, text_mut, texts};
use super::{MAX_COPIES_BYTES, MIN_COPY_BYTES};

/// What the operator reads when no more copies are kept.
const FULL: &str = "Outputs of nested calls are no longer kept beside the conversation transcript: what lies there already \
                    is as much as is kept.";

/// What is kept, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The shortest text.
    pub(super) shortest: usize,
    /// All together.
    pub(super) together: u64,
}

/// For how long a text must be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rollout) enum Need {
    /// Until the output has a line of its own.
    UntilRecorded,
    /// It never gets one: that of a nested call.
    Alone,
}

/// The copies beside one file. Its writer owns them.
pub(in crate::rollout) struct Copies {
    disk: Box<dyn CopyDisk>,
    kept: BTreeMap<TextHash, Kept>,
    /// How much lies there.
    bytes: u64,
    bounds: Bounds,
    /// Texts that a line holds which may not be durable yet: with it their copies go.
    superseded: HashSet<TextHash>,
    /// Texts that a durable line holds.
    recorded: HashSet<TextHash>,
    is_told: bool,
    notices: Vec<String>,
}

/// A copy.
#[derive(Debug)]
struct Kept {
    bytes: u64,
    durability: Durability,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durability {
    /// It lay there before, and may be damaged.
    Found,
    /// Written and named.
    Written,
    /// A sync has failed: what was written is to be written again before it can be counted on.
    Suspect,
    /// What it holds is durable, and perhaps not its name.
    Synced,
    /// All of it is durable.
    Durable,
}

/// What became of a text.
enum Place {
    Aside,
    Nowhere,
    Line,
}

impl Copies {
    /// Those that lie there. What cannot be listed is not counted.
    pub(in crate::rollout) fn open(disk: Box<dyn CopyDisk>) -> Self {
        Self::with_bounds(disk, Bounds { shortest: MIN_COPY_BYTES, together: MAX_COPIES_BYTES })
    }

    pub(super) fn with_bounds(mut disk: Box<dyn CopyDisk>, bounds: Bounds) -> Self {
        let found = disk.list().unwrap_or_else(|error| {
            tracing::warn!(%error, "the copies beside a rollout cannot be listed");
            Vec::new()
        });
        let kept: BTreeMap<TextHash, Kept> = found
            .into_iter()
            .map(|(hash, bytes)| (hash, Kept { bytes, durability: Durability::Found }))
            .collect();
        let bytes = kept.values().map(|copy| copy.bytes).sum();
        let (superseded, recorded) = (HashSet::new(), HashSet::new());
        Self { disk, kept, bytes, bounds, superseded, recorded, is_told: false, notices: Vec::new() }
    }

    /// The shortest text that is moved, in bytes.
    pub(in crate::rollout) fn shortest(&self) -> usize {
        self.bounds.shortest
    }

    /// Moves the long texts of a line beside the file. What cannot be written there stays in the line.
    pub(in crate::rollout) fn take_out(&mut self, line: &mut CallFinished, need: Need) {
        let mut moved = Vec::new();
        for (entry, text) in texts(line.output.kind()) {
            if text.len() < self.bounds.shortest {
                continue;
            }
            let hash = TextHash::of(text);
            let not_kept = match self.keep(&hash, text, need) {
                Place::Aside => false,
                Place::Nowhere => true,
                Place::Line => continue,
            };
            moved.push(TextAside { entry, sha256: hash.to_string(), bytes: text.len() as u64, not_kept });
        }
        if moved.is_empty() {
            return;
        }
        // Taken, since the kind of an item that somebody else holds would be copied.
        let mut kind = std::mem::replace(&mut line.output, ResponseItem::message("", "")).into_kind();
        for aside in &moved {
            if let Some(text) = text_mut(&mut kind, aside.entry) {
                *text = String::new();
            }
        }
        line.output = ResponseItem::new(kind);
        line.aside = moved;
    }

    fn keep(&mut self, hash: &TextHash, text: &str, need: Need) -> Place {
        match self.kept.get(hash).map(|copy| copy.durability) {
            Some(Durability::Found) => self.forget(hash),
            Some(_) => return Place::Aside,
            None if self.recorded.contains(hash) => return Place::Aside,
            None => {}
        }
        let bytes = text.len() as u64;
        if self.bytes.saturating_add(bytes) > self.bounds.together {
            return self.no_room(need);
        }
        if let Err(error) = self.write(hash, text.as_bytes()) {
            tracing::warn!(%error, "a long output cannot be written beside its rollout; it stands in its line");
            return Place::Line;
        }
        self.bytes += bytes;
        self.kept.insert(hash.clone(), Kept { bytes, durability: Durability::Written });
        Place::Aside
    }

    fn no_room(&mut self, need: Need) -> Place {
        match need {
            Need::UntilRecorded => Place::Line,
            Need::Alone => {
                if !std::mem::replace(&mut self.is_told, true) {
                    self.notices.push(FULL.to_owned());
                }
                Place::Nowhere
            }
        }
    }

    fn write(&mut self, name: &TextHash, mut rest: &[u8]) -> io::Result<()> {
        self.disk.begin()?;
        while !rest.is_empty() {
            match self.disk.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.disk.finish(name)
    }

    /// The copies of which an item holds the text.
    pub(in crate::rollout) fn held_by(&self, item: &ResponseItem) -> Vec<TextHash> {
        if self.kept.is_empty() {
            return Vec::new();
        }
        // Only what may be one is hashed.
        let has_length = |text: &&str| self.kept.values().any(|copy| copy.bytes == text.len() as u64);
        let long = texts(item.kind())
            .into_iter()
            .map(|(_, text)| text)
            .filter(|text| text.len() >= self.bounds.shortest);
        long.filter(has_length).map(TextHash::of).filter(|hash| self.kept.contains_key(hash)).collect()
    }

    /// A line that holds these texts is on its way: when it is durable their copies are needed no more.
    pub(in crate::rollout) fn supersede(&mut self, texts: Vec<TextHash>) {
        self.superseded.extend(texts);
    }

    /// Makes durable what no line holds.
    ///
    /// # Errors
    /// The system's. What was not made durable is tried again the next time.
    pub(in crate::rollout) fn sync(&mut self) -> io::Result<()> {
        let needed = |(hash, copy): (&TextHash, &Kept)| {
            (copy.durability != Durability::Durable && !self.superseded.contains(hash)).then(|| hash.clone())
        };
        let pending: Vec<TextHash> = self.kept.iter().filter_map(needed).collect();
        for hash in &pending {
            self.sync_one(hash)?;
        }
        if !pending.is_empty() {
            self.disk.sync_names()?;
            for hash in &pending {
                self.set(hash, Durability::Durable);
            }
        }
        Ok(())
    }

    fn sync_one(&mut self, hash: &TextHash) -> io::Result<()> {
        match self.kept.get(hash).map(|copy| copy.durability) {
            Some(Durability::Suspect) => {
                if !self.write_again(hash)? {
                    return Ok(());
                }
            }
            Some(Durability::Found | Durability::Written) => {}
            Some(Durability::Synced | Durability::Durable) | None => return Ok(()),
        }
        match self.disk.sync(hash) {
            Ok(()) => self.set(hash, Durability::Synced),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.lose(hash),
            Err(error) => {
                self.set(hash, Durability::Suspect);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Writes a copy again from what the system still has of it; false where that is not what it was.
    fn write_again(&mut self, hash: &TextHash) -> io::Result<bool> {
        let bytes = match self.disk.read(hash) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        if std::str::from_utf8(&bytes).ok().map(TextHash::of).as_ref() != Some(hash) {
            self.lose(hash);
            return Ok(false);
        }
        self.write(hash, &bytes)?;
        self.set(hash, Durability::Written);
        Ok(true)
    }

    fn set(&mut self, hash: &TextHash, durability: Durability) {
        if let Some(copy) = self.kept.get_mut(hash) {
            copy.durability = durability;
        }
    }

    fn lose(&mut self, hash: &TextHash) {
        self.notices.push(format!("An output that lay beside the conversation transcript is gone: {hash}."));
        self.forget(hash);
    }

    fn forget(&mut self, hash: &TextHash) {
        if let Some(copy) = self.kept.remove(hash) {
            self.bytes -= copy.bytes;
        }
    }

    /// The lines so far are durable: the copies of what they hold go.
    pub(in crate::rollout) fn let_go(&mut self) {
        for hash in std::mem::take(&mut self.superseded) {
            match self.disk.remove(&hash) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::warn!(%error, %hash, "a copy beside a rollout that is needed no more cannot be removed");
                }
                Ok(()) | Err(_) => self.forget(&hash),
            }
            self.recorded.insert(hash);
        }
    }

    /// What the operator is to be told.
    pub(in crate::rollout) fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        self.disk.close();
    }
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
