//! What can be read off a shell script without running it.
//!
//! Policy wants to know which programs a script starts, and `apply_patch` wants to know whether a
//! script is nothing but a patch fed to it. Both questions have an honest answer only for scripts of a
//! very plain kind. This crate parses bash (tree-sitter) and answers for those; for everything else
//! it says "not plain" (`None`), never a guess. Who wants to know what a script may not do asks the other way round:
//! for every command that can be found in it, read by a scanner of our own.
//!
//! # Layout
//! - [`plain_command_list`]: plain words joined by `&&`, `||`, `;`, `|` (runtime.md D10.3).
//! - [`whole_script_heredoc`]: a script that is one command fed by one heredoc, perhaps behind one
//!   `cd` (runtime.md A8.2).
//! - [`commands_within`]: every command that stands anywhere in a script, for those who look out for what must not
//!   run.
//! - [`script_of`]: the script inside an argument vector such as `["bash", "-lc", script]`
//!   (runtime.md A8.1).
//!
//! Nothing here expands, runs or reads anything, and no input panics.

mod argv;
mod commands;
mod heredoc;
mod plain;
mod scan;
mod syntax;
mod word;

pub use argv::{Shell, ShellScript, script_of};
pub use commands::{CommandInput, FoundCommand, FoundCommands, commands_within};
pub use heredoc::{HeredocCall, MAX_HEREDOC_HEAD_BYTES, whole_script_heredoc};
pub use plain::{Joint, MAX_PLAIN_SCRIPT_BYTES, PlainCommand, plain_command_list};
pub use scan::MAX_NESTING;
