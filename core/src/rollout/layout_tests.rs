use std::time::Duration;

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn the_path_is_made_of_local_time_and_id() {
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_032_800); // 2026-11-30T10:00:00Z
    let table = [
        (0, "sessions/2026/11/30/rollout-2026-11-30T10-00-00-ID.jsonl"),
        (-11, "sessions/2026/11/29/rollout-2026-11-29T23-00-00-ID.jsonl"),
        (14, "sessions/2026/12/01/rollout-2026-12-01T00-00-00-ID.jsonl"),
    ];
    for (hours, expected) in table {
        let zone = TimeZone::fixed(jiff::tz::offset(hours));
        assert_eq!(rollout_path_in(Path::new("/home"), "ID", at, &zone), Path::new("/home").join(expected));
    }
}

#[test]
fn names_are_read_back() {
    let name = |time, thread| Some(RolloutName { time, thread });
    let table = [
        ("rollout-2026-11-30T10-00-00-019a-b.jsonl", name("2026-11-30T10-00-00", "019a-b")),
        ("rollout-2026-11-30T10-00-00-019a-b_77-8.jsonl", name("2026-11-30T10-00-00", "019a-b")),
        ("rollout-2026-11-30T10-00-00-.jsonl", None),
        ("rollout-2026-11-30T10-00-00-a.jsonl.gz", None),
        ("rollout-2026-11-30.jsonl", None),
        ("rollout-2026-11-30T10-00-0é-a.jsonl", None),
        ("notes.jsonl", None),
    ];
    for (file, expected) in table {
        assert_eq!(parse_name(file), expected, "{file}");
    }
}
