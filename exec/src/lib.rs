//! Processes, sessions and their output; the tools exec_command and write_stdin.
mod buffer;
mod environment;
mod ids;
mod output;
mod pump;
mod report;
mod runner;
mod service;
mod session;
mod shell;
mod spawn;
mod store;
#[cfg(test)]
mod testing;
mod tools;

pub use environment::{Environment, PatternError, command_environment};
pub use ids::IdSource;
pub use service::{ExecConfig, ExecService, RunningSession};
pub use shell::{Shell, ShellKind};
pub use spawn::SpawnError;
