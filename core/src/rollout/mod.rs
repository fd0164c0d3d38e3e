//! What was said and done, on disk (runtime.md D11).
//!
//! # Layout, in the order of a line
//! [`RolloutRecorder`] (`recorder`) takes lines, [`journal`](crate::dispatch::CallJournal) lines of calls among them;
//! they wait in `queue` for the one `writer`, which keeps in `backlog` what a [`LineFile`] does not take.
//! `layout` and `lines` say where a file lies and what belongs in it, `git` what its first line says of a repository.

mod backlog;
mod error;
mod git;
mod journal;
mod layout;
mod line_file;
mod lines;
mod queue;
mod recorder;
mod stamp;
mod writer;

pub use backlog::MAX_BACKLOG_BYTES;
pub use error::{RolloutError, SaveError};
pub use layout::rollout_path;
pub use line_file::{AppendFile, LineFile, Tail};
pub use queue::{QUEUED_COMMANDS, QUEUED_FACTS};
pub use recorder::{Pending, RecorderHost, RolloutRecorder};
pub use stamp::timestamp;
