use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;

use super::*;
use crate::spawn::Exit;
use crate::testing::alone::alone;
use crate::testing::{LONG, Witness, bash, numbers, one_pipe, timed};

async fn started(keeper: &Keeper, script: &str) -> (Arc<Process>, OwnedFd) {
    let (streams, reader) = one_pipe();
    let process = keeper.start(bash(script, Path::new("/")), streams).await.expect("started");
    (process, reader)
}

async fn exit_of(process: &Process) -> Exit {
    let mut exit = process.exit();
    let found = tokio::time::timeout(LONG, exit.wait_for(Option::is_some)).await.expect("in time");
    found.expect("the process is kept").expect("some")
}

async fn text(reader: OwnedFd) -> String {
    let read = move || {
        let mut text = String::new();
        fs::File::from(reader).read_to_string(&mut text).map(|_| text)
    };
    timed(tokio::task::spawn_blocking(read)).await.0.expect("joined").expect("text")
}

async fn failure(launch: Launch) -> String {
    let keeper = Keeper::new(false);
    let (streams, _reader) = one_pipe();
    keeper.start(launch, streams).await.expect_err("must fail").to_string()
}

#[tokio::test]
async fn both_streams_come_in_the_order_of_writing() {
    let keeper = Keeper::new(false);
    let (process, reader) = started(&keeper, "for i in 1 2 3; do echo out$i; echo err$i >&2; done").await;
    assert_eq!(text(reader).await, "out1\nerr1\nout2\nerr2\nout3\nerr3\n");
    assert_eq!(exit_of(&process).await.code(), 0);
}

#[tokio::test]
async fn a_process_leads_its_own_session_and_is_tied_to_us() {
    let keeper = Keeper::new(false);
    let script = "cut -d' ' -f5,6 /proc/$$/stat; cat; echo end";
    let (process, reader) = started(&keeper, script).await;
    let pid = process.pid();
    assert_eq!(text(reader).await, format!("{pid} {pid}\nend\n"));
}

#[tokio::test]
async fn exit_codes_are_those_of_a_shell() {
    let keeper = Keeper::new(false);
    for (script, status, signal, code) in
        [("exit 7", Some(7), None, 7), ("kill -9 $$", None, Some(9), 137), ("kill -2 $$", None, Some(2), 130)]
    {
        let (process, _reader) = started(&keeper, script).await;
        let exit = exit_of(&process).await;
        assert_eq!((exit.status, exit.signal, exit.code()), (status, signal, code), "{script}");
    }
}

#[tokio::test]
async fn failures_name_the_thing() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    let plain = here.join("plain");
    fs::write(&plain, "").expect("written");
    let orphan = here.join("orphan");
    fs::write(&orphan, "#!/no/such/interpreter\n").expect("written");
    fs::set_permissions(&orphan, fs::Permissions::from_mode(0o755)).expect("executable");
    let program = |program: &Path| Launch { program: program.to_owned(), ..bash("true", here) };
    let gone = here.join("gone");

    let cases = [
        (bash("true", &gone), format!("working directory `{}` does not exist", gone.display())),
        (bash("true", &plain), format!("working directory `{}` is not a directory", plain.display())),
        (program(&gone), format!("program `{}` does not exist", gone.display())),
        (program(Path::new("no-such-program")), "program `no-such-program` does not exist".to_owned()),
        (program(&plain), format!("program `{}` is not executable", plain.display())),
        (program(here), format!("program `{}` is not executable", here.display())),
        (
            program(&orphan),
            format!("program `{}` cannot be run: its interpreter does not exist", orphan.display()),
        ),
        (
            bash(&"x".repeat(200_000), here),
            "the command is too long for the system: 200004 bytes of arguments and ".to_owned(),
        ),
        (
            bash("a\0b", here),
            "arguments, environment and working directory cannot contain a NUL byte".to_owned(),
        ),
    ];
    for (launch, expected) in cases {
        let found = failure(launch).await;
        assert!(found.starts_with(&expected), "{found}\n{expected}");
    }
}

#[tokio::test]
async fn a_removed_folder_is_named_and_another_one_works() {
    let folder = tempfile::tempdir().expect("a folder");
    let gone = folder.path().join("gone");
    fs::create_dir(&gone).expect("made");
    let keeper = Keeper::new(false);
    let (streams, reader) = one_pipe();
    let process = keeper.start(bash("rmdir \"$PWD\"; echo $?", &gone), streams).await.expect("started");
    assert_eq!(text(reader).await, "0\n");
    assert_eq!(exit_of(&process).await.code(), 0);
    let (streams, _reader) = one_pipe();
    let error = keeper.start(bash("echo hi", &gone), streams).await.expect_err("gone").to_string();
    assert_eq!(error, format!("working directory `{}` does not exist", gone.display()));
    let (streams, reader) = one_pipe();
    keeper.start(bash("echo hi", folder.path()), streams).await.expect("started");
    assert_eq!(text(reader).await, "hi\n");
}

/// A tree: the shell, a child that ignores SIGTERM, a grandchild, one in a process group of its own.
const TREE: &str = "
    bash -c 'trap \"\" TERM; echo $$; sleep 300 & echo $!; wait; sleep 300' &
    set -m; sleep 300 & set +m
    echo $!
    echo $$
    wait";

#[tokio::test]
async fn an_end_reaches_the_whole_session() {
    let keeper = Keeper::new(false);
    let (process, reader) = started(&keeper, TREE).await;
    let (pids, _reader) = numbers(reader, 4).await;
    let witnesses: Vec<Witness> = pids.iter().map(|pid| Witness::new(*pid)).collect();
    assert!(witnesses.iter().all(|witness| !witness.is_dead()));
    timed(keeper.end(&process, Duration::from_millis(100))).await;
    assert!(witnesses.iter().all(Witness::is_dead), "{pids:?}");
    assert_eq!(exit_of(&process).await.code(), 143);
}

#[tokio::test]
async fn who_hears_sigterm_is_not_killed() {
    let keeper = Keeper::new(false);
    let (process, reader) = started(&keeper, "trap 'echo 2; exit 3' TERM; echo 1; sleep 300 & wait").await;
    let (_, reader) = numbers(reader, 1).await;
    let ((), took) = timed(keeper.end(&process, LONG)).await;
    assert!(took < LONG / 2, "{took:?}");
    assert_eq!(exit_of(&process).await.code(), 3);
    assert_eq!(text(reader).await, "2\n");
}

#[tokio::test]
async fn a_stopped_process_ends_too() {
    let keeper = Keeper::new(false);
    let (process, reader) = started(&keeper, "echo $$; kill -STOP $$").await;
    numbers(reader, 1).await;
    timed(keeper.end(&process, LONG)).await;
    assert_eq!(exit_of(&process).await.code(), 143);
}

#[tokio::test]
async fn without_grace_it_is_killed_at_once() {
    let keeper = Keeper::new(false);
    let (process, reader) = started(&keeper, "trap '' TERM; echo 1; while :; do sleep 300; done").await;
    numbers(reader, 1).await;
    timed(keeper.end(&process, Duration::ZERO)).await;
    assert_eq!(exit_of(&process).await.code(), 137);
}

#[tokio::test]
async fn what_outlives_its_leader_can_still_be_ended() {
    let keeper = Keeper::new(false);
    let (process, reader) = started(&keeper, "sleep 300 & echo $!; (sleep 300 & echo $!)").await;
    let (pids, _reader) = numbers(reader, 2).await;
    assert_eq!(exit_of(&process).await.code(), 0);
    let witnesses: Vec<Witness> = pids.iter().map(|pid| Witness::new(*pid)).collect();
    assert!(witnesses.iter().all(|witness| !witness.is_dead()));
    timed(keeper.end(&process, Duration::ZERO)).await;
    assert!(witnesses.iter().all(Witness::is_dead));
    // A second time there is nothing to do.
    timed(keeper.end(&process, Duration::ZERO)).await;
}

#[tokio::test]
async fn closing_ends_running_and_surviving_processes() {
    let keeper = Keeper::new(false);
    let (running, reader) = started(&keeper, TREE).await;
    let (mut pids, _tree) = numbers(reader, 4).await;
    let (finished, reader) = started(&keeper, "trap '' TERM HUP; sleep 300 & echo $!").await;
    let (more, _finished) = numbers(reader, 1).await;
    pids.extend(more);
    exit_of(&finished).await;
    let witnesses: Vec<Witness> = pids.iter().map(|pid| Witness::new(*pid)).collect();
    timed(keeper.close()).await;
    assert!(witnesses.iter().all(Witness::is_dead), "{pids:?}");
    assert_eq!(running.exited().map(Exit::code), Some(137));
    let (streams, _reader) = one_pipe();
    let error = keeper.start(bash("true", Path::new("/")), streams).await.expect_err("closed");
    assert_eq!(error.to_string(), "the session has ended");
}

#[tokio::test]
async fn dropping_ends_everything_too() {
    let keeper = Keeper::new(false);
    let (process, reader) = started(&keeper, TREE).await;
    let (pids, _reader) = numbers(reader, 4).await;
    let witnesses: Vec<Witness> = pids.iter().map(|pid| Witness::new(*pid)).collect();
    drop(keeper);
    assert!(witnesses.iter().all(Witness::is_dead));
    assert_eq!(process.exited().map(Exit::code), Some(137));
}

#[tokio::test]
async fn a_start_that_nobody_waits_for_is_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let keeper = Keeper::new(false);
    let (streams, reader) = one_pipe();
    {
        let start = keeper.start(bash("echo $$; sleep 300", folder.path()), streams);
        tokio::pin!(start);
        // One poll hands the job over.
        assert!(futures_poll_once(start.as_mut()).await);
    }
    // Either it never started, or it was killed: in both cases the pipe comes to its end.
    timed(text(reader)).await;
}

/// Polls a future once; whether it is still pending.
async fn futures_poll_once(mut future: std::pin::Pin<&mut impl Future>) -> bool {
    std::future::poll_fn(|context| std::task::Poll::Ready(future.as_mut().poll(context).is_pending())).await
}

#[tokio::test]
async fn many_starts_leave_no_descriptor_behind() {
    if !alone("spawn::keeper::tests::many_starts_leave_no_descriptor_behind") {
        return;
    }
    let keeper = Keeper::new(false);
    let (process, _) = started(&keeper, "true").await;
    exit_of(&process).await;
    timed(keeper.end(&process, Duration::ZERO)).await;
    let count = || fs::read_dir("/proc/self/fd").expect("listed").count();
    let before = count();
    for _ in 0..50 {
        let (process, reader) = started(&keeper, "true").await;
        assert_eq!(text(reader).await, "");
        assert_eq!(exit_of(&process).await.code(), 0);
        timed(keeper.end(&process, Duration::ZERO)).await;
    }
    assert_eq!(count(), before);
}

#[tokio::test]
async fn a_program_is_looked_up_in_the_path_it_gets() {
    let keeper = Keeper::new(false);
    let (streams, reader) = one_pipe();
    let launch = Launch {
        program: PathBuf::from("echo"),
        arguments: vec!["hi".into()],
        environment: crate::testing::environment(),
        folder: PathBuf::from("/"),
        limits: None,
    };
    keeper.start(launch, streams).await.expect("started");
    assert_eq!(text(reader).await, "hi\n");
}
