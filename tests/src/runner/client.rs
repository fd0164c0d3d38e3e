//! What the runner asks of a client, whether it is a program or a function.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;

/// How long after its time limit a client may take to end.
pub const GRACE: Duration = Duration::from_secs(5);

/// One run of a client.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Its arguments, without the program's name.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// The folder it is started in.
    pub cwd: PathBuf,
    /// After this long it is stopped.
    pub limit: Duration,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this status.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It had to be stopped at the time limit.
    TimedOut,
}

/// What a run left.
#[derive(Debug, Clone)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// Everything it printed.
    pub stdout: Vec<u8>,
    /// Everything it printed for the operator.
    pub stderr: Vec<u8>,
}

/// A client that scenarios are played against.
#[async_trait]
pub trait Client: Send + Sync {
    /// Runs it to its end, or to the time limit.
    ///
    /// # Errors
    /// When it could not be started, or its output could not be read.
    async fn run(&self, launch: Launch) -> anyhow::Result<Finished>;
}
