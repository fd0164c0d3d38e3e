//! Commands: their processes, sessions and output, and the tools exec_command and write_stdin.
//!
//! [`ExecService`] is all that a host needs: it makes the tools, the runner for hooks, and owns every process behind
//! them. Linux only: processes are told apart by `/proc` and held by pidfds.
//!
//! # Layout, in the order of a call
//! - `tools`: arguments, what is refused, what other tools take over; a call that waits, yields or is cancelled.
//! - `shell`, [`environment`](command_environment), `login`: what runs, and with which variables.
//! - `sandbox`: what holds a command to its sandbox mode, in the child before it becomes the command.
//! - `spawn`: the one thread that starts processes, reaps them, and ends whole sessions of them.
//! - `pump`, `output`, `buffer`: reading what is printed, under a bound, once for the model and once for the client.
//! - `session`, `limit`, `store`, `report`: commands that outlive their call, and who is told of their end.
//! - `notes`: what the model is told of ends that it has not seen.
//! - `runner`: the same for hooks.

mod buffer;
mod environment;
mod ids;
mod limit;
mod login;
mod notes;
mod output;
mod pump;
mod report;
mod runner;
mod sandbox;
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
pub use sandbox::SandboxError;
pub use service::{ExecConfig, ExecService, RunningSession};
pub use shell::{Shell, ShellKind};
pub use spawn::SpawnError;
