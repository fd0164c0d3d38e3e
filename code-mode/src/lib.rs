//! JavaScript cells that call every allowed tool through the path of a direct call.
//!
//! # Layout
//! - `nested_tool`: what a script can call, and `reply`: what a cell has to say. Plain data that the rest agrees on.
//! - `surface`: all that the model reads and writes: pragma, declarations, descriptions, the layout of a reply.
//! - `engine`: runs one script. Knows of no session and no turn.
//! - `cell`: cells by id, and who waits for them.
//! - `tool`: `exec` and `wait`.

mod cell;
mod engine;
mod limits;
mod nested_tool;
mod reply;
mod surface;
mod tool;

pub use cell::CodeMode;
pub use nested_tool::{NestedKind, NestedTool, NestedTools};
pub use surface::{CodeModeLayer, DirectTools, with_code_mode};
pub use tool::{ExecTool, WaitTool};
