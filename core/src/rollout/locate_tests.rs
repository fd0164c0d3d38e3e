use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::json;
use tempfile::TempDir;

use super::*;

/// A rollout of a thread in a folder, written last so many seconds after 1970.
fn rollout(home: &Path, place: &str, id: &str, cwd: &Path, written: u64) -> PathBuf {
    let meta = json!({
        "timestamp": "2026-11-30T10:00:00.000Z", "type": "session_meta",
        "payload": {"id": id, "timestamp": "", "cwd": cwd},
    });
    file(home, place, id, &format!("{meta}\n"), written)
}

fn file(home: &Path, place: &str, id: &str, text: &str, written: u64) -> PathBuf {
    let path = home.join(place).join(format!("rollout-2026-11-30T10-00-00-{id}.jsonl"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    let file = File::options().append(true).open(&path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(written)).unwrap();
    path
}

#[test]
fn a_thread_is_found_by_its_id() {
    let home = TempDir::new().unwrap();
    let (home, cwd) = (home.path(), Path::new("/w"));
    assert_eq!(find_rollout(home, "a"), None);
    rollout(home, "sessions/2026/11/29", "a", cwd, 5);
    let newer = rollout(home, "sessions/2026/11/30", "a_2", cwd, 6);
    rollout(home, "archived_sessions", "a", cwd, 7);
    let archived = rollout(home, "archived_sessions", "b", cwd, 7);
    rollout(home, "sessions/2026/11/30/deeper", "c", cwd, 7);
    assert_eq!(find_rollout(home, "a"), Some(newer));
    assert_eq!(find_rollout(home, "b"), Some(archived));
    assert_eq!(find_rollout(home, "c"), None);
    assert_eq!(find_rollout(home, ""), None);
}

#[test]
fn the_newest_of_a_folder_is_the_one_written_last() {
    let home = TempDir::new().unwrap();
    let work = TempDir::new().unwrap();
    let link = home.path().join("link");
    std::os::unix::fs::symlink(work.path(), &link).unwrap();
    let newest = |cwd: &Path| newest_rollout(home.path(), cwd).map(|found| (found.path, found.meta.id));
    assert_eq!(newest(work.path()), None);
    let old = rollout(home.path(), "sessions/2026/11/29", "old", work.path(), 50);
    rollout(home.path(), "sessions/2026/11/30", "older", work.path(), 40);
    rollout(home.path(), "sessions/2026/11/30", "other", Path::new("/gone"), 60);
    file(home.path(), "sessions/2026/11/30", "no rollout", "text\n", 70);
    rollout(home.path(), "archived_sessions", "archived", work.path(), 80);
    assert_eq!(newest(work.path()), Some((old.clone(), "old".to_owned())));
    assert_eq!(newest(&link), Some((old, "old".to_owned())), "through a link");
    assert_eq!(newest(Path::new("/gone")).map(|found| found.1), Some("other".to_owned()));
    assert_eq!(newest(Path::new("/nowhere")), None);
}

#[test]
fn of_two_of_one_moment_the_later_name_is_newer() {
    let home = TempDir::new().unwrap();
    for id in ["019a-1", "019a-3", "019a-2"] {
        rollout(home.path(), "sessions/2026/11/30", id, Path::new("/w"), 50);
    }
    assert_eq!(newest_rollout(home.path(), Path::new("/w")).unwrap().meta.id, "019a-3");
}

#[test]
fn the_first_line_is_found_behind_a_torn_one_and_not_far_below() {
    let home = TempDir::new().unwrap();
    let line = |id: &str| json!({"timestamp": "", "type": "session_meta", "payload": {"id": id, "timestamp": "", "cwd": "/"}});
    let at = |lines_before: usize| {
        let text = format!("{}{}\n", "torn\n".repeat(lines_before), line("a"));
        read_meta(&file(home.path(), "sessions", "a", &text, 1)).map(|meta| meta.id)
    };
    assert_eq!(at(HEAD_LINES - 1), Some("a".to_owned()));
    assert_eq!(at(HEAD_LINES), None);
    assert_eq!(read_meta(Path::new("/nowhere")), None);
}

#[test]
fn a_thread_is_found_whose_first_line_is_broken() {
    let home = TempDir::new().unwrap();
    let work = TempDir::new().unwrap();
    let meta = json!({"timestamp": "2026-11-30T10:00:00.000Z", "type": "session_meta",
        "payload": {"id": "m", "timestamp": "", "cwd": work.path()}})
    .to_string();
    let turn = json!({"timestamp": "2026-11-30T10:00:01.000Z", "type": "turn_context",
        "payload": {"cwd": work.path()}})
    .to_string();
    let torn = meta.get(..40).unwrap();
    let rows = [
        ("marked", format!("\u{feff}{meta}\n"), "m"),
        ("behind", format!("{torn}{meta}\n"), "m"),
        ("torn", format!("{torn}\n{turn}\n"), "torn"),
        ("nul", format!("\0\0\0\n{turn}\n"), "nul"),
    ];
    for (age, (id, text, expected)) in rows.iter().enumerate() {
        let path = file(home.path(), "sessions/2026/11/30", id, text, 100 + age as u64);
        let found = newest_rollout(home.path(), work.path()).map(|found| (found.path, found.meta.id));
        assert_eq!(found, Some((path, (*expected).to_owned())), "{id}");
    }
    // Another folder's turn, or no turn, is nobody's.
    file(home.path(), "sessions/2026/11/30", "lost", &format!("{torn}\n"), 200);
    let elsewhere = turn.replace(work.path().to_str().unwrap(), "/elsewhere");
    file(home.path(), "sessions/2026/11/30", "other", &format!("{torn}\n{elsewhere}\n"), 201);
    let found = newest_rollout(home.path(), work.path()).map(|found| found.meta.id);
    assert_eq!(found.as_deref(), Some("nul"));
}
