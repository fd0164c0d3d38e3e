//! What the programs are set to: files, and one change to them in our format and as a unified diff.

use std::fmt::Write as _;
use std::path::Path;

/// Files, and one change to them.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    files: Vec<(String, String)>,
    /// The change in our format.
    pub(crate) patch: String,
    /// The same for the others; absent where they cannot do it.
    pub(crate) diff: Option<String>,
}

impl Case {
    pub(crate) fn write_files(&self, folder: &Path) {
        for (name, text) in &self.files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("inside")).expect("made");
            std::fs::write(path, text).expect("written");
        }
    }

    pub(crate) fn largest_file(&self) -> usize {
        self.files.iter().map(|(_, text)| text.len()).max().unwrap_or_default()
    }
}

/// Lines with three lines of context before and behind each that is replaced.
const CONTEXT: usize = 3;

/// Builds one change in both formats.
#[derive(Default)]
struct Change {
    patch: String,
    diff: String,
}

impl Change {
    fn file(&mut self, name: &str) {
        let _ = writeln!(self.patch, "*** Update File: {name}");
        let _ = writeln!(self.diff, "--- a/{name}\n+++ b/{name}");
    }

    /// Replaces one line.
    fn replace(&mut self, lines: &[String], at: usize, new: &str) {
        let (start, end) = (at.saturating_sub(CONTEXT), (at + 1 + CONTEXT).min(lines.len()));
        self.hunk(lines, start..end, at, new, str::to_owned);
    }

    /// The same with any lines shown, `spell`ed another way in our format.
    fn hunk(
        &mut self,
        lines: &[String],
        shown: std::ops::Range<usize>,
        at: usize,
        new: &str,
        spell: impl Fn(&str) -> String,
    ) {
        let (start, count) = (shown.start + 1, shown.len());
        self.patch.push_str("@@\n");
        let _ = writeln!(self.diff, "@@ -{start},{count} +{start},{count} @@");
        for index in shown {
            let line = &lines[index];
            let sign = if index == at { '-' } else { ' ' };
            let _ = writeln!(self.patch, "{sign}{}", spell(line));
            let _ = writeln!(self.diff, "{sign}{line}");
            if index == at {
                let _ = writeln!(self.patch, "+{new}");
                let _ = writeln!(self.diff, "+{new}");
            }
        }
    }

    fn case(self, name: &'static str, files: Vec<(String, String)>) -> Case {
        let patch = format!("*** Begin Patch\n{}*** End Patch\n", self.patch);
        Case { name, files, patch, diff: Some(self.diff) }
    }
}

fn text_of(lines: &[String]) -> String {
    lines.iter().fold(String::new(), |text, line| text + line + "\n")
}

/// 100,000 lines of source, 100 hunks all over it.
pub(crate) fn large_file() -> Case {
    let line = |index: usize| match index % 10 {
        0 => String::new(),
        9 => "}".to_owned(),
        _ => format!("    let value_{index} = compute({}, \"some text\");", index * 7 % 1000),
    };
    let lines: Vec<String> = (0..100_000).map(line).collect();
    let mut change = Change::default();
    change.file("large.rs");
    for hunk in 0..100 {
        change.replace(&lines, hunk * 1000 + 504, "    let value = changed();");
    }
    change.case("100,000 lines, 100 hunks", vec![("large.rs".to_owned(), text_of(&lines))])
}

/// 1,000 files of 20 lines, one hunk each.
pub(crate) fn many_files() -> Case {
    let mut change = Change::default();
    let mut files = Vec::new();
    for number in 0..1000 {
        let name = format!("d{}/file{number}.txt", number % 10);
        let lines: Vec<String> = (0..20).map(|line| format!("line {line} of file {number}")).collect();
        change.file(&name);
        change.replace(&lines, 10, "another line");
        files.push((name, text_of(&lines)));
    }
    change.case("1,000 files of 20 lines, a hunk each", files)
}

/// Near-equal lines with an en dash; the hunk is the last twenty of them. As they are written, and with
/// a plain dash, which only the last pass takes for the same.
fn near_equal(name: &'static str, count: usize, plain: bool) -> Case {
    let mut lines: Vec<String> =
        (0..count).map(|index| format!("    total = count \u{2013} {}; // step", index % 3)).collect();
    lines.push("    done = count \u{2013} 9; // end".to_owned());
    let spell = |line: &str| if plain { line.replace('\u{2013}', "-") } else { line.to_owned() };
    let mut change = Change::default();
    change.file("near.rs");
    change.hunk(&lines, count - 20..count + 1, count, "    changed();", spell);
    let case = change.case(name, vec![("near.rs".to_owned(), text_of(&lines))]);
    if plain { Case { diff: None, ..case } } else { case }
}

/// 50,000 near-equal lines matched by the first pass and by the last, and twice as many by the last.
pub(crate) fn pathological() -> [Case; 3] {
    [
        near_equal("50,000 near-equal lines, first pass", 50_000, false),
        near_equal("50,000 near-equal lines, last pass", 50_000, true),
        near_equal("100,000 near-equal lines, last pass", 100_000, true),
    ]
}

/// How the lines of a file look, by their number.
type Line = fn(usize) -> String;

/// Files of ten million bytes and more, their last line changed by the first pass and by the last.
pub(crate) fn memory() -> Vec<Case> {
    let (plain, dashed) = ("last-line", "last\u{2013}line");
    let shapes: [(&str, usize, Line, &str); 7] = [
        ("lines of 60 bytes, first pass", 500_000, numbered, plain),
        ("lines of 60 bytes, last pass", 500_000, numbered, dashed),
        ("lines of two characters, first pass", 5_000_000, two_characters, plain),
        ("lines of two characters, last pass", 5_000_000, two_characters, dashed),
        ("empty lines, first pass", 10_000_000, empty, plain),
        ("empty lines, last pass", 10_000_000, empty, dashed),
        ("empty and one-letter lines, last pass", 10_000_000, one_or_none, dashed),
    ];
    let case = |(name, count, line, last): (&'static str, usize, Line, &str)| {
        let mut lines: Vec<String> = (0..count).map(line).collect();
        lines.push(last.to_owned());
        let mut change = Change::default();
        change.file("big");
        let spell = |line: &str| line.replace('\u{2013}', "-");
        change.hunk(&lines, count - 10..count + 1, count, "changed", spell);
        change.case(name, vec![("big".to_owned(), text_of(&lines))])
    };
    shapes.into_iter().map(case).collect()
}

fn numbered(index: usize) -> String {
    format!("{index:059}")
}

fn empty(_: usize) -> String {
    String::new()
}

fn two_characters(index: usize) -> String {
    format!("{:02}", index % 4)
}

fn one_or_none(index: usize) -> String {
    if index.is_multiple_of(2) { "a".to_owned() } else { String::new() }
}
