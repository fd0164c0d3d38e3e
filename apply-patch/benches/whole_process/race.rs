//! Runs programs in turn and takes their times.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::cases::Case;
use crate::{CHILD, PEAK};

/// A program that can apply a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Racer {
    Tenon,
    GnuPatch,
    GitApply,
}

impl Racer {
    pub(crate) const ALL: [Self; 3] = [Self::Tenon, Self::GnuPatch, Self::GitApply];

    fn command(self) -> Command {
        let (program, args): (std::ffi::OsString, &[&str]) = match self {
            Self::Tenon => (std::env::current_exe().expect("known").into(), &[CHILD]),
            Self::GnuPatch => ("patch".into(), &["-p1", "--silent"]),
            Self::GitApply => ("git".into(), &["apply", "-p1"]),
        };
        let mut command = Command::new(program);
        command.args(args).stdout(Stdio::null());
        command
    }

    fn input(self, case: &Case) -> Option<&str> {
        match self {
            Self::Tenon => Some(&case.patch),
            Self::GnuPatch | Self::GitApply => case.diff.as_deref(),
        }
    }
}

/// The median time of each program that can do it, in milliseconds. What they leave must be the same.
pub(crate) fn race(case: &Case, racers: &[Racer], runs: usize) -> HashMap<Racer, f64> {
    let mut times: HashMap<Racer, Vec<f64>> = HashMap::new();
    let mut outcome = None;
    for _ in 0..runs {
        for racer in racers {
            let Some(input) = racer.input(case) else { continue };
            let (time, files) = run(case, *racer, input);
            times.entry(*racer).or_default().push(time);
            let expected = outcome.get_or_insert_with(|| files.clone());
            assert!(*expected == files, "{racer:?} leaves other files: {}", case.name);
        }
    }
    times.into_iter().map(|(racer, times)| (racer, median(times))).collect()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Where files lie.
pub(crate) fn folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let in_memory = std::env::var_os("TMPDIR").is_none() && memory.is_dir();
    if in_memory { memory.to_owned() } else { std::env::temp_dir() }
}

type Files = Vec<(String, Vec<u8>)>;

fn run(case: &Case, racer: Racer, input: &str) -> (f64, Files) {
    let scratch = tempfile::tempdir_in(folder()).expect("a folder");
    let work = scratch.path().join("work");
    std::fs::create_dir(&work).expect("made");
    case.write_files(&work);
    let patch = scratch.path().join("patch");
    std::fs::write(&patch, input).expect("written");
    let mut command = racer.command();
    command.current_dir(&work).stdin(File::open(&patch).expect("there"));
    let start = Instant::now();
    let status = command.status().expect("it runs: is it installed?");
    let time = start.elapsed().as_secs_f64() * 1000.0;
    assert!(status.success(), "{racer:?}: {}", case.name);
    let mut files = Files::new();
    collect(&work, &mut files);
    (time, files)
}

fn collect(folder: &Path, files: &mut Files) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, files);
        } else {
            let name = path.file_name().expect("named").to_string_lossy().into_owned();
            files.push((name, std::fs::read(&path).expect("readable")));
        }
    }
}

/// The most memory that our program had resident at once, in bytes, by its own word.
pub(crate) fn peak_of(case: &Case) -> usize {
    let scratch = tempfile::tempdir_in(folder()).expect("a folder");
    case.write_files(scratch.path());
    let patch = scratch.path().join("patch");
    std::fs::write(&patch, &case.patch).expect("written");
    let mut command = Racer::Tenon.command();
    command.env(PEAK, "1").current_dir(scratch.path()).stdin(File::open(&patch).expect("there"));
    let output = command.output().expect("it runs");
    let told = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.success(), "{}: {told}", case.name);
    let kibibytes = told.split_whitespace().find_map(|word| word.parse::<usize>().ok());
    kibibytes.expect("the line of the kernel") * 1024
}
