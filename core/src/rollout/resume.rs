//! Goes on from a file: lock it, read it, settle what was left open, once, in the file itself.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tenon_protocol::{ResponseItem, SessionMeta};
use tenon_tools::Event;

use super::error::RolloutError;
use super::facts::Journal;
use super::line_file::AppendFile;
use super::processes::SystemProcesses;
use super::reader::{LoadedRollout, MAX_LINE_BYTES, Reader, Seen, SkippedLine};
use super::recorder::{RecorderHost, RolloutRecorder};
use super::recover::{OpenCall, Recovered, Recovering};
use super::settle::{SettledCall, Settlement, unsettled};
use super::stamp::timestamp;
use super::system::{Os, System};
use crate::search::LoadedTools;

/// How many lines or calls a warning names.
const NAMED: usize = 3;

/// How much of a call's id a warning shows, in characters: ids are the model's.
const ID_SHOWN: usize = 64;

/// How long a lock is waited for.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);
/// How often it is tried: nobody tells when it is free.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// A session that goes on.
#[derive(Debug)]
pub struct Resumed {
    /// Writes on in the same file, under its lock.
    pub recorder: RolloutRecorder,
    /// Whose file it is.
    pub meta: SessionMeta,
    /// The history, as it was recorded: every call of a file of ours has its output. Those of other files are left to
    /// [`History::for_prompt`](crate::history::History::for_prompt).
    pub items: Vec<ResponseItem>,
    /// Every call the file ever held: what is to be counted, so that a later call of the same id is told from them.
    pub calls: Vec<ResponseItem>,
    /// The tools that its searches found, also those that were compacted away.
    pub loaded: LoadedTools,
    /// The settings of the last turn.
    pub turn_context: Option<Value>,
    /// The calls that were settled now.
    pub settled: Vec<SettledCall>,
    /// The calls that are left to the session, to be taken up again before its next request.
    pub open: Vec<OpenCall>,
    /// The lines that could not be read.
    pub skipped: Vec<SkippedLine>,
}

impl RolloutRecorder {
    /// Goes on from an old file (runtime.md D11.b): takes its lock, reads it, and writes an output for every call of a
    /// file of ours that has none. The outputs are durable when this returns, so that a second resume finds nothing to
    /// do; where the disk takes nothing they are kept, tried again at the next barrier, and the operator is told.
    ///
    /// # Errors
    /// When the file, or an output that lies beside it, cannot be read; when the file is written by another recorder,
    /// holds no valid line, or keeps its history in a way that we don't know. Then it is as it was, but for the end of
    /// its last line, and whoever tries again finds all that was there.
    pub async fn resume(path: &Path, host: RecorderHost) -> Result<Resumed, RolloutError> {
        Self::resume_with(path, host, &Recovering::default()).await
    }

    /// As [`resume`](Self::resume), and lets tools tidy up behind the calls that were cut off, before anything is
    /// written of them, and say what else may be done about these.
    ///
    /// # Errors
    /// Those of [`resume`](Self::resume).
    pub async fn resume_with(
        path: &Path,
        host: RecorderHost,
        recovering: &Recovering,
    ) -> Result<Resumed, RolloutError> {
        Self::resume_on(Arc::new(Os), path, host, recovering).await
    }

    pub(super) async fn resume_on(
        system: Arc<dyn System>,
        path: &Path,
        host: RecorderHost,
        recovering: &Recovering,
    ) -> Result<Resumed, RolloutError> {
        let opened = path.to_owned();
        let read = tokio::task::spawn_blocking(move || lock_and_read(&system, &opened));
        let (file, mut rollout, seen) =
            read.await.map_err(|error| RolloutError::io("read", path, std::io::Error::other(error)))??;
        tell_skipped(&rollout, &host);
        tidy_up(&rollout, recovering).await;
        let unsettled = unsettled(&rollout, &SystemProcesses)?;
        let recorder = Self::going_on(&rollout, file, seen, host.clone())?;
        let now = timestamp(host.clock.wall());
        let recovered = recovering.of(unsettled, &now).await;
        let Recovered { settled, open, lines } = recovered;
        tell_lost(&settled, path, &host);
        if !lines.is_empty() {
            recorder.record_all(lines.clone()).await;
            // Of a failure the recorder has told the operator; it keeps the lines.
            let _ = recorder.sync().await;
            rollout.append(lines.into_iter(), &now);
        }
        let (items, calls) = (rollout.history(), rollout.calls());
        let loaded = rollout.loaded_tools();
        let turn_context = rollout.turn_context().cloned();
        let LoadedRollout { meta, skipped, .. } = rollout;
        Ok(Resumed { recorder, meta, items, calls, loaded, turn_context, settled, open, skipped })
    }
}

/// Lets tools tidy up. Only of a file of ours is it known what was left behind.
async fn tidy_up(rollout: &LoadedRollout, recovering: &Recovering) {
    let left = Journal::of(rollout).left_behind(&rollout.meta.id);
    if left.written.is_empty() && left.processes.is_empty() {
        return;
    }
    for tool in &recovering.tools {
        tool.tidy_up(&left).await;
    }
}

/// The lock comes first: what is read is then what stands. A file that is no rollout is told so, and stays as it is.
fn lock_and_read(
    system: &Arc<dyn System>,
    path: &Path,
) -> Result<(AppendFile, LoadedRollout, Seen), RolloutError> {
    let mut file = lock_patiently(system, path)?;
    let mut reader = Reader::new(MAX_LINE_BYTES);
    reader.read(&mut file.reader()).map_err(|error| RolloutError::io("read", path, error))?;
    let (rollout, seen) = reader.finish_seen(path)?;
    file.end_last_line()?;
    Ok((file, rollout, seen))
}

/// Locks the file. A recorder that was killed may leave its lock, for as long as it takes, to a process that it was just
/// starting; one that lives keeps it.
fn lock_patiently(system: &Arc<dyn System>, path: &Path) -> Result<AppendFile, RolloutError> {
    let begun = Instant::now();
    loop {
        match AppendFile::lock_existing(Arc::clone(system), path) {
            Err(RolloutError::Locked(_)) if begun.elapsed() < LOCK_PATIENCE => std::thread::sleep(LOCK_PAUSE),
            locked => return locked,
        }
    }
}

fn tell_skipped(rollout: &LoadedRollout, host: &RecorderHost) {
    let LoadedRollout { path, skipped, skipped_count: count, mended, .. } = rollout;
    if !mended.is_empty() {
        let (path, lines) = (path.display(), named(mended, mended.len()));
        let message = format!("Characters that are no text were replaced by U+FFFD in {path}: line {lines}");
        host.events.emit(Event::Warning { message });
    }
    if *count == 0 {
        return;
    }
    let message = format!("Lines skipped in {}: {count} ({})", path.display(), named(skipped, *count));
    host.events.emit(Event::Warning { message });
}

/// Tells of outputs that are lost: the model reads that they are, and nobody else would know.
fn tell_lost(settled: &[SettledCall], path: &Path, host: &RecorderHost) {
    let is_lost = |call: &&SettledCall| call.settlement == Settlement::OutputLost;
    let calls: Vec<String> =
        settled.iter().filter(is_lost).map(|call| shown_id(call.call_id.as_str())).collect();
    if !calls.is_empty() {
        let (path, count) = (path.display(), calls.len());
        let message = format!("Outputs lost that lay beside {path}: {count} (call {})", named(&calls, count));
        host.events.emit(Event::Warning { message });
    }
}

/// An id as one may show it in a line.
fn shown_id(id: &str) -> String {
    let shown: String = id.chars().take(ID_SHOWN).collect();
    let more = if shown.len() < id.len() { "..." } else { "" };
    format!("{}{more}", shown.escape_debug())
}

/// The first of so many lines or calls.
fn named(lines: &[impl ToString], count: usize) -> String {
    let named: Vec<String> = lines.iter().take(NAMED).map(ToString::to_string).collect();
    let more = if count > named.len() { ", ..." } else { "" };
    format!("{}{more}", named.join(", "))
}

#[cfg(test)]
#[path = "resume_tests.rs"]
mod tests;
