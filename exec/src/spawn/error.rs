//! Why a process could not be started, in words that name the thing.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::launch::Launch;
use crate::sandbox::SandboxError;

/// Why a process could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The folder it was to start in is not there, or is there no more.
    #[error("working directory `{}` does not exist", .0.display())]
    NoFolder(PathBuf),
    /// What it was to start in is a file.
    #[error("working directory `{}` is not a directory", .0.display())]
    NotAFolder(PathBuf),
    /// The folder may not be entered.
    #[error("working directory `{}` cannot be entered: permission denied", .0.display())]
    ClosedFolder(PathBuf),
    /// The program is not there.
    #[error("program `{}` does not exist", .0.display())]
    NoProgram(PathBuf),
    /// The program is there, but what it is written for is not.
    #[error("program `{}` cannot be run: its interpreter does not exist", .0.display())]
    NoInterpreter(PathBuf),
    /// The program is there, but may not be executed, or is no program.
    #[error("program `{}` is not executable", .0.display())]
    NotExecutable(PathBuf),
    /// Arguments and environment are more than the system hands to a process.
    #[error(
        "the command is too long for the system: {arguments} bytes of arguments and {environment} bytes of \
         environment; put long text into a file"
    )]
    TooLong {
        /// Bytes of all arguments.
        arguments: usize,
        /// Bytes of all variables.
        environment: usize,
    },
    /// This process has as many files open as it may.
    #[error("too many open files (the limit is {limit})")]
    TooManyFiles {
        /// The soft limit.
        limit: String,
    },
    /// The user has as many processes as may be.
    #[error("too many processes")]
    TooManyProcesses,
    /// It cannot be held to its sandbox mode.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A byte that no argument, variable or path can hold.
    #[error("arguments, environment and working directory cannot contain a NUL byte")]
    Nul,
    /// The session is over.
    #[error("the session has ended")]
    Closed,
    /// Anything else.
    #[error("cannot start `{}`: {error}", .program.display())]
    Other {
        /// The program.
        program: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

impl SpawnError {
    /// What a failure of the system means for `launch`.
    pub(super) fn classify(launch: &Launch, error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::InvalidInput {
            return Self::Nul;
        }
        match Errno::from_io_error(&error) {
            Some(Errno::NOENT | Errno::NOTDIR) => missing(launch),
            Some(Errno::ACCESS | Errno::NOEXEC | Errno::ISDIR | Errno::PERM) => forbidden(launch),
            Some(Errno::TOOBIG) => {
                let environment = &launch.environment;
                Self::TooLong {
                    arguments: launch.arguments.iter().map(|argument| argument.len() + 1).sum(),
                    environment: environment.iter().map(|(name, value)| name.len() + value.len() + 2).sum(),
                }
            }
            Some(Errno::AGAIN) => Self::TooManyProcesses,
            _ => Self::from_io(&launch.program, error),
        }
    }

    /// A failure before there was anything to start, such as of a pipe for `program`.
    pub(crate) fn from_io(program: &Path, error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(Errno::MFILE | Errno::NFILE) => Self::TooManyFiles { limit: file_limit() },
            _ => Self::Other { program: program.to_owned(), error },
        }
    }
}

/// Whether a process can start in `folder`.
pub(crate) fn check_folder(folder: &Path) -> Result<(), SpawnError> {
    match folder.metadata() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(SpawnError::ClosedFolder(folder.to_owned()))
        }
        Err(_) => Err(SpawnError::NoFolder(folder.to_owned())),
        Ok(found) if !found.is_dir() => Err(SpawnError::NotAFolder(folder.to_owned())),
        Ok(_) if access(folder, Access::EXEC_OK).is_err() => Err(SpawnError::ClosedFolder(folder.to_owned())),
        Ok(_) => Ok(()),
    }
}

/// Something is not there: the folder, else the program, else what the program is written for.
fn missing(launch: &Launch) -> SpawnError {
    let program = &launch.program;
    match check_folder(&launch.folder) {
        Err(error) => error,
        Ok(()) if program.is_absolute() && program.exists() => SpawnError::NoInterpreter(program.clone()),
        Ok(()) => SpawnError::NoProgram(program.clone()),
    }
}

/// Something may not be used: the folder, else the program.
fn forbidden(launch: &Launch) -> SpawnError {
    match check_folder(&launch.folder) {
        Err(error) => error,
        Ok(()) => SpawnError::NotExecutable(launch.program.clone()),
    }
}

fn file_limit() -> String {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current.map_or_else(|| "that of the system".to_owned(), |limit| limit.to_string())
}
