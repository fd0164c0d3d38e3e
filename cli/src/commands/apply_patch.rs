//! `tenon apply-patch`, and the program under the name `apply_patch` (runtime.md A11).

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;

use tenon_apply_patch::run_program;

use super::Surroundings;
use super::console::Console;
use crate::args::ApplyPatchArgs;
use crate::failure::{FAILED, Failure};

/// Applies the patch in the working folder.
///
/// # Errors
/// When its outcome cannot be told.
pub(crate) fn run(
    args: ApplyPatchArgs,
    stdin: Box<dyn Read + Send>,
    surroundings: &mut Surroundings,
) -> Result<u8, Failure> {
    let patch: Vec<OsString> = args.patch.into_iter().collect();
    let stdout = surroundings.take_stdout();
    Ok(by_name(&patch, &surroundings.cwd, stdin, stdout, &mut surroundings.console))
}

/// The program under its own name: `args` are what follows it.
pub(crate) fn by_name(
    args: &[OsString],
    cwd: &Path,
    mut stdin: Box<dyn Read + Send>,
    mut stdout: Box<dyn Write + Send>,
    console: &mut Console,
) -> u8 {
    let mut stderr = Vec::new();
    let done = run_program(args, &mut stdin, cwd, &mut stdout, &mut stderr);
    console.text(&String::from_utf8_lossy(&stderr));
    done.unwrap_or_else(|error| {
        console.error(&format!("cannot write standard output: {error}"));
        FAILED
    })
}
