//! The patch format of the model: grammar, parser, matching, plan and commit.
//!
//! # The way of a patch
//! [`parse_patch`] (or [`StreamingParser`], while it still comes in) reads the text.

mod diff;
mod error;
mod grammar;
mod line_hash;
mod machine;
mod normal;
mod parser;
mod patch;
mod replace;
mod seek;
mod text;

pub use error::{ParseError, VerifyError};
pub use grammar::{BEGIN_PATCH, END_PATCH, LARK_GRAMMAR};
pub use parser::{StreamingParser, parse_patch};
pub use patch::{Chunk, Hunk, Patch};
