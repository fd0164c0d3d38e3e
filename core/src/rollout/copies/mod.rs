//! The long texts of outputs, beside the file: a line `call_finished` refers to them by hash, so that no byte stands
//! twice in the file (cases.md K2).
//!
//! A copy is a bridge: once a `response_item` line with the same text is durable, the line is the text's place, and the
//! copy is removed. What no such line ever holds, the output of a nested call, stays here, up to
//! [`MAX_COPIES_BYTES`]. `response_item` lines themselves are never moved.
//!
//! # Layout
//! `texts`: which texts an output has. `folder`: where copies lie. `kept`: which lie there, and how surely.
//! `read_back`: an output as it was, for those who read a file.

mod folder;
mod kept;
mod read_back;
mod texts;

#[cfg(test)]
pub(super) use folder::CopyDisk;
pub(super) use folder::CopyFolder;
pub(super) use kept::{Copies, Need};
pub use read_back::OUTPUT_LOST;
pub(super) use read_back::ReadBack;
pub(super) use texts::{TextHash, has_long_text};

/// The shortest text that is kept beside the file, in bytes. Shorter ones stand in their lines.
pub const MIN_COPY_BYTES: usize = 16 * 1024;

/// How much may lie beside one file, in bytes. Beyond it, the output of a nested call is known by its hash alone, and
/// the operator is told; that of another call stands in its line.
pub const MAX_COPIES_BYTES: u64 = 256 * 1024 * 1024;

#[cfg(test)]
mod fault_tests;
