//! The turn's diff, shown as it grows.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::style::{Style, Tone};
use crate::output::text::{clip, neutral};

/// How many lines of one file's diff are shown.
pub(crate) const DIFF_MAX_LINES: usize = 30;

/// Lines shown around what is new in a diff that was shown before.
const NEWS_CONTEXT: usize = 2;

/// What stands before each file's part of the turn's diff: `diff --git a{path} b{path}`.
const HEAD: &str = "diff --git a";

/// What has been shown of the turn's diff, file by file.
#[derive(Debug, Default)]
pub(crate) struct Diffs {
    files: HashMap<PathBuf, File>,
}

#[derive(Debug, Default)]
struct File {
    text: String,
    added: usize,
    removed: usize,
}

impl Diffs {
    /// Shows those files of the whole turn's diff that look different from last time, each under its `name`. Of a file
    /// that was shown before only the part that is new is shown: its diff grows with every patch of the turn, and the
    /// whole of it for each small one would bury that.
    ///
    /// # Errors
    /// The writer's.
    pub(crate) fn show_new(
        &mut self,
        unified: &str,
        style: &Style,
        name: impl Fn(&Path) -> String,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut files = HashMap::new();
        for section in sections(unified) {
            let path = path_of(section);
            let lines: Vec<&str> = body(section).collect();
            let shown = self.files.get(&path).map(|file| body(&file.text).collect::<Vec<_>>());
            if let Some(news) = news(shown.as_deref(), &lines) {
                writeln!(out, "    {}", style.paint(Tone::Dim, &name(&path)))?;
                show(&lines, news, style, out)?;
            }
            files.insert(path, File::of(section));
        }
        self.files = files;
        Ok(())
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// How many lines a file has more and how many less.
    pub(crate) fn counts(&self, path: &Path) -> Option<(usize, usize)> {
        self.files.get(path).map(|file| (file.added, file.removed))
    }
}

impl File {
    fn of(section: &str) -> Self {
        let count = |sign: char| body(section).filter(|line| line.starts_with(sign)).count();
        Self { text: section.to_owned(), added: count('+'), removed: count('-') }
    }
}

/// The diff cut at its `diff --git` lines.
fn sections(unified: &str) -> impl Iterator<Item = &str> {
    let starts = unified.match_indices(HEAD).map(|(at, _)| at);
    let starts: Vec<usize> =
        starts.filter(|at| *at == 0 || unified.as_bytes().get(at - 1) == Some(&b'\n')).collect();
    let ends = starts.iter().skip(1).copied().chain([unified.len()]).collect::<Vec<_>>();
    starts.into_iter().zip(ends).filter_map(move |(start, end)| unified.get(start..end))
}

/// The path that a section's first line names twice.
fn path_of(section: &str) -> PathBuf {
    let names = section.lines().next().and_then(|line| line.strip_prefix(HEAD)).unwrap_or_default();
    // Twice the same path with ` b` between: the path itself may hold that too.
    let path = names.get(..names.len().saturating_sub(" b".len()) / 2);
    PathBuf::from(path.unwrap_or(names))
}

/// The hunks of a section, without the lines that only name files.
fn body(section: &str) -> impl Iterator<Item = &str> {
    section.lines().skip_while(|line| !line.starts_with("@@"))
}

/// Which of a diff's `lines` are news to who has seen those that were `shown`, with some around them; none if nothing
/// is. Where a hunk stands in the file is no news: that changes with every hunk before it.
fn news(shown: Option<&[&str]>, lines: &[&str]) -> Option<Range<usize>> {
    let Some(shown) = shown else { return Some(0..lines.len()) };
    let same = |(old, new): &(&&str, &&str)| old == new || old.starts_with("@@") && new.starts_with("@@");
    let before = shown.iter().zip(lines).take_while(same).count();
    let most = shown.len().min(lines.len()) - before;
    let behind = shown.iter().rev().zip(lines.iter().rev()).take(most).take_while(same).count();
    if before + behind == shown.len().max(lines.len()) {
        return None;
    }
    let end = lines.len() - behind;
    Some(before.saturating_sub(NEWS_CONTEXT)..(end + NEWS_CONTEXT).min(lines.len()))
}

fn show(lines: &[&str], news: Range<usize>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if news.start > 0 {
        writeln!(out, "    {}", style.paint(Tone::Dim, "…"))?;
    }
    let mut lines = lines.get(news).unwrap_or_default().iter();
    for line in lines.by_ref().take(DIFF_MAX_LINES) {
        let tone = match line.as_bytes().first() {
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Bad,
            Some(_) | None => Tone::Dim,
        };
        let line = neutral(line);
        let line = clip(&line, super::LINE_MAX_CHARS.min(style.columns()));
        writeln!(out, "    {}", style.paint(tone, &line))?;
    }
    match lines.count() {
        0 => Ok(()),
        more => writeln!(out, "    … {more} more lines of this file's diff …"),
    }
}
