use std::collections::BTreeMap;
use std::time::Duration;

use super::*;

async fn run(args: &[&str]) -> Finished {
    let launch = Launch {
        args: args.iter().map(Into::into).collect(),
        environment: BTreeMap::new(),
        cwd: "/".into(),
        limit: Duration::from_secs(20),
    };
    InProcessClient.run(launch).await.unwrap()
}

#[tokio::test]
async fn the_program_runs_with_what_it_is_given() {
    let finished = run(&["--version"]).await;
    assert_eq!(finished.exit, Exit::Code(0));
    assert!(finished.stdout.starts_with(b"tenon "), "{}", String::from_utf8_lossy(&finished.stdout));
}

#[tokio::test]
async fn a_wrong_command_line_has_the_status_of_one() {
    let finished = run(&["no-such-command"]).await;
    assert_eq!(finished.exit, Exit::Code(2));
    assert!(finished.stdout.is_empty());
    assert!(!finished.stderr.is_empty());
}
