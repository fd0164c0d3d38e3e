//! The program `tenon`: arguments, configuration, wiring and output (cli.md).
//!
//! A run is a function of its [`Invocation`]: arguments, environment, working folder, streams and cancellation come in
//! as values, so that a test can run the whole program in its own process. Only `main.rs` reads those of the process.
//!
//! # Layout, in the order of a run
//! `args`: what the command line says. `config`: what `config.toml`, `-c` and flags choose. `commands`: one file for
//! each command. `approver`: who is asked before a call runs. `replay`: recorded streams, and a model that says them again. `wiring`: from choices to a session with
//! its tools. `output`: events to lines.

#[cfg(tenon_without_hook_stages)]
compile_error!("a program without the stages of hooks is for measuring only");

mod approver;
mod args;
mod commands;
mod config;
mod failure;
mod home;
mod invocation;
mod output;
mod replay;
mod wiring;

pub use commands::run;
pub use invocation::{Invocation, TerminalInfo};
