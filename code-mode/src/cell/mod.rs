//! Cells by id, and who waits for them (runtime.md C8).
//!
//! ```text
//! session.rs   the scripts of a session: begin one, wait for one, stop one
//! cells.rs     its cells by id, and how many may be left alone
//! cell.rs      one cell: what its script has put out, how it stands, how it is stopped
//! observer.rs  who waits for a cell, at most one at a time
//! host.rs      what the engine asks of a cell while its script runs
//! call.rs      a script's call of a tool
//! call_ids.rs  what those calls are known by
//! output.rs    what was put out and not read
//! ```

mod call;
mod call_ids;
#[allow(clippy::module_inception, reason = "the cell of the cells")]
mod cell;
mod cells;
mod host;
mod observer;
mod output;
mod session;

pub use session::CodeMode;
pub(crate) use session::{DEFAULT_YIELD_TIME_MS, WaitFor};

#[cfg(test)]
#[path = "cell_tests.rs"]
mod tests;
