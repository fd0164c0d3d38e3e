//! Who holds a process, whatever becomes of the connection to it.

use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::{Mutex, watch};

use super::process::{Ended, Process, Streams};
use crate::config::StdioConfig;
use crate::error::StartError;

/// Holds a process. Its group is killed when the last holder lets go, and ended in good order by [`end`](Self::end).
#[derive(Debug)]
pub(crate) struct Holder {
    process: Mutex<Option<Process>>,
    exited: watch::Receiver<Option<ExitStatus>>,
    ended: OnceLock<Ended>,
    /// Set when `server/discover` was not answered in time.
    gave_up_discover: AtomicBool,
}

impl Holder {
    /// Starts a server.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub(crate) fn spawn(
        server: &str,
        config: &StdioConfig,
        cwd: &Path,
    ) -> Result<(Arc<Self>, Streams), StartError> {
        let (process, streams) = Process::spawn(server, config, cwd)?;
        let holder = Self {
            exited: process.exited(),
            process: Mutex::new(Some(process)),
            ended: OnceLock::new(),
            gave_up_discover: AtomicBool::new(false),
        };
        Ok((Arc::new(holder), streams))
    }

    /// Fires when the process has ended; its group may live on.
    pub(super) fn exited(&self) -> watch::Receiver<Option<ExitStatus>> {
        self.exited.clone()
    }

    /// Ends the group, whose input has been closed, and says how. Whoever comes second waits for the first.
    pub(crate) async fn end(&self) -> Ended {
        let mut process = self.process.lock().await;
        if let Some(process) = process.take() {
            let ended = process.end().await;
            // Nobody else has one: the process is taken once.
            let _ = self.ended.set(ended);
        }
        self.ended().unwrap_or_default()
    }

    /// How it ended, once it has.
    pub(crate) fn ended(&self) -> Option<Ended> {
        self.ended.get().cloned()
    }

    pub(super) fn give_up_discover(&self) {
        self.gave_up_discover.store(true, Ordering::Relaxed);
    }

    /// Whether `server/discover` was not answered in time: the server may be of the newer era after all, only slow.
    pub(crate) fn gave_up_discover(&self) -> bool {
        self.gave_up_discover.load(Ordering::Relaxed)
    }
}
