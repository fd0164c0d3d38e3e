use std::collections::BTreeMap;
use std::path::Path;

use pretty_assertions::assert_eq;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::*;

fn shell(script: &str) -> StdioConfig {
    let environment = BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]);
    StdioConfig {
        command: "sh".into(),
        args: vec!["-c".into(), script.into()],
        environment,
        ..StdioConfig::default()
    }
}

/// Starts a script, waits for its first line, ends it. The line, and how it ended.
async fn run(script: &str) -> (String, Ended) {
    let (process, streams) = Process::spawn("s", &shell(script), Path::new("/")).expect("started");
    let mut line = String::new();
    BufReader::new(streams.stdout).read_line(&mut line).await.expect("read");
    drop(streams.stdin);
    (line.trim().to_owned(), process.end().await)
}

fn alive(pid: &str) -> bool {
    // A process that nobody has reaped yet does not live.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X'])))
}

#[tokio::test]
async fn a_server_that_sees_the_end_of_its_input_leaves_by_itself() {
    let (line, ended) = run("echo ready; cat >/dev/null; echo bye >&2; exit 3").await;
    assert_eq!(line, "ready");
    assert_eq!(ended.status.and_then(|status| status.code()), Some(3));
    assert_eq!(ended.describe(), "the server exited with code 3; its last words:\nbye");
}

#[tokio::test]
async fn a_server_that_does_not_is_asked_to() {
    let (_, ended) = run("trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done").await;
    assert_eq!(ended.status.and_then(|status| status.code()), Some(5));
}

#[tokio::test]
async fn what_a_server_started_ends_with_it_even_if_it_is_deaf() {
    let deaf = "trap '' TERM; echo $$; while :; do sleep 0.05; done";
    let (pid, ended) = run(&format!("sh -c \"{}\" & cat >/dev/null", deaf.replace('$', "\\$"))).await;
    assert_eq!(ended.status.and_then(|status| status.code()), Some(0));
    assert!(!alive(&pid), "the grandchild {pid} lives");
}

#[tokio::test]
async fn what_has_left_the_servers_group_and_session_ends_with_it_even_if_it_is_deaf() {
    let leaves = "setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 0.05; done' & cat >/dev/null";
    let (pid, ended) = run(leaves).await;
    assert_eq!(ended.status.and_then(|status| status.code()), Some(0));
    assert!(!alive(&pid), "the grandchild {pid} lives");
}

#[tokio::test]
async fn a_deaf_server_is_asked_once_together_with_what_it_started() {
    let deaf = "trap '' TERM; echo $$; while :; do sleep 0.05; done";
    let began = std::time::Instant::now();
    let (pid, ended) = run(&format!("sh -c 'while :; do sleep 0.05; done' & {deaf}")).await;
    assert_eq!(ended.status.and_then(|status| status.signal()), Some(9));
    assert!(!alive(&pid), "{pid} lives");
    // Not twice as long, as if each were asked for itself.
    assert!(began.elapsed() < EOF_GRACE + 2 * TERM_GRACE, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_dropped_process_is_killed_with_all_that_it_started() {
    let script = shell("setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 0.05; done' & wait");
    let (process, streams) = Process::spawn("s", &script, Path::new("/")).expect("started");
    let mut pid = String::new();
    BufReader::new(streams.stdout).read_line(&mut pid).await.expect("read");
    drop(process);
    let gone = async {
        while alive(pid.trim()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone).await.expect("it is killed");
}

#[tokio::test]
async fn a_program_that_is_not_there_says_so() {
    let config = StdioConfig { command: "/no/such/server".into(), ..StdioConfig::default() };
    let error = Process::spawn("s", &config, Path::new("/")).expect_err("there is none");
    assert_eq!(error.to_string(), "cannot start `/no/such/server`: No such file or directory (os error 2)");
}

#[tokio::test]
async fn a_folder_that_is_gone_is_named() {
    let error = Process::spawn("s", &shell("true"), Path::new("/no/such/folder")).expect_err("there is none");
    assert_eq!(error.to_string(), "cannot start `sh`: the working folder /no/such/folder is not there");
}

#[tokio::test]
async fn a_bare_name_is_looked_up_on_the_servers_own_path() {
    let folder = TempDir::new().expect("a folder");
    let program = folder.path().join("mine");
    std::fs::write(&program, "#!/bin/sh\necho \"$FLAG$HOME\"\ncat >/dev/null\n").expect("written");
    let mut permissions = std::fs::metadata(&program).expect("there").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(&program, permissions).expect("executable");
    let path =
        std::env::join_paths([folder.path(), Path::new("/usr/bin"), Path::new("/bin")]).expect("a path");
    let environment = BTreeMap::from([("PATH".into(), path), ("FLAG".into(), "set".into())]);
    let config = StdioConfig { command: "mine".into(), environment, ..StdioConfig::default() };
    let (process, streams) = Process::spawn("s", &config, Path::new("/")).expect("started");
    let mut line = String::new();
    BufReader::new(streams.stdout).read_line(&mut line).await.expect("read");
    assert_eq!(line, "set\n", "nothing is inherited that was not given");
    drop(streams.stdin);
    process.end().await;
}
