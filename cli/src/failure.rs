//! Why a run ends without having done what it was asked: one line, and an exit status.

use std::fmt::Display;

/// The exit status of a turn that was completed.
pub(crate) const COMPLETED: u8 = 0;
/// The exit status of a turn that failed.
pub(crate) const FAILED: u8 = 1;
/// The exit status of what cannot be done as it was asked: arguments, configuration, files that are not there.
pub(crate) const USAGE: u8 = 2;
/// The exit status of a run that was interrupted.
pub(crate) const INTERRUPTED: u8 = 130;

/// The end of a run that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// One of the constants of this module.
    pub(crate) status: u8,
    /// What to say, on one line; none says nothing.
    pub(crate) message: Option<String>,
}

impl Failure {
    /// What was asked cannot be done.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { status: USAGE, message: Some(message.to_string()) }
    }

    /// What was begun did not come to its end.
    pub(crate) fn failed(message: impl Display) -> Self {
        Self { status: FAILED, message: Some(message.to_string()) }
    }

    /// The user wanted it to end.
    pub(crate) fn interrupted() -> Self {
        Self { status: INTERRUPTED, message: None }
    }
}
