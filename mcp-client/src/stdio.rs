//! Servers over standard streams: processes, lines, messages.

mod holder;
mod kin;
mod lines;
mod process;
mod scan;
mod stderr;
mod transport;
mod unreadable;
mod wire;

pub(crate) use holder::Holder;
pub(crate) use transport::{DISCOVER_TIMEOUT, StdioTransport};
pub(crate) use wire::{Pending, Received, receive_whole};
