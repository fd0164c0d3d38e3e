//! The patch format of the model: grammar, parser, matching, plan, commit and the tool.
//!
//! # The way of a patch
//! 1. [`parse_patch`] (or [`StreamingParser`], while the text still comes in) reads it.
//! 2. [`plan`] holds it against the files: every hunk is located and applied in memory, and nothing is
//!    written when one fails. The plan tells which files would be touched, and what they hold now.
//! 3. [`commit`] makes the plan true if the files are still the same, and tells what changed.
//!
//! [`ApplyPatchTool`] is this as a tool for the model, and takes patches out of shell commands;
//! [`run_program`] is it for the command line, hunk by hunk.
//!
//! # Layout
//! `grammar`, `patch`, `machine`, `parser`, `stream` (the format); `text`, `normal`, `seek`, `exact`,
//! `noted`, `replace`, `diff` (lines in memory); `fs`, `walk`, `real_fs`, `place` (the file system and its
//! paths); `plan`, `change`,
//! `stage`, `leftover`, `land`, `commit`, `delta` (from plan to disk); `report`, `standalone` (what is said);
//! `tool`, `prepared`, `retry`, `intercept` (the tool; patches inside shell commands).

mod change;
mod commit;
mod delta;
mod diff;
mod error;
mod exact;
mod fs;
mod grammar;
mod intercept;
mod land;
mod leftover;
mod line_hash;
mod machine;
mod normal;
mod noted;
mod parser;
mod patch;
mod place;
mod plan;
mod prepared;
#[cfg(test)]
mod properties_tests;
mod real_fs;
mod replace;
mod report;
mod retry;
mod seek;
mod stage;
mod standalone;
mod stream;
mod text;
mod tool;
mod walk;

pub use change::{ChangeKind, Content, FileFact, PlannedChange};
pub use commit::{CommitError, Committed, Failure, Watch, commit};
pub use delta::{Delta, DeltaChange, DeltaKind};
pub use error::{ParseError, VerifyError};
pub use fs::{Facts, Fs, Kind};
pub use grammar::{BEGIN_PATCH, END_PATCH, LARK_GRAMMAR};
pub use intercept::{PatchCommand, patch_command};
pub use parser::{StreamingParser, parse_patch};
pub use patch::{Chunk, Hunk, Patch};
pub use plan::{Plan, plan};
pub use report::{Summary, failure_text};
pub use standalone::run_program;
pub use stream::{PREVIEW_INTERVAL, PatchPreview, Preview};
pub use text::MAX_FILE_BYTES;
pub use tool::ApplyPatchTool;
pub use walk::RealFs;
