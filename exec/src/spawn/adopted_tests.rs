use std::path::Path;
use std::process::Command;
use std::time::Instant;

use rustix::process::{Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::*;
use crate::testing::{LONG, bash, one_pipe};

/// Waits for the end of a child without reaping it.
fn wait_for_the_end(child: Pid) {
    waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).expect("it is a child");
}

/// A child that leads a session of its own, and was started by somebody else.
fn stranger() -> (std::process::Child, Pid) {
    let child = Command::new("setsid").args(["sleep", "300"]).spawn().expect("started");
    let pid = Pid::from_child(&child);
    let start = Instant::now();
    while procfs::of(pid).is_none_or(|found| found.session != found.number()) {
        assert!(start.elapsed() < LONG, "it leads no session");
        std::thread::yield_now();
    }
    (child, pid)
}

#[test]
fn a_child_that_a_worker_waits_for_is_left_to_it() {
    let mut adopted = Adopted::default();
    let (streams, _reader) = one_pipe();
    let mut child = bash("exit 3", Path::new("/")).start(streams).expect("started");
    let pid = child.pid();
    wait_for_the_end(pid);
    assert_eq!(adopted.look_among(|| vec![pid], &Marks::default(), |_| false), Vec::<i32>::new());
    assert!(!adopted.has_to_look(), "it is not even noted");
    // Even where its session is known: it is another worker's then, whose number came round.
    assert_eq!(adopted.look_among(|| vec![pid], &Marks::default(), |_| true), Vec::<i32>::new());
    let ended = child.try_wait().expect("still there").expect("dead");
    assert_eq!(ended.exit_status(), Some(3));
}

#[test]
fn a_child_of_the_host_is_left_to_it_once_it_was_seen_alive() {
    let mut adopted = Adopted::default();
    let (mut seen, pid) = stranger();
    assert_eq!(adopted.look_among(|| vec![pid], &Marks::default(), |_| false), Vec::<i32>::new());
    kill_process(pid, Signal::KILL).expect("killed");
    wait_for_the_end(pid);
    for _ in 0..2 {
        assert_eq!(adopted.look_among(|| vec![pid], &Marks::default(), |_| false), Vec::<i32>::new());
        assert!(!adopted.has_to_look(), "it will not be reaped");
    }
    assert!(!seen.wait().expect("still there").success());
    // One that was never seen alive may be anybody's: it is noted, and not reaped at once.
    let (mut unseen, pid) = stranger();
    kill_process(pid, Signal::KILL).expect("killed");
    wait_for_the_end(pid);
    adopted.look_among(|| vec![pid], &Marks::default(), |_| false);
    assert!(adopted.has_to_look());
    assert!(!unseen.wait().expect("still there").success());
}
