//! What was said and done, on disk (runtime.md D11).
//!
//! # Layout, in the order of a line
//! Out: a [`RolloutRecorder`] (`recorder`) takes lines, those of the call `journal` among them; they wait in `queue`
//! for the one `writer`, which keeps in `backlog` what a [`LineFile`] does not take, and long outputs as `copies` beside
//! the file. `layout`, `lines` and `git` say where a file lies, what belongs in it and how it begins.
//!
//! In: `locate` finds a file, `reader` reads its lines (`one_line`), `line_kind` says what each of them is, `replay` makes
//! a history of them (`turns`: what was rolled back). [`RolloutRecorder::resume`] goes on from one: `settle` gives every
//! call that was left open an output, from what the journal knows (`facts`, `processes`); `recover` says which of them may
//! be taken up again.
//!
//! `system` is what all of this asks of the operating system.

mod backlog;
mod copies;
mod error;
mod facts;
mod git;
mod journal;
mod layout;
mod line_file;
mod line_kind;
mod lines;
mod locate;
mod one_line;
mod processes;
mod queue;
mod reader;
mod recorder;
mod recover;
mod replay;
mod resume;
mod settle;
mod stamp;
mod system;
mod turns;
mod writer;

#[cfg(test)]
mod fake_disk;
#[cfg(test)]
mod fake_system;
#[cfg(test)]
mod opening_tests;
#[cfg(test)]
mod test_support;

pub use backlog::MAX_BACKLOG_BYTES;
pub use copies::{MAX_COPIES_BYTES, MIN_COPY_BYTES, OUTPUT_LOST};
pub use error::{RolloutError, SaveError};
pub use layout::rollout_path;
pub use line_file::{AppendFile, LineFile, Tail};
pub use line_kind::{LineKind, user_text};
pub use locate::{FoundRollout, find_rollout, newest_rollout, read_meta};
pub use queue::{QUEUED_COMMANDS, QUEUED_FACTS};
pub use reader::{
    LoadedLine, LoadedRollout, MAX_LINE_BYTES, MAX_SKIPPED_TOLD, RolloutLines, SkipReason, SkippedLine,
};
pub use recorder::{Pending, RecorderHost, RolloutRecorder};
pub use recover::{CHECK_PATIENCE, MayRecover, OpenCall, Recovering, Reopened};
pub use resume::Resumed;
pub use settle::{NOT_RUN, OUTCOME_UNKNOWN, SettledCall, Settlement};
pub use stamp::timestamp;
