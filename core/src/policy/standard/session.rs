//! What was approved for the session (runtime.md D9.3, A9.2). It ends with it: nothing of it is restored.

use std::collections::HashSet;
use std::path::PathBuf;

use tenon_shell_parse::Joint;
use tenon_tools::{
    ApprovalPolicy, CommandEffect, Effects, McpEffect, SandboxPermissions, SandboxPolicy, ToolInvocation,
};

use crate::policy::commands::CommandLine;

/// One thing that was approved, and the settings it was approved under. A call is covered when every part of it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Approved {
    settings: String,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum What {
    /// This command, here. Nothing that only begins like it.
    Command { line: CanonicalLine, cwd: PathBuf, tty: bool, permissions: SandboxPermissions },
    /// This file.
    File(PathBuf),
    /// This tool of this server, whatever its arguments.
    Mcp { server: String, tool: String },
    /// This effect of this tool, in its own words.
    Other { tool: String, effect: String },
}

/// A command in a form that blanks and quotes do not change.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum CanonicalLine {
    Plain(Vec<(Option<Joint>, Vec<String>)>),
    Opaque(Vec<String>),
}

#[derive(Debug, Default)]
pub(super) struct SessionApprovals(HashSet<Approved>);

impl SessionApprovals {
    /// Remembers what a call would do.
    pub(super) fn add(&mut self, call: &ToolInvocation, effects: &Effects) {
        self.0.extend(keys(call, effects));
    }

    /// Whether all that a call would do was approved.
    pub(super) fn covers(&self, call: &ToolInvocation, effects: &Effects) -> bool {
        let keys = keys(call, effects);
        !keys.is_empty() && keys.iter().all(|key| self.0.contains(key))
    }
}

fn keys(call: &ToolInvocation, effects: &Effects) -> Vec<Approved> {
    let Effects { reads: _, writes, command, input: _, mcp, other } = effects;
    let settings = fingerprint(call.step.approval, &call.step.sandbox);
    let files = writes.iter().map(|file| What::File(file.path.clone()));
    let command = command.iter().map(command_key);
    let mcp = mcp
        .iter()
        .map(|McpEffect { server, tool, .. }| What::Mcp { server: server.clone(), tool: tool.clone() });
    let tool = call.tool_name.to_string();
    let other = other.iter().map(|effect| What::Other { tool: tool.clone(), effect: effect.clone() });
    let all = files.chain(command).chain(mcp).chain(other);
    all.map(|what| Approved { settings: settings.clone(), what }).collect()
}

fn command_key(command: &CommandEffect) -> What {
    let CommandEffect { argv, cwd, tty, sandbox_permissions, justification: _, prefix_rule: _ } = command;
    let line = CommandLine::of(argv);
    // Which shell is started, and how, is part of it either way.
    let line = if line.split && line.segments.iter().all(|segment| segment.certain) {
        let shell = argv.iter().take(argv.len().saturating_sub(1)).cloned().collect();
        let words = line.segments.into_iter().map(|segment| (segment.joined_by, segment.words));
        CanonicalLine::Plain(std::iter::once((None, shell)).chain(words).collect())
    } else {
        CanonicalLine::Opaque(argv.clone())
    };
    What::Command { line, cwd: cwd.clone(), tty: *tty, permissions: *sandbox_permissions }
}

/// The settings a decision was made under: under others, it is made again.
fn fingerprint(approval: ApprovalPolicy, sandbox: &SandboxPolicy) -> String {
    format!("{approval:?} {sandbox:?}")
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
