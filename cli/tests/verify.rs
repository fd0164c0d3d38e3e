//! `tenon replay --verify`: a session of `exec` is what it was, and what was changed is named.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use pretty_assertions::assert_eq;
use support::{Place, Server, message, shell};

/// A session with one command, and the rollout that it has left.
fn recorded(place: &Place) -> std::path::PathBuf {
    let server = Server::start(vec![vec![shell("c1", "echo counted >> counter")], vec![message("done")]]);
    place.config(&server.config());
    let ran = place.run(&["exec", "--json", "-s", "danger-full-access", "count"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    place.rollouts().pop().expect("it is there")
}

fn verify(place: &Place, rollout: &std::path::Path, more: &[&str]) -> support::Ran {
    let file = rollout.to_str().expect("text");
    place.run(&[&["replay", "--verify", "-s", "danger-full-access"], more, &[file]].concat())
}

#[test]
fn the_same_session_verifies_and_nothing_runs() {
    let place = Place::new();
    let rollout = recorded(&place);
    let ran = verify(&place, &rollout, &[]);
    assert_eq!(
        (ran.status, ran.stdout.as_str(), ran.stderr.as_str()),
        (Some(0), "verified: 2 requests are what they were\n", "")
    );
    let counter = std::fs::read_to_string(place.work().join("counter")).expect("counted once");
    assert_eq!(counter, "counted\n");
    assert_eq!(place.rollouts(), [rollout]);
}

#[test]
fn the_first_difference_is_named() {
    let place = Place::new();
    let rollout = recorded(&place);
    let text = std::fs::read_to_string(&rollout).expect("text");
    std::fs::write(&rollout, text.replace("\"text\":\"count\"", "\"text\":\"bound\"")).expect("written");
    let ran = verify(&place, &rollout, &[]);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.starts_with("tenon: request 1 (line "), "{}", ran.stderr);
    assert!(ran.stderr.contains("(message) differs from byte "), "{}", ran.stderr);
    let other_model = verify(&place, &recorded(&Place::new()), &["-m", "another"]);
    assert!(other_model.stderr.contains("and is another"), "{}", other_model.stderr);
}
