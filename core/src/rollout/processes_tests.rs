use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;

use super::super::stamp::timestamp;
use super::*;

fn start_of(pid: u32) -> u64 {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).unwrap()).unwrap().1
}

#[test]
fn a_process_is_known_by_id_and_start() {
    let now = timestamp(std::time::SystemTime::now());
    let mut child = Command::new("/bin/cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let (pid, start) = (child.id(), start_of(child.id()));
    let process = |started_at, boot_id| LeftProcess { pid, group: pid, started_at, boot_id };
    let state = |start, at: &str| SystemProcesses.state(&process(start, None), at);
    let of_boot = |boot: &str| SystemProcesses.state(&process(start, Some(boot.to_owned())), &now);
    assert_eq!(of_boot(&this_boot().unwrap()), ProcessState::Running);
    assert_eq!(of_boot("another"), ProcessState::Ended, "the machine was started since");
    let by_another_clock = SystemProcesses.state(&process(start, this_boot()), "1999-01-01T00:00:00.000Z");
    assert_eq!(by_another_clock, ProcessState::Running, "the clock was set since");
    assert_eq!(state(start, &now), ProcessState::Running);
    assert_eq!(state(start + 1, &now), ProcessState::Ended, "another process with the same id");
    assert_eq!(state(0, &now), ProcessState::Unknown);
    assert_eq!(
        state(start, "1999-01-01T00:00:00.000Z"),
        ProcessState::Ended,
        "told before the machine started"
    );
    assert_eq!(state(start, "no time"), ProcessState::Running);
    drop(child.stdin.take());
    while parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).unwrap()).unwrap().0 != 'Z' {
        std::thread::yield_now();
    }
    assert_eq!(state(start, &now), ProcessState::Ended, "nobody has waited for it yet");
    child.wait().unwrap();
    assert_eq!(state(start, &now), ProcessState::Ended);
    assert_eq!(state(0, &now), ProcessState::Ended);
}

#[test]
fn a_name_may_hold_anything() {
    let fields = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
    assert_eq!(parse_stat(&format!("77 (a) R (b)) S {fields}\n")), Some(('S', 4711)));
    assert_eq!(parse_stat("77 (a) S 1 2"), None);
    assert_eq!(parse_stat(""), None);
}
