use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;

use super::*;

async fn sh(script: &str, limit: Duration) -> Finished {
    let client = ProcessClient { program: "/bin/sh".into(), args: vec!["-c".into()] };
    let launch = Launch {
        args: vec![script.into(), "sh".into(), "an argument".into()],
        environment: BTreeMap::from([
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("ONLY".into(), "this".into()),
        ]),
        cwd: "/".into(),
        limit,
    };
    client.run(launch).await.unwrap()
}

#[tokio::test]
async fn a_program_gets_arguments_environment_folder_and_no_input() {
    let finished = sh("echo $1 $ONLY $PWD; cat; echo err >&2; exit 3", Duration::from_secs(20)).await;
    assert_eq!(finished.exit, Exit::Code(3));
    assert_eq!(String::from_utf8(finished.stdout).unwrap(), "an argument this /\n");
    assert_eq!(finished.stderr, b"err\n");
}

#[tokio::test]
async fn a_death_by_signal_is_told() {
    assert_eq!(sh("kill -TERM $$", Duration::from_secs(20)).await.exit, Exit::Signal(15));
}

#[tokio::test]
async fn at_the_limit_the_whole_group_is_killed() {
    let begin = Instant::now();
    let finished = sh("echo before; sleep 600 & wait", Duration::from_millis(300)).await;
    assert_eq!(finished.exit, Exit::TimedOut);
    assert_eq!(finished.stdout, b"before\n");
    assert!(begin.elapsed() < GRACE, "the pipes were closed by the kill");
}

#[tokio::test]
async fn a_child_that_holds_the_output_open_is_waited_for() {
    let finished = sh("(sleep 0.3; echo late) & exit 0", Duration::from_secs(20)).await;
    assert_eq!((finished.exit, finished.stdout.as_slice()), (Exit::Code(0), &b"late\n"[..]));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let client = ProcessClient { program: "/no/such/program".into(), args: Vec::new() };
    let launch = Launch {
        args: Vec::new(),
        environment: BTreeMap::new(),
        cwd: "/".into(),
        limit: Duration::from_secs(1),
    };
    let error = client.run(launch).await.unwrap_err();
    assert_eq!(error.to_string(), "could not start /no/such/program");
}
