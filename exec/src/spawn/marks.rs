//! What tells that a process was started by a command of a session, wherever it has gone since: the session's id in its
//! environment (runtime.md B5). One that clears its environment is not told.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use rustix::process::Pid;

use super::procfs;
use crate::environment::Environment;

/// The variable that all commands have.
pub(super) const MARK: &str = "TENON_SESSION_ID";

/// The ids that commands were given.
#[derive(Debug, Default)]
pub(super) struct Marks(BTreeSet<OsString>);

impl Marks {
    /// Takes note of the mark in the environment of a command; gives it where it is a new one.
    pub(super) fn note<'a>(&mut self, environment: &'a Environment) -> Option<&'a OsStr> {
        let mark = environment.get(OsStr::new(MARK))?;
        self.0.insert(mark.clone()).then_some(mark)
    }

    /// Whether a process was started with one of them.
    pub(super) fn bears(&self, process: Pid) -> bool {
        procfs::variable(process, MARK).is_some_and(|mark| self.0.contains(&mark))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &OsStr> {
        self.0.iter().map(OsString::as_os_str)
    }
}
