//! What the model reads and writes.
//!
//! ```text
//! pragma.rs        the text of `exec`: a script, and perhaps a line of wishes
//! reply.rs         a cell's reply, cut to what the model wants to see
//! names.rs         what scripts call a tool by
//! typescript.rs    a schema as a type
//! declaration.rs   a tool as a member of `tools`
//! catalogue.rs     the tools of one step that scripts can call
//! description.rs   `exec` and `wait`, in words
//! layer.rs         the list of tools that the model is shown
//! ```

mod catalogue;
mod declaration;
mod description;
mod layer;
mod names;
mod pragma;
mod reply;
#[cfg(test)]
mod testing;
mod typescript;

pub(crate) use catalogue::Catalogue;
pub(crate) use description::{exec_spec, wait_spec};
pub use layer::{CodeModeLayer, DirectTools, with_code_mode};
pub(crate) use pragma::{ScriptSource, parse_source};
pub(crate) use reply::reply_output;

/// The tool that runs scripts.
pub(crate) const EXEC: &str = "exec";
/// The tool that waits for scripts that go on.
pub(crate) const WAIT: &str = "wait";
