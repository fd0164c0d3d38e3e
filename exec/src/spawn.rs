//! Processes: how they are started, watched, ended and reaped.
//!
//! One thread owns them all ([`Keeper`]). It starts them, since the parent-death signal follows the thread that did;
//! it reaps them, so that no signal of ours can meet a number that has passed to another process; and it ends what is
//! left of them. Every process leads a session of its own, so that its descendants can be told from all others, in
//! whatever process group they are. What has
//! left by a `setsid` of its own is told by its parents as long as those live, and afterwards where this process may be a
//! subreaper (`adopted`); else it is not covered.

mod adopted;
mod children;
mod descriptor;
mod ending;
mod error;
mod keeper;
mod launch;
mod lifeline;
mod marks;
mod process;
mod procfs;
mod terminal;
mod vfork;
mod worker;

pub(crate) use descriptor::awaitable;
pub use error::SpawnError;
pub(crate) use error::check_folder;
pub(crate) use keeper::Keeper;
pub(crate) use launch::{Input, Launch, Streams};
pub(crate) use process::{Exit, Process};
pub(crate) use procfs::boot_id;
pub(crate) use terminal::{Keyboard, open_terminal};
