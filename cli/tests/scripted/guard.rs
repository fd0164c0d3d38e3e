//! Runs the program, hits it at a point, and waits for no longer than is reasonable.

use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::place::Place;
use super::point::Point;
use super::{processes, report};

/// The longest that a run of the program may take. An ordinary one takes a second, and on a machine that does twenty
/// things at once two minutes; what takes so long hangs.
pub const PATIENCE: Duration = Duration::from_secs(300);
/// How long a program that was killed may take to be gone.
const KILL_PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked whether the point has come.
const LOOK: Duration = Duration::from_micros(200);

/// A signal at a point.
#[derive(Debug, Clone, Copy)]
pub struct Blow {
    pub point: Point,
    pub signal: Signal,
}

/// Runs a program to its end, and gives it the blow at its point.
///
/// # Errors
/// Where it does not end within [`PATIENCE`]: what everybody was doing then. It is killed, with what it has started.
pub fn run(place: &Place, mut command: Command, blow: Option<Blow>) -> Result<ExitStatus, String> {
    let begun = Instant::now();
    let mut child = processes::spawn(&mut command);
    let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).expect("it is our child");
    let left = || PATIENCE.saturating_sub(begun.elapsed());
    if let Some(Blow { point, signal }) = blow {
        while !point.has_come(place, begun) && !left().is_zero() {
            if ends_within(&handle, LOOK) {
                break;
            }
        }
        // It may have ended by itself.
        let _ = pidfd_send_signal(&handle, signal);
    }
    if ends_within(&handle, left()) {
        return Ok(processes::wait(&mut child));
    }
    let report = report::of(place, child.id());
    end(&mut child, &handle);
    Err(format!("it had not ended after {PATIENCE:?}\n{report}"))
}

/// Kills a program that hangs, and all that it has started, as far as it can be killed.
fn end(child: &mut Child, handle: &OwnedFd) {
    let started = processes::descendants(child.id());
    let _ = child.kill();
    for pid in started {
        processes::kill(pid);
    }
    if ends_within(handle, KILL_PATIENCE) {
        processes::wait(child);
    }
}

/// Waits for an end, but not for longer than this.
fn ends_within(handle: &OwnedFd, time: Duration) -> bool {
    let until = Instant::now() + time;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).expect("short");
        match poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return false,
            Ok(_) => return true,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("a process cannot be waited for: {error}"),
        }
    }
}
