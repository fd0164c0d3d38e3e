//! Who is left of a program that was broken off.
//!
//! The test adopts what its children leave behind (it is a subreaper), so that nothing can get away from it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};

/// How long what was left behind may take to go.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked at: what other processes do cannot be awaited.
const PAUSE: Duration = Duration::from_millis(10);

/// The children that somebody waits for.
static OURS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn ours() -> MutexGuard<'static, BTreeSet<u32>> {
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on what children leave behind becomes ours.
pub fn adopt() {
    set_child_subreaper(Some(getpid())).expect("Linux lets us");
}

/// Starts a program that [`wait`] waits for.
pub fn spawn(command: &mut Command) -> Child {
    let mut ours = ours();
    let child = command.spawn().expect("the program starts");
    ours.insert(child.id());
    child
}

/// Waits for a program that [`spawn`] started.
pub fn wait(child: &mut Child) -> ExitStatus {
    let status = child.wait().expect("it is our child");
    ours().remove(&child.id());
    status
}

/// Waits until no process of this place is left; names those that stay.
pub fn left_in(place: &Path) -> Vec<String> {
    let place = place.to_string_lossy().into_owned();
    gone(|| processes().into_iter().filter(|process| process.mentions.contains(&place)).collect())
}

/// Waits until no process that we adopted is left; names those that stay.
pub fn left() -> Vec<String> {
    let me = std::process::id();
    gone(|| {
        let ours = ours().clone();
        let adopted = processes().into_iter().filter(|process| process.parent == me);
        adopted.filter(|process| !ours.contains(&process.pid)).collect()
    })
}

/// The processes that this one has started, and those that they have, as far as their parents live.
pub fn descendants(pid: u32) -> Vec<u32> {
    let all = processes();
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        next += 1;
        found.extend(all.iter().filter(|process| process.parent == parent).map(|process| process.pid));
    }
    found.split_off(1)
}

/// Kills a process that [`descendants`] has just named.
pub fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn gone(look: impl Fn() -> Vec<Process>) -> Vec<String> {
    let begun = Instant::now();
    loop {
        reap();
        let found = look();
        if found.is_empty() || begun.elapsed() > PATIENCE {
            return found.into_iter().map(|process| format!("{} {}", process.pid, process.command)).collect();
        }
        std::thread::sleep(PAUSE);
    }
}

/// Takes the adopted dead from the table of processes.
fn reap() {
    let me = std::process::id();
    let ours = ours();
    for entry in std::fs::read_dir("/proc").expect("Linux").flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        if let Some(pid) = pid.filter(|pid| !ours.contains(pid))
            && stat(pid).is_some_and(|(state, parent)| parent == me && state == 'Z')
            && let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw)
        {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

struct Process {
    pid: u32,
    parent: u32,
    command: String,
    /// Its folder, arguments and environment.
    mentions: String,
}

/// All that run, the dead left out.
fn processes() -> Vec<Process> {
    let me = std::process::id();
    let entries = std::fs::read_dir("/proc").expect("Linux").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| *pid != me).filter_map(process).collect()
}

fn process(pid: u32) -> Option<Process> {
    let (state, parent) = stat(pid)?;
    if matches!(state, 'Z' | 'X') {
        return None;
    }
    let read = |name: &str| {
        let bytes = std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ")
    };
    let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
    let command = read("cmdline");
    let mentions = format!("{} {command} {}", folder.display(), read("environ"));
    Some(Process { pid, parent, command, mentions })
}

/// State and parent.
fn stat(pid: u32) -> Option<(char, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}
