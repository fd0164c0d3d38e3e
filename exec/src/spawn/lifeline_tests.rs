use std::path::Path;

use super::*;
use crate::testing::{Witness, bash, one_pipe};

/// A session that ends only by SIGKILL, and its leader's number.
fn session() -> (OwnChild, i32) {
    let (streams, _reader) = one_pipe();
    let child = bash("trap '' TERM HUP; while :; do sleep 300; done", Path::new("/")).start(streams);
    let child = child.expect("started");
    let id = child.pid().as_raw_nonzero().get();
    (child, id)
}

fn end(mut child: OwnChild, id: i32) {
    // Its sleep too: the group has the leader's number.
    let group = rustix::process::Pid::from_raw(id).expect("a pid");
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).expect("killed");
    child.wait();
}

#[tokio::test]
async fn it_kills_what_it_was_told_of_and_nothing_else() {
    for shell in ["/bin/sh", "/bin/bash"] {
        let (first, second, third) = (session(), session(), session());
        let mut lifeline =
            Lifeline::start_by(shell, &[first.1, second.1].into(), &Marks::default()).expect("started");
        lifeline.begun(third.1).expect("told");
        lifeline.ended(second.1).expect("told");
        // A number that it never knew of.
        lifeline.ended(1).expect("told");
        let (dead, alive, also_dead) = (Witness::new(first.1), Witness::new(second.1), Witness::new(third.1));
        drop(lifeline);
        assert!(dead.is_dead() && also_dead.is_dead(), "{shell}");
        assert!(!alive.is_dead(), "{shell}");
        for mut child in [first.0, third.0] {
            child.wait();
        }
        end(second.0, second.1);
    }
}

#[test]
fn one_that_is_abandoned_kills_nobody() {
    let (child, id) = session();
    let lifeline = Lifeline::start(&[id].into(), &Marks::default()).expect("started");
    lifeline.abandon();
    let mut child = child;
    assert!(child.try_wait().expect("asked").is_none());
    end(child, id);
}

#[test]
fn one_that_is_gone_is_noticed() {
    let mut lifeline = Lifeline::start(&BTreeSet::new(), &Marks::default()).expect("started");
    lifeline.child.kill();
    lifeline.child.wait();
    assert!(lifeline.begun(7).is_err());
}
