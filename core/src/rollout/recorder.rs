//! The recorder: what a session writes down, handed to one writer that owns the file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use tenon_protocol::{CallFinished, CallStarted, ResponseItem, RolloutItem, RolloutLine, SessionMeta};
use tenon_tools::{Clock, EventSink, Host};
use tokio::sync::oneshot;

use super::backlog::{Backlog, MAX_BACKLOG_BYTES};
use super::copies::{Copies, CopyFolder, Need, has_long_text};
use super::error::{RolloutError, SaveError};
use super::layout::rollout_path;
use super::line_file::{AppendFile, LineFile, discard};
use super::lines::{first_line, is_written};
use super::queue::{Command, Entry, Queue, Wants, What};
use super::reader::{LoadedRollout, Seen};
use super::system::{Os, System};
use super::writer::Writer;

/// Who a recorder asks for the time and tells of failures.
#[derive(Clone)]
pub struct RecorderHost {
    /// Tells the time of each line.
    pub clock: Arc<dyn Clock>,
    /// Hears, as [`Event::Warning`](tenon_tools::Event::Warning), of lines that cannot be written.
    pub events: Arc<dyn EventSink>,
}

impl fmt::Debug for RecorderHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecorderHost").finish_non_exhaustive()
    }
}

impl From<&Host> for RecorderHost {
    fn from(host: &Host) -> Self {
        Self { clock: Arc::clone(&host.clock), events: Arc::clone(&host.events) }
    }
}

/// Writes a session's rollout. Cheap to clone; all clones write to one file, in the order in which they are asked.
///
/// Nothing here blocks: the file is written by a thread of its own. Lines that cannot be written are kept and tried
/// again at the next barrier; the operator is told.
#[derive(Clone, Default)]
pub struct RolloutRecorder {
    inner: Option<Arc<Inner>>,
}

impl fmt::Debug for RolloutRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RolloutRecorder").field("path", &self.path()).finish()
    }
}

/// A line that is on its way, and becomes durable with the next sync.
#[derive(Debug)]
#[must_use = "before the next request the line must be durable: await `durable`"]
pub struct Pending(Option<oneshot::Receiver<Result<(), SaveError>>>);

impl Pending {
    /// Waits until the line, and all before it, is durable.
    ///
    /// # Errors
    /// When it is not. It is kept, and tried again at the next barrier.
    pub async fn durable(self) -> Result<(), SaveError> {
        match self.0 {
            Some(answer) => answer.await.unwrap_or_else(|_| Err(SaveError::closed())),
            None => Ok(()),
        }
    }
}

struct Inner {
    path: PathBuf,
    host: RecorderHost,
    queue: Arc<Queue>,
    /// The shortest text that the writer moves beside the file.
    min_copy_bytes: usize,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl RolloutRecorder {
    /// A recorder that writes nowhere, for sessions without a file. It costs nothing.
    #[must_use]
    pub fn disabled() -> Self {
        Self::default()
    }

    /// Creates the file of a new session under `home` (runtime.md D11.1: named by the local time and the thread's id)
    /// and writes `meta` as its first line, with the time and, where `meta` has none, the repository its folder is in.
    /// The file is there when this returns.
    ///
    /// # Errors
    /// When the file cannot be created or written, or is there already. Then nothing is left of it but folders.
    pub fn create(home: &Path, meta: SessionMeta, host: RecorderHost) -> Result<Self, RolloutError> {
        Self::create_on(&(Arc::new(Os) as Arc<dyn System>), home, meta, host)
    }

    pub(super) fn create_on(
        system: &Arc<dyn System>,
        home: &Path,
        meta: SessionMeta,
        host: RecorderHost,
    ) -> Result<Self, RolloutError> {
        let now = host.clock.wall();
        let path = rollout_path(home, &meta.id, now);
        let mut file = AppendFile::create_on(system, &path)?;
        let begun = write_first(&mut file, &first_line(meta, now))
            .map_err(|error| RolloutError::io("write to", &path, error))
            .and_then(|()| Self::with_file(path.clone(), Box::new(file), host));
        if begun.is_err() {
            discard(&**system, &path);
        }
        begun
    }

    /// Opens the file of an old session to go on with it, under an exclusive lock. A last line without an end gets
    /// one, so that what follows stays whole (runtime.md D11.8).
    ///
    /// # Errors
    /// When the file cannot be opened, or another recorder, here or in another process, writes it.
    pub fn append(path: &Path, host: RecorderHost) -> Result<Self, RolloutError> {
        let file = AppendFile::open(path)?;
        Self::with_file(path.to_owned(), Box::new(file), host)
    }

    /// A recorder over any file: for tests that let it fail.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn with_file(
        path: PathBuf,
        file: Box<dyn LineFile>,
        host: RecorderHost,
    ) -> Result<Self, RolloutError> {
        let folder = CopyFolder::of(&path);
        Self::with_disks(path, file, Copies::open(Box::new(folder)), Seen::default(), host)
    }

    /// A recorder that goes on with a file that was read. Copies of what its lines hold are left from a crash.
    pub(super) fn going_on(
        rollout: &LoadedRollout,
        file: AppendFile,
        before: Seen,
        host: RecorderHost,
    ) -> Result<Self, RolloutError> {
        let path = rollout.path.clone();
        let mut copies = Copies::open(Box::new(CopyFolder::of(&path)));
        for (_, item) in rollout.items() {
            copies.supersede(copies.held_by(item));
        }
        Self::with_disks(path, Box::new(file), copies, before, host)
    }

    /// As [`with_file`](Self::with_file), with copies that lie anywhere, and behind the lines of `before`.
    pub(super) fn with_disks(
        path: PathBuf,
        file: Box<dyn LineFile>,
        copies: Copies,
        before: Seen,
        host: RecorderHost,
    ) -> Result<Self, RolloutError> {
        let (queue, min_copy_bytes) = (Arc::new(Queue::new()), copies.shortest());
        let (events, backlog) = (Arc::clone(&host.events), Backlog::new(MAX_BACKLOG_BYTES));
        let writer = Writer::new(Arc::clone(&queue), file, copies, events, backlog).behind(before);
        let handle = thread::Builder::new()
            .name("rollout".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| RolloutError::io("start a writer for", &path, error))?;
        let inner = Inner { path, host, queue, min_copy_bytes, writer: Mutex::new(Some(handle)) };
        Ok(Self { inner: Some(Arc::new(inner)) })
    }

    /// The file, unless nothing is written.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.inner.as_deref().map(|inner| inner.path.as_path())
    }

    /// Whether anything is written at all.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.inner.is_some()
    }

    /// Hands one line over, to be written in order. It waits only where [`QUEUED_COMMANDS`](super::QUEUED_COMMANDS)
    /// wait already. What never belongs in a rollout (runtime.md D11.3, D11.4) is left out.
    pub async fn record(&self, item: RolloutItem) {
        self.record_all([item]).await;
    }

    /// Hands several lines over, to be written one after another with nothing between them.
    pub async fn record_all(&self, items: impl IntoIterator<Item = RolloutItem>) {
        let Some(inner) = &self.inner else { return };
        let entries: Vec<Entry> =
            items.into_iter().filter(is_written).map(|item| inner.entry(item)).collect();
        if entries.is_empty() {
            return;
        }
        inner.push_lines(entries).await;
    }

    /// Hands one line over without waiting, for those who must not; in order with all others. Where
    /// [`QUEUED_FACTS`](super::QUEUED_FACTS) of them wait already it is dropped, and the operator told.
    pub fn note(&self, item: RolloutItem) {
        if let Some(inner) = self.inner.as_deref().filter(|_| is_written(&item)) {
            inner.queue.push_fact(inner.entry(item));
        }
    }

    /// Hands items of the conversation over.
    pub async fn record_items(&self, items: &[Arc<ResponseItem>]) {
        if self.is_enabled() {
            self.record_all(items.iter().map(|item| RolloutItem::ResponseItem(ResponseItem::clone(item))))
                .await;
        }
    }

    /// Waits until everything so far is in the file; after a failure the file is opened afresh and it is tried once
    /// more (runtime.md D11.7, D11.9). It does not wait for the disk.
    ///
    /// # Errors
    /// When something is not in the file. It is kept, and tried again at the next barrier; the operator was told.
    pub async fn flush(&self) -> Result<(), SaveError> {
        self.wait(Vec::new(), Wants::Written).await
    }

    /// As [`flush`](Self::flush), and waits until all of it is durable.
    ///
    /// # Errors
    /// When something is not durable.
    pub async fn sync(&self) -> Result<(), SaveError> {
        self.wait(Vec::new(), Wants::Durable).await
    }

    /// Writes that a call starts, and waits until that is durable: only then may its first side effect happen. Many
    /// calls share one sync.
    ///
    /// # Errors
    /// When it is not durable. The line is kept, and tried again at the next barrier.
    pub async fn journal_started(&self, line: CallStarted) -> Result<(), SaveError> {
        match &self.inner {
            Some(inner) => {
                let at = inner.now();
                let what = What::rendered(RolloutItem::CallStarted(line), at);
                self.wait(vec![Entry { at, what }], Wants::Lines).await
            }
            None => Ok(()),
        }
    }

    /// Writes that a call ended. It is on its way when this returns; await [`Pending::durable`], or
    /// [`sync`](Self::sync) once for many, before the next request.
    pub async fn journal_finished(&self, line: CallFinished) -> Pending {
        let Some(inner) = &self.inner else { return Pending(None) };
        let entries = vec![inner.entry(RolloutItem::CallFinished(line))];
        let (command, answer) = Command::waiting(entries, Wants::Durable);
        // A closed queue drops the command, and with it the other end of `answer`.
        let _ = inner.queue.push(command).await;
        Pending(Some(answer))
    }

    /// As [`record`](Self::record), for the end of a call.
    pub(super) async fn record_finished(&self, line: CallFinished, need: Need) {
        if let Some(inner) = &self.inner {
            let is_short = !has_long_text(&line.output, inner.min_copy_bytes);
            let (item, at) = (RolloutItem::CallFinished(line), inner.now());
            let what = if is_short { What::rendered(item, at) } else { What::item(item, need) };
            inner.push_lines(vec![Entry { at, what }]).await;
        }
    }

    /// Writes what is left, syncs it, and ends the writer. Later lines are refused.
    ///
    /// # Errors
    /// When something could not be written or synced; then it is lost.
    pub async fn shutdown(&self) -> Result<(), SaveError> {
        let Some(inner) = &self.inner else { return Ok(()) };
        let last = self.wait(Vec::new(), Wants::Durable).await;
        inner.end_writer();
        last
    }

    async fn wait(&self, entries: Vec<Entry>, wants: Wants) -> Result<(), SaveError> {
        let Some(inner) = &self.inner else { return Ok(()) };
        let (command, answer) = Command::waiting(entries, wants);
        inner.queue.push(command).await?;
        answer.await.unwrap_or_else(|_| Err(SaveError::closed()))
    }

    /// Hands a fact over without waiting, in the order of the calls.
    pub(crate) fn record_fact(&self, item: RolloutItem) {
        if let Some(inner) = &self.inner {
            inner.queue.push_fact(inner.entry(item));
        }
    }
}

impl Inner {
    fn entry(&self, item: RolloutItem) -> Entry {
        Entry { at: self.now(), what: What::item(item, Need::UntilRecorded) }
    }

    fn now(&self) -> SystemTime {
        self.host.clock.wall()
    }

    async fn push_lines(&self, entries: Vec<Entry>) {
        if let Err(error) = self.queue.push(Command::lines(entries)).await {
            tracing::error!(%error, "rollout lines came after the end");
        }
    }

    /// Closes the queue and waits for the writer: at most one attempt to write what is left.
    fn end_writer(&self) {
        self.queue.close();
        let handle = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(handle) = handle
            && handle.thread().id() != thread::current().id()
        {
            // A writer that panicked has said so.
            let _ = handle.join();
        }
    }
}

/// The writer is owned: it ends with the last recorder, and what it was handed is written.
impl Drop for Inner {
    fn drop(&mut self) {
        self.end_writer();
    }
}

fn write_first(file: &mut AppendFile, line: &RolloutLine) -> std::io::Result<()> {
    let mut text = line.to_json()?.into_bytes();
    text.push(b'\n');
    let mut first = Backlog::new(MAX_BACKLOG_BYTES);
    first.push(text);
    first.write_to(file)
}

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;
