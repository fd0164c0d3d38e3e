//! How much memory a patch takes, seen from outside: a process of its own, by the kernel's word.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout)]

mod support;

use std::process::Command;

use support::*;

/// Says to the child which folder it works in.
const CHILD: &str = "TENON_TEST_MEMORY";
/// Size of the files.
const SIZE: usize = 512 << 10;
/// What may differ from process to process.
const SLACK: usize = 256 << 10;
/// Bytes of memory for each byte of the file, at most.
const FACTOR: usize = 4;

const NAME: &str = "a_patch_takes_four_times_the_file_at_most";

/// The child: patches the file, and tells the most that it had resident at once, in bytes.
fn child(root: &str) {
    let patch = std::fs::read_to_string(format!("{root}/patch")).expect("there");
    let root = std::path::Path::new(root);
    let mut nothing: &[u8] = &[];
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = tenon_apply_patch::run_program(&[patch.into()], &mut nothing, root, &mut out, &mut err)
        .expect("written");
    assert_eq!(status, 0, "{}", String::from_utf8_lossy(&err));
    println!("peak {}", peak());
}

fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("Linux");
    line.split_whitespace().nth(1).expect("a number").parse::<usize>().expect("a number") * 1024
}

fn peak_for(file: &[u8], body: &str) -> usize {
    let folder = Folder::with(&[("big", file)]);
    let patch = format!("*** Begin Patch\n*** Update File: big\n{body}\n*** End Patch\n");
    folder.write("patch", patch.as_bytes());
    let output = Command::new(std::env::current_exe().expect("known"))
        .args(["--exact", NAME, "--nocapture"])
        .env(CHILD, &folder.root)
        .output()
        .expect("runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.read("big").ends_with(b"changed\n"));
    let peak = told.split_once("peak ").expect("told").1;
    peak.split_whitespace().next().expect("told").parse().expect("a number")
}

#[test]
fn a_patch_takes_four_times_the_file_at_most() {
    if let Ok(root) = std::env::var(CHILD) {
        return child(&root);
    }
    // What a process takes for itself, and for the harness of a test.
    let constant = peak_for(b"x\n", "-x\n+changed");
    let shapes: [(&str, &[u8]); 4] = [
        ("lines of 60 bytes", b"01234567890123456789012345678901234567890123456789012345678\n"),
        ("lines of two characters", b"00\n01\n02\n03\n"),
        ("empty lines", b"\n"),
        ("empty and one-letter lines", b"\na\n"),
    ];
    for (name, line) in shapes {
        let repeated = line.repeat(SIZE / line.len());
        // Every line is one of the patch; the last one matches in the first pass, or only in the last.
        let context: String =
            std::str::from_utf8(line).expect("text").lines().map(|line| format!(" {line}\n")).collect();
        for (last, sought) in [("last-line", "last-line"), ("last\u{2013}line ", "last-line")] {
            let file = [&repeated, last.as_bytes(), b"\n"].concat();
            let peak = peak_for(&file, &format!("{context}-{sought}\n+changed"));
            let taken = peak.saturating_sub(constant + SLACK);
            assert!(taken <= FACTOR * file.len(), "{name}, {last}: {taken} bytes for {}", file.len());
        }
    }
}
