//! Commands in login shells.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::json;
use support::{Bench, ended, output_of, steady};

/// A bench whose user has this profile.
fn bench(profile: &str) -> (tempfile::TempDir, Bench) {
    let home = tempfile::tempdir().expect("a folder");
    fs::write(home.path().join(".bash_profile"), profile).expect("written");
    let mut bench = Bench::with(|config| {
        config.environment.insert("HOME".into(), home.path().into());
        config.environment.insert("PATH".into(), "/only/here:/usr/bin:/bin".into());
    });
    bench.step.allow_login_shell = true;
    (home, bench)
}

#[tokio::test]
async fn commands_see_what_the_profile_exports() {
    let (home, bench) = bench("echo run >> ~/runs; export MADE=yes PAGER=less; local_to_it=no");
    let cmd = "echo $MADE $PAGER $local_to_it $0 $SHLVL";
    for _ in 0..3 {
        let answer = bench.exec(json!({ "cmd": cmd })).await;
        assert_eq!(steady(&answer), ended(0, 5, "yes cat /bin/bash 1\n"), "{answer}");
    }
    let answer = bench.exec(json!({"cmd": cmd, "login": false})).await;
    assert_eq!(output_of(&answer), "cat /bin/bash 1\n");
    assert_eq!(fs::read_to_string(home.path().join("runs")).expect("read"), "run\n");
}

#[tokio::test]
async fn the_hosts_path_is_never_lost() {
    let (_home, bench) = bench("export PATH=/from/profile:/usr/bin");
    let answer = bench.exec(json!({"cmd": "echo $PATH"})).await;
    let path: Vec<&str> = output_of(&answer).trim_end().split(':').collect();
    assert_eq!(path[..3], ["/only/here", "/usr/bin", "/bin"]);
    assert!(path.contains(&"/from/profile"));
}

#[tokio::test]
async fn where_the_profile_cannot_be_read_the_shell_reads_it() {
    // What prints the environment is not what it should be, so there is nothing to go by.
    let (home, bench) = bench(
        "export MADE=yes; mkdir -p ~/bin; printf '#!/bin/sh\\nexit 1\\n' > ~/bin/env; \
                               chmod +x ~/bin/env; PATH=$HOME/bin:$PATH; echo run >> ~/runs",
    );
    for _ in 0..2 {
        let answer = bench.exec(json!({"cmd": "echo $MADE"})).await;
        assert_eq!(steady(&answer), ended(0, 1, "yes\n"));
    }
    assert_eq!(fs::read_to_string(home.path().join("runs")).expect("read"), "run\nrun\nrun\n");
}

#[tokio::test]
async fn a_cancelled_call_does_not_wait_for_the_profile() {
    let (home, bench) = bench("mkfifo ~/fifo; read _ < ~/fifo");
    let call = bench.call("c1", "exec_command", r#"{"cmd": "touch x"}"#);
    let running = call.clone();
    let answer = tokio::spawn(async move { running.text().await });
    let fifo = home.path().join("fifo");
    while !fifo.exists() {
        tokio::task::yield_now().await;
    }
    call.cancellation().cancel();
    let answer = answer.await.expect("answered");
    assert!(answer.ends_with(" seconds\naborted by user"), "{answer}");
    assert!(bench.told.facts().is_empty());
    bench.service.shutdown().await;
    assert!(!bench.cwd().join("x").exists());
}
