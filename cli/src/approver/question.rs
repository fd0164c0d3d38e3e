//! A question as a person reads it.

use std::fmt::Write as _;

use tenon_tools::{ApprovalRequest, ApprovalScope, CommandEffect, Effects, FirstRun, SandboxPermissions};

use crate::output::{neutral, shell_words};

/// Lines of a diff or of arguments that are shown.
const MAX_LINES: usize = 200;

/// The question: what would be done, exactly, why it is asked, and what can be answered.
pub(super) fn text(request: &ApprovalRequest) -> String {
    let ApprovalRequest {
        call_id: _,
        tool_name,
        source,
        effects,
        diff,
        arguments,
        reason,
        scopes,
        changed,
        first_run,
    } = request;
    let mut text = String::from("\n");
    let from = if source.is_nested() { ", called by a script," } else { "" };
    line(&mut text, &format!("{tool_name}{from} asks for approval:"));
    what(&mut text, effects);
    if let Some(arguments) = arguments {
        block(&mut text, &serde_json::to_string_pretty(arguments).unwrap_or_default());
    }
    if let Some(diff) = diff {
        block(&mut text, diff);
    }
    if let Some(reason) = reason {
        line(&mut text, &format!("reason: {reason}"));
    }
    if let Some(first) = first_run {
        line(&mut text, &ran_already(first));
    }
    if *changed {
        line(&mut text, "It was approved before, and what it would do has changed since.");
    }
    for scope in scopes {
        line(&mut text, &offer(scope, effects));
    }
    line(&mut text, "  n  no; words behind it are for the model");
    line(&mut text, "  q  no, and end the turn");
    text
}

/// What a person has to know who lets a command run a second time.
fn ran_already(first: &FirstRun) -> String {
    let FirstRun { exit_code, denial } = first;
    format!(
        "It has run already, in the sandbox, and failed with exit code {exit_code}. What it did until then stands; a \
         yes runs it a second time, from its beginning, without the sandbox.\n{denial}"
    )
}

/// What can be answered, and what it is good for.
fn offer(scope: &ApprovalScope, effects: &Effects) -> String {
    let ends = scope.ends();
    match scope {
        ApprovalScope::Once => format!("  y  yes; ends {ends}"),
        ApprovalScope::Session if effects.mcp.is_some() => {
            format!("  s  yes, and to this tool from now on, whatever its arguments; ends {ends}")
        }
        ApprovalScope::Session => format!("  s  yes, and to exactly the same from now on; ends {ends}"),
        ApprovalScope::Prefix { prefix, file: _ } => format!(
            "  p  yes, and to every command that begins with `{}`, without a sandbox; ends {ends}",
            shell_words(prefix)
        ),
        ApprovalScope::McpTool { server, tool, file: _ } => format!(
            "  a  yes, and don't ask again about {tool} of the MCP server {server}, in later sessions either; ends {ends}"
        ),
    }
}

fn what(text: &mut String, effects: &Effects) {
    let Effects { reads, writes, command, input: _, mcp, other } = effects;
    if let Some(CommandEffect { argv, cwd, tty, sandbox_permissions, justification: _, prefix_rule: _ }) =
        command
    {
        line(text, &format!("  $ {}", shell_words(argv)));
        let terminal = if *tty { ", on a terminal" } else { "" };
        let sandbox = match sandbox_permissions {
            SandboxPermissions::UseDefault => "",
            SandboxPermissions::WithAdditionalPermissions => ", with more than the sandbox permits",
            SandboxPermissions::RequireEscalated => ", without a sandbox",
        };
        line(text, &format!("  in {}{terminal}{sandbox}", cwd.display()));
        for script in reads {
            line(text, &format!("  runs {}", script.path.display()));
        }
    }
    for file in writes {
        line(text, &format!("  writes {}", file.path.display()));
    }
    if let Some(mcp) = mcp {
        line(text, &format!("  calls {} of the MCP server {}", mcp.tool, mcp.server));
    }
    if let Some(other) = other {
        line(text, &format!("  {other}"));
    }
}

/// One line. Further ones within it, of a script or of what a model says, stand behind a bar, so that none of them looks
/// like one of ours; and nothing in it can do anything to the terminal.
fn line(text: &mut String, line: &str) {
    let lines = line.replace("\r\n", "\n");
    for (place, shown) in lines.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).enumerate() {
        let bar = if place == 0 { "" } else { "  | " };
        // Writing to a String does not fail.
        let _ = writeln!(text, "{bar}{}", neutral(shown));
    }
}

fn block(text: &mut String, block: &str) {
    let mut lines = block.lines();
    for shown in lines.by_ref().take(MAX_LINES) {
        line(text, &format!("  | {shown}"));
    }
    let left = lines.count();
    if left > 0 {
        line(text, &format!("  | ... {left} more lines"));
    }
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;
