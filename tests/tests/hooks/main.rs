//! Hooks of a file, with real shells and real tools.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(unreachable_pub, reason = "test code")]

#[path = "../../../exec/tests/support/alone.rs"]
mod alone;
mod documented;
mod reach;
mod rewrites;
mod robust;
mod spill;
mod support;
