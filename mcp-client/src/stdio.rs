//! Servers over standard streams: processes, lines, messages.

mod holder;
mod lines;
mod process;
mod scan;
mod stderr;
mod transport;
mod unreadable;
mod wire;

pub(crate) use holder::Holder;
pub(crate) use transport::{DISCOVER_TIMEOUT, StdioTransport};
