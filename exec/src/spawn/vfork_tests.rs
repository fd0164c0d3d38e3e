use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use pretty_assertions::assert_eq;

use super::*;
use crate::testing::{bash, one_pipe};

/// Starts a program whose set-up is `set_up`, and gives what it prints.
fn printed(launch: &Launch, set_up: &mut dyn FnMut() -> io::Result<()>) -> io::Result<String> {
    let (streams, reader) = one_pipe();
    let streams = streams.into_descriptors()?;
    // SAFETY: the set-ups of these tests make system calls at most.
    #[allow(unsafe_code)]
    let pid = unsafe { start(launch, streams, set_up) }?;
    let text = io::read_to_string(fs::File::from(reader))?;
    waitpid(Some(pid), WaitOptions::empty())?;
    Ok(text)
}

fn run(launch: &Launch) -> io::Result<String> {
    printed(launch, &mut || Ok(()))
}

#[test]
fn signals_are_as_a_program_expects_them() {
    // The Rust runtime ignores SIGPIPE and handles SIGSEGV; this thread blocks all signals when it starts a child.
    let script = "while read -r name mask; do case $name in Sig[BIC]*) echo $name $mask; esac; done < /proc/self/status";
    let found = run(&bash(script, Path::new("/"))).expect("started");
    let masks: Vec<(&str, u64)> = found
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, mask)| (name, u64::from_str_radix(mask, 16).expect("a mask")))
        .collect();
    let mask = |wanted: &str| masks.iter().find(|(name, _)| *name == wanted).expect("told").1;
    let pipe = 1 << (libc::SIGPIPE - 1);
    assert_eq!((mask("SigBlk"), mask("SigIgn") & pipe), (0, 0), "{found}");
}

#[test]
fn an_error_of_the_set_up_is_that_of_the_start_and_leaves_no_child() {
    let mut pid = 0;
    let error = printed(&bash("echo never", Path::new("/")), &mut || {
        // The memory is ours.
        pid = rustix::process::getpid().as_raw_nonzero().get();
        Err(Errno::XDEV.into())
    });
    assert_eq!(error.expect_err("refused").raw_os_error(), Some(libc::EXDEV));
    assert_ne!(pid, rustix::process::getpid().as_raw_nonzero().get());
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "it is reaped");
}

#[test]
fn a_script_that_names_no_interpreter_is_run_by_the_shell() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script");
    fs::write(&script, "echo \"$0|$1|$2\"\n").expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("executable");
    let launch = |program: PathBuf| Launch {
        program,
        arguments: vec!["a b".into(), "c".into()],
        environment: [("PATH".into(), format!("/nowhere::{}", folder.path().display()).into())].into(),
        folder: "/".into(),
        limits: None,
    };
    let expected = format!("{}|a b|c\n", script.display());
    assert_eq!(run(&launch(script.clone())).expect("started"), expected);
    assert_eq!(run(&launch("script".into())).expect("found"), expected);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o644)).expect("set");
    let forbidden = run(&launch("script".into())).expect_err("not executable");
    assert_eq!(forbidden.raw_os_error(), Some(libc::EACCES));
    let missing = run(&launch("no-such-script".into())).expect_err("not there");
    assert_eq!(missing.raw_os_error(), Some(libc::ENOENT));
}

#[test]
fn many_threads_start_at_once() {
    let start = || {
        for round in 0..20 {
            let script = format!("echo {round}; exit 7");
            assert_eq!(run(&bash(&script, Path::new("/"))).expect("started"), format!("{round}\n"));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(start);
        }
    });
}
