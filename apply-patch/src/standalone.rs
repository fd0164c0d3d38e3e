//! The program `apply_patch` (runtime.md A11).
//!
//! Unlike the tool it applies hunk by hunk: the first failure stops it, and what was done before stands
//! (A6.1).

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::commit::commit_now;
use crate::error::{ParseError, VerifyError};
use crate::fs::Fs;
use crate::parser::parse_patch;
use crate::patch::{Hunk, Patch};
use crate::plan::Planner;
use crate::report::Summary;
use crate::stage::Stager;
use crate::walk::NearFs;

const OK: u8 = 0;
const FAILED: u8 = 1;
const USAGE: u8 = 2;

const USAGE_TEXT: &str = "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n";
const NOT_UTF8: &str = "Error: apply_patch requires a UTF-8 PATCH argument.\n";
const TOO_MANY: &str = "Error: apply_patch accepts exactly one argument.\n";
const NOTHING: &str = "No files were modified.\n";

/// Runs the program: `args` are its arguments without its name, `cwd` is absolute. Gives the exit
/// status: 0 done, 1 failed, 2 wrong usage.
///
/// # Errors
/// Only when an output cannot be written.
pub fn run_program(
    args: &[OsString],
    stdin: &mut dyn Read,
    cwd: &Path,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> io::Result<u8> {
    match read_patch(args, stdin).and_then(|text| apply(&text, cwd, &NearFs::new(cwd))) {
        Ok(summary) => {
            stdout.write_all(summary.success_text().as_bytes())?;
            stdout.flush()?;
            Ok(OK)
        }
        Err((status, message)) => {
            stderr.write_all(message.as_bytes())?;
            stderr.flush()?;
            Ok(status)
        }
    }
}

type Exit = (u8, String);

fn failed(message: impl std::fmt::Display) -> Exit {
    (FAILED, format!("{message}\n"))
}

/// The patch's text: the one argument, or else standard input.
fn read_patch(args: &[OsString], stdin: &mut dyn Read) -> Result<String, Exit> {
    match args {
        [patch] => patch.to_str().map(str::to_owned).ok_or((FAILED, NOT_UTF8.to_owned())),
        [] => {
            let mut text = String::new();
            stdin
                .read_to_string(&mut text)
                .map_err(|error| failed(format!("Error: Failed to read PATCH from stdin.\n{error}")))?;
            if text.is_empty() { Err((USAGE, USAGE_TEXT.to_owned())) } else { Ok(text) }
        }
        [first, ..] if first.to_str().is_none() => Err((FAILED, NOT_UTF8.to_owned())),
        [_, ..] => Err((USAGE, TOO_MANY.to_owned())),
    }
}

fn apply(text: &str, cwd: &Path, fs: &dyn Fs) -> Result<Summary, Exit> {
    let patch = parse_patch(text).map_err(|error| failed(parse_text(&error)))?;
    if patch.hunks.is_empty() {
        return Err((FAILED, NOTHING.to_owned()));
    }
    apply_hunks(&patch, cwd, fs)
}

fn apply_hunks(patch: &Patch, cwd: &Path, fs: &dyn Fs) -> Result<Summary, Exit> {
    let mut planner = Planner::direct(cwd, fs);
    let mut stager = Stager::direct(fs);
    let mut summary = Summary::default();
    for hunk in &patch.hunks {
        let change = planner.change(hunk).map_err(|error| failed(verify_text(hunk, &error)))?;
        commit_now(fs, &mut stager, &change).map_err(failed)?;
        summary.note(change.kind(), &change.listed);
    }
    Ok(summary)
}

/// The program's own wording of a parse error (A6.4).
fn parse_text(error: &ParseError) -> String {
    match error {
        ParseError::Patch(message) => format!("Invalid patch: {message}"),
        ParseError::Hunk { message, line } => format!("Invalid patch hunk on line {line}: {message}"),
    }
}

/// The failures of a change without a verification before it (A6): a file to delete is not read.
fn verify_text(hunk: &Hunk, error: &VerifyError) -> String {
    match (hunk, error) {
        (_, VerifyError::ReadForDelete { path, .. }) => format!("Failed to delete file {}", path.display()),
        (Hunk::Add { .. }, VerifyError::ReadForUpdate { path, .. }) => {
            format!("Failed to write file {}", path.display())
        }
        (_, other) => other.to_string(),
    }
}

#[cfg(test)]
#[path = "standalone_tests.rs"]
mod tests;
