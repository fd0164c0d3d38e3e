//! The patch format of the model: grammar, parser, matching, plan and commit.
//!
//! # The way of a patch
//! 1. [`parse_patch`] (or [`StreamingParser`], while the text still comes in) reads it.
//! 2. [`plan`] holds it against the files: every hunk is located and applied in memory, and nothing is
//!    written when one fails. The plan tells which files would be touched, and what they hold now.
//! 3. [`commit`] makes the plan true if the files are still the same, and tells what changed.
//!
//! [`run_program`] is the same for the command line, hunk by hunk.
//!
//! # Layout
//! `grammar`, `patch`, `machine`, `parser`, `stream` (the format); `text`, `normal`, `seek`, `replace`,
//! `diff` (lines in memory); `fs`, `real_fs`, `place` (the file system and its paths); `plan`, `change`,
//! `stage`, `land`, `commit`, `delta` (from plan to disk); `report`, `standalone` (what is said);
//! `intercept` (patches inside shell commands).

mod change;
mod commit;
mod delta;
mod diff;
mod error;
mod fs;
mod grammar;
mod land;
mod line_hash;
mod machine;
mod normal;
mod parser;
mod patch;
mod place;
mod plan;
#[cfg(test)]
mod properties_tests;
mod real_fs;
mod replace;
mod report;
mod seek;
mod stage;
mod standalone;
mod text;

pub use change::{ChangeKind, Content, FileFact, PlannedChange};
pub use commit::{CommitError, Committed, Failure, Watch, commit};
pub use delta::{Delta, DeltaChange, DeltaKind};
pub use error::{ParseError, VerifyError};
pub use fs::{Facts, Fs, Kind};
pub use grammar::{BEGIN_PATCH, END_PATCH, LARK_GRAMMAR};
pub use parser::{StreamingParser, parse_patch};
pub use patch::{Chunk, Hunk, Patch};
pub use plan::{Plan, plan};
pub use real_fs::RealFs;
pub use report::{Summary, failure_text, freeform_output};
pub use standalone::run_program;
pub use text::MAX_FILE_BYTES;
