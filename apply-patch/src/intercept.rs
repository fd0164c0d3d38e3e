//! Patches inside commands (runtime.md A8).
//!
//! Models reach for `apply_patch` in a shell as well. When a command is nothing but a patch, it is
//! taken over before anything runs; when it is more than that, it is left alone.

use tenon_shell_parse::{script_of, whole_script_heredoc};

use crate::grammar::BEGIN_PATCH;
use crate::parser::parse_patch;

/// Names under which a command is this tool.
const COMMANDS: [&str; 2] = ["apply_patch", "applypatch"];

/// Told to a model that passed a bare patch as a command (A7.6).
pub(crate) const IMPLICIT: &str =
    "patch detected without explicit call to apply_patch. Rerun as [\"apply_patch\", \"<patch>\"]";

/// A command that is a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchCommand {
    /// The tool is called, with this text.
    Explicit {
        /// The patch, not parsed yet.
        patch: String,
        /// Where a leading `cd` goes, as written: relative to the command's own folder.
        cd: Option<String>,
    },
    /// A whole patch stands where a command should.
    Implicit,
}

/// What `argv` is to this tool; none for a command that is not a patch and nothing else (A8.1 to A8.3).
#[must_use]
pub fn patch_command(argv: &[String]) -> Option<PatchCommand> {
    match argv {
        [command, patch] if is_tool(command) => {
            return Some(PatchCommand::Explicit { patch: patch.clone(), cd: None });
        }
        [patch] if is_patch(patch) => return Some(PatchCommand::Implicit),
        _ => {}
    }
    let script = script_of(argv)?.script;
    if let Some(call) = whole_script_heredoc(script).filter(|call| is_tool(&call.command)) {
        return Some(PatchCommand::Explicit { patch: call.body, cd: call.cd });
    }
    is_patch(script).then_some(PatchCommand::Implicit)
}

fn is_tool(command: &str) -> bool {
    COMMANDS.contains(&command)
}

fn is_patch(text: &str) -> bool {
    text.contains(BEGIN_PATCH) && parse_patch(text).is_ok()
}

#[cfg(test)]
#[path = "intercept_tests.rs"]
mod tests;
