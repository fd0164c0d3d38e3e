use pretty_assertions::assert_eq;

use super::*;

fn pid(raw: i32) -> Pid {
    Pid::from_raw(raw).expect("a pid")
}

fn line(name: &str, state: char) -> String {
    format!(
        "42 ({name}) {state} 1 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 5242880 300 18446744073709551615 1"
    )
}

#[test]
fn reads_session_and_start() {
    let found = parse(pid(42), line("sleep", 'S').as_bytes());
    let found = found.expect("a line");
    assert_eq!(
        found,
        Stat {
            alive: true,
            found: Found { pid: pid(42), parent: 1, group: 40, session: 39, started_at: 98765 }
        }
    );
}

#[test]
fn a_name_may_look_like_the_rest() {
    for name in ["a b", ") Z 1 2 3", "((", "x) S"] {
        let found = parse(pid(42), line(name, 'R').as_bytes());
        assert_eq!(found.map(|stat| stat.found.session), Some(39), "{name}");
    }
}

#[test]
fn the_dead_are_told_and_the_broken_are_not_there() {
    for state in ['Z', 'X'] {
        assert!(parse(pid(42), line("sleep", state).as_bytes()).is_some_and(|stat| !stat.alive));
    }
    assert_eq!(parse(pid(42), b""), None);
    assert_eq!(parse(pid(42), b"42 (sleep) S 1"), None);
}

#[test]
fn finds_this_very_process() {
    let own = of(rustix::process::getpid()).expect("we are alive");
    let found = members(&all(), &[own.session].into(), |_| true);
    assert!(found.contains(&own), "{found:?}");
    assert!(found.iter().all(|process| process.session == own.session));
}

fn process(raw: i32, parent: i32, session: i32) -> Found {
    Found { pid: pid(raw), parent, group: session, session, started_at: 0 }
}

#[test]
fn a_session_whose_number_is_a_strangers_has_no_members() {
    let all = [process(10, 1, 10), process(11, 10, 10), process(21, 1, 20)];
    let sessions = [10, 20].into();
    assert_eq!(members(&all, &sessions, |_| true), all);
    assert_eq!(members(&all, &sessions, |_| false), [all[2]]);
}

#[test]
fn strays_are_found_by_descent_in_whatever_order_they_are_listed() {
    let (leader, child) = (process(50, 1, 50), process(51, 50, 50));
    let (stray, below, deep) = (process(40, 51, 40), process(30, 40, 40), process(20, 30, 20));
    let stranger = process(60, 1, 60);
    let all = [deep, below, stray, leader, child, stranger];
    let mut found = strays(&all, &[leader, child]);
    found.sort_by_key(Found::number);
    assert_eq!(found, [deep, below, stray]);
    assert_eq!(strays(&all, &[stranger]), []);
}

#[test]
fn a_variable_is_read_from_where_a_process_was_started() {
    let own = rustix::process::getpid();
    assert_eq!(variable(own, "PATH"), std::env::var_os("PATH"));
    assert_eq!(variable(own, "PAT"), None);
}
