//! What everybody is doing, for a run that hangs: the program and its descendants, thread by thread, and the end of the
//! session's file.

use std::fmt::Write as _;
use std::fs;

use super::place::Place;
use super::processes;

/// How many of the last lines of the session's file are shown, and how much of each.
const LINES: usize = 8;
const LINE_CHARACTERS: usize = 300;

/// The report on a program, also put into the place as `hang.txt`.
pub fn of(place: &Place, program: u32) -> String {
    let mut report = String::new();
    for pid in std::iter::once(program).chain(processes::descendants(program)) {
        process(&mut report, pid);
    }
    for (name, text) in [("rollout", rollout(place)), ("stdout", place.stdout()), ("stderr", place.stderr())]
    {
        let lines: Vec<&str> = text.lines().collect();
        let _ = writeln!(report, "last lines of {name}, of {}:", lines.len());
        for line in &lines[lines.len().saturating_sub(LINES)..] {
            let _ = writeln!(report, "  {}", line.chars().take(LINE_CHARACTERS).collect::<String>());
        }
    }
    // The folder may be what is wrong.
    let _ = fs::write(place.root().join("hang.txt"), &report);
    report
}

fn rollout(place: &Place) -> String {
    let bytes = place.rollout().and_then(|path| fs::read(path).ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn process(report: &mut String, pid: u32) {
    let folder = format!("/proc/{pid}");
    let _ = writeln!(report, "process {pid}: {}", read(&folder, "cmdline").replace('\0', " "));
    for field in read(&folder, "status").lines().filter(|line| is_telling(line)) {
        let _ = writeln!(report, "  {field}");
    }
    for thread in entries(&format!("{folder}/task")) {
        let thread = format!("{folder}/task/{thread}");
        let facts = ["comm", "wchan", "syscall"].map(|name| read(&thread, name).trim().to_owned());
        let _ = writeln!(report, "  thread {}", facts.join(" | "));
        for frame in read(&thread, "stack").lines() {
            let _ = writeln!(report, "    {frame}");
        }
    }
    for number in entries(&format!("{folder}/fd")) {
        let target = fs::read_link(format!("{folder}/fd/{number}")).unwrap_or_default();
        let _ = writeln!(report, "  fd {number} -> {}", target.display());
    }
}

fn is_telling(line: &str) -> bool {
    let fields = ["Name:", "State:", "PPid:", "Threads:", "SigPnd:", "SigBlk:", "SigIgn:", "SigCgt:"];
    fields.iter().any(|field| line.starts_with(field))
}

fn read(folder: &str, name: &str) -> String {
    let bytes = fs::read(format!("{folder}/{name}")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn entries(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_by_key(|name| name.parse::<u32>().unwrap_or_default());
    names
}
