//! Whole processes against each other: our program, GNU patch and git apply.
//!
//! `cargo bench -p tenon-apply-patch --bench whole_process [-- RUNS]`. Every run of every program starts
//! from fresh files; the programs take turns, so that a machine that gets slower does so for all. Told
//! are medians and the bounds that hold between them (docs/performance.md). Files lie in memory, so that
//! programs are compared and not disks; with TMPDIR they lie there.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout)]

#[path = "whole_process/cases.rs"]
mod cases;
#[path = "whole_process/race.rs"]
mod race;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use cases::Case;
use race::{Racer, peak_of, race};

/// The first argument of the program that is measured: this very one.
const CHILD: &str = "apply-patch";
/// Tells the child to end with a line on its peak memory.
const PEAK: &str = "WHOLE_PROCESS_PEAK";
/// Runs of each program, unless said otherwise.
const RUNS: usize = 15;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if args.first().is_some_and(|first| first == CHILD) {
        return child(&args[1..]);
    }
    let runs = args.iter().find_map(|arg| arg.to_str()?.parse().ok()).unwrap_or(RUNS);
    times(runs);
    memory();
    ExitCode::SUCCESS
}

/// The program `apply_patch`, as `tenon apply-patch` runs it.
fn child(args: &[OsString]) -> ExitCode {
    let cwd = std::env::current_dir().expect("a folder");
    let (mut stdin, mut stdout, mut stderr) = (io::stdin(), io::stdout(), io::stderr());
    let status = tenon_apply_patch::run_program(args, &mut stdin, &cwd, &mut stdout, &mut stderr);
    if std::env::var_os(PEAK).is_some() {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
        let peak = status.lines().find(|line| line.starts_with("VmHWM:")).expect("Linux");
        writeln!(stderr, "{peak}").expect("written");
    }
    ExitCode::from(status.expect("outputs can be written"))
}

/// A bound on one median in terms of another: what, the figure, the bound.
fn tell(what: &str, ratio: f64, bound: f64) {
    let verdict = if ratio <= bound { "holds" } else { "MISSED" };
    println!("  {what}: {ratio:.2} (bound {bound}) {verdict}");
}

fn times(runs: usize) {
    println!("medians of {runs} runs in ms, programs in turn, files in {}\n", race::folder().display());
    println!("{:<42} {:>9} {:>9} {:>9}", "", "tenon", "GNU patch", "git apply");
    let row = |case: &Case| {
        let medians = race(case, &Racer::ALL, runs);
        let shown = |racer: Racer| medians.get(&racer).map_or("-".to_owned(), |ms| format!("{ms:.1}"));
        let [ours, gnu, git] = Racer::ALL.map(shown);
        println!("{:<42} {ours:>9} {gnu:>9} {git:>9}", case.name);
        medians
    };
    let large = row(&cases::large_file());
    let many = row(&cases::many_files());
    let [first_pass, last_pass, twice] = cases::pathological();
    let (first_pass, last_pass, twice) = (row(&first_pass), row(&last_pass), row(&twice));
    println!();
    tell("100 hunks, of GNU patch", large[&Racer::Tenon] / large[&Racer::GnuPatch], 1.2);
    tell("1,000 files, of GNU patch", many[&Racer::Tenon] / many[&Racer::GnuPatch], 0.8);
    tell("last pass, of the first pass", last_pass[&Racer::Tenon] / first_pass[&Racer::Tenon], 3.0);
    tell("twice the lines, of the lines", twice[&Racer::Tenon] / last_pass[&Racer::Tenon], 2.3);
}

fn memory() {
    println!("\npeak memory of the process\n");
    for case in cases::memory() {
        let size = case.largest_file();
        let peak = peak_of(&case);
        let ratio = peak as f64 / size as f64;
        tell(&format!("{}, {} KiB of {} KiB", case.name, peak / 1024, size / 1024), ratio, 4.0);
    }
}
