//! What the program says while it works: events to lines.
//!
//! [`Output`] takes events from the runtime without ever making it wait, and writes them on a thread of its own.
//! [`json`] and [`human`] are the two ways to write them, [`text`] makes foreign text fit to be shown.

mod human;
mod json;
mod sink;
mod text;

use std::io::{self, Write};

use tenon_tools::{Event, McpServerState};

pub(crate) use human::{HumanPrinter, Style};
pub(crate) use json::JsonPrinter;
pub(crate) use sink::{Output, OutputEnd};
pub(crate) use text::{first_line, neutral};

/// Writes events, one after the other.
pub(crate) trait Printer: Send {
    /// Writes one.
    ///
    /// # Errors
    /// The writer's.
    fn print(&mut self, event: Event, out: &mut dyn Write) -> io::Result<()>;

    /// Writes what is to be said when nothing more will come.
    ///
    /// # Errors
    /// The writer's.
    fn finish(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// What an operator should know of an MCP server: that it is not there, and why.
pub(crate) fn mcp_trouble(server: &str, state: McpServerState) -> Option<String> {
    match state {
        McpServerState::Failed { message } => Some(format!("MCP server {server} did not start: {message}")),
        McpServerState::Died { message } => Some(format!("MCP server {server} has gone: {message}")),
        McpServerState::Starting | McpServerState::Ready { .. } | McpServerState::Closed => None,
    }
}

/// An argument vector as a shell would read it.
pub(crate) fn shell_words(argv: &[String]) -> String {
    // A NUL cannot stand in an argument that was executed; nor can it be quoted.
    shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| argv.join(" "))
}
