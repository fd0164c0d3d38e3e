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
        Stat { alive: true, found: Found { pid: pid(42), group: 40, session: 39, started_at: 98765 } }
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
    let found = members(&[own.session].into(), |_| true);
    assert!(found.contains(&own), "{found:?}");
    assert!(found.iter().all(|process| process.session == own.session));
}
