//! Why a command cannot be held to its sandbox mode.

use std::io;

/// A command cannot be held to its sandbox mode on this machine, and is not run without it.
#[derive(Debug, thiserror::Error)]
#[error("commands cannot be held to the sandbox mode `{mode}` on this machine: {step}: {error}", step = step.what_fails())]
pub struct SandboxError {
    mode: &'static str,
    step: Step,
    #[source]
    error: io::Error,
}

impl SandboxError {
    pub(super) fn new(mode: &'static str, step: Step, error: io::Error) -> Self {
        Self { mode, step, error }
    }
}

/// What was being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Step {
    Preparation = 1,
    Namespaces,
    UserMap,
    Mounts,
    Folder,
    Privileges,
    Landlock,
    Seccomp,
}

impl Step {
    const ALL: [Self; 8] = [
        Self::Preparation,
        Self::Namespaces,
        Self::UserMap,
        Self::Mounts,
        Self::Folder,
        Self::Privileges,
        Self::Landlock,
        Self::Seccomp,
    ];

    /// One byte that stands for it.
    pub(super) fn code(self) -> u8 {
        self as u8
    }

    pub(super) fn of_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.code() == code)
    }

    fn what_fails(self) -> &'static str {
        match self {
            Self::Preparation => "the sandbox cannot be made ready",
            Self::Namespaces => "no mount namespace can be made (user namespaces may be switched off)",
            Self::UserMap => "the user cannot be mapped into a user namespace",
            Self::Mounts => "the file system cannot be made read-only in a mount namespace",
            Self::Folder => "the working directory cannot be entered",
            Self::Privileges => "privileges cannot be given up",
            Self::Landlock => {
                "Landlock is not there, is switched off, or is too old (Linux 6.12 has what is needed)"
            }
            Self::Seccomp => "seccomp filters are not to be had",
        }
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
