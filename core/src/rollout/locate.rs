//! Finds the rollout that somebody means, without reading whole files.

use std::cmp::Reverse;
use std::fs::{self, DirEntry, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;
use tenon_protocol::{RolloutItem, SessionMeta};

use super::layout::{ARCHIVED, SESSIONS, parse_name};
use super::one_line::glance;
use super::reader::meta_of_name;

/// How much of a file is read to find its first line, in bytes: base instructions can be long.
const HEAD_BYTES: u64 = 4 * 1024 * 1024;

/// How many lines at the beginning of a file may be something else than its `session_meta`.
const HEAD_LINES: usize = 40;

/// How deep folders of a year, a month and a day lie.
const FOLDERS: usize = 3;

/// A rollout that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundRollout {
    /// The file.
    pub path: PathBuf,
    /// Whose it is.
    pub meta: SessionMeta,
}

/// The rollout of the thread `id` under `home`: the newest, where it has several; of the threads that were put away
/// only when no other has the id.
#[must_use]
pub fn find_rollout(home: &Path, id: &str) -> Option<PathBuf> {
    [candidates(&home.join(SESSIONS), FOLDERS), candidates(&home.join(ARCHIVED), 0)].into_iter().find_map(
        |found| found.into_iter().find(|candidate| candidate.thread == id).map(|candidate| candidate.path),
    )
}

/// The rollout under `home` that was written last among those of the working folder `cwd`. Threads that were put away
/// are not asked for.
#[must_use]
pub fn newest_rollout(home: &Path, cwd: &Path) -> Option<FoundRollout> {
    let wanted = resolved(cwd);
    candidates(&home.join(SESSIONS), FOLDERS).into_iter().find_map(|candidate| {
        let meta = read_meta(&candidate.path)?;
        (resolved(&meta.cwd) == wanted).then_some(FoundRollout { path: candidate.path, meta })
    })
}

/// Whose a file is, from its first lines: by its `session_meta`, or, where that is lost, by its name and the folder of
/// its first turn. None where they tell of neither.
#[must_use]
pub fn read_meta(path: &Path) -> Option<SessionMeta> {
    let head = BufReader::new(File::open(path).ok()?.take(HEAD_BYTES));
    let mut by_turn = None;
    for line in head.split(b'\n').take(HEAD_LINES).map_while(Result::ok).filter_map(|line| glance(&line)) {
        match line.item {
            RolloutItem::SessionMeta(meta) => return Some(*meta),
            RolloutItem::TurnContext(context) => {
                let cwd = context.get("cwd").and_then(Value::as_str);
                by_turn = by_turn.or_else(|| Some((cwd?.to_owned(), line.timestamp)));
            }
            RolloutItem::ResponseItem(_)
            | RolloutItem::WorldState(_)
            | RolloutItem::Compacted(_)
            | RolloutItem::EventMsg(_)
            | RolloutItem::CallStarted(_)
            | RolloutItem::CallProgress(_)
            | RolloutItem::CallFinished(_)
            | RolloutItem::ModelRequest(_)
            | RolloutItem::Unknown { .. } => {}
        }
    }
    let (cwd, timestamp) = by_turn?;
    Some(SessionMeta { cwd: cwd.into(), ..meta_of_name(path, &timestamp)? })
}

/// A file that is named like a rollout.
struct Candidate {
    path: PathBuf,
    thread: String,
    /// When it was written last; then when it was begun and by whom, for two of one moment.
    age: Reverse<(SystemTime, String)>,
}

/// The rollouts in a folder and `depth` levels below it, the newest first. What cannot be read is left out.
fn candidates(folder: &Path, depth: usize) -> Vec<Candidate> {
    let mut found = Vec::new();
    collect(folder, depth, &mut found);
    found.sort_by(|a, b| a.age.cmp(&b.age));
    found
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<Candidate>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.map_while(Result::ok) {
        if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), depth - 1, found);
        } else if let Some(candidate) = candidate(&entry) {
            found.push(candidate);
        }
    }
}

fn candidate(entry: &DirEntry) -> Option<Candidate> {
    let name = entry.file_name().into_string().ok()?;
    let thread = parse_name(&name)?.thread.to_owned();
    let written = entry.metadata().ok().filter(fs::Metadata::is_file)?.modified().ok()?;
    Some(Candidate { path: entry.path(), thread, age: Reverse((written, name)) })
}

/// The folder itself, whichever links lead to it; as it is written where it is gone.
fn resolved(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

#[cfg(test)]
#[path = "locate_tests.rs"]
mod tests;
