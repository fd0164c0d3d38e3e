//! Everything that a run is given.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

/// One run of the program: all that it sees of the process it runs in.
pub struct Invocation {
    /// The arguments, the program's name first: called `apply_patch`, it is that.
    pub args: Vec<OsString>,
    /// The variables of the environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// The working folder, absolute.
    pub cwd: PathBuf,
    /// Standard input.
    pub stdin: Box<dyn Read + Send>,
    /// Standard output.
    pub stdout: Box<dyn Write + Send>,
    /// Standard error.
    pub stderr: Box<dyn Write + Send>,
    /// What is known of the terminal.
    pub terminal: TerminalInfo,
    /// The terminal that a person sits at, opened for questions and their answers. None where nobody does.
    pub tty: Option<File>,
    /// The first Ctrl-C, SIGTERM or SIGHUP: ends the turn and waits for its children.
    pub cancellation: CancellationToken,
    /// The second one: quits.
    pub quit: CancellationToken,
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment holds secrets.
        f.debug_struct("Invocation").field("args", &self.args).field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

/// What is known of the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TerminalInfo {
    /// Whether standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether standard input is a terminal.
    pub stdin_is_terminal: bool,
    /// The width of the terminal, in characters, where it is known.
    pub columns: Option<u16>,
}

/// The variables of the environment.
#[derive(Debug, Clone)]
pub(crate) struct Environment(pub(crate) BTreeMap<OsString, OsString>);

impl Environment {
    /// A variable's value; an empty one counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A variable's value where it is text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.to_str()
    }
}
