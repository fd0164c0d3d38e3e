//! What the model is told before it is asked.

use serde_json::{Value, json};
use tenon_tools::{ApprovalPolicy, SandboxPolicy, StepContext};

/// The base instructions of a session that brings none of its own.
pub const BASE_INSTRUCTIONS: &str = include_str!("base_instructions.md");

/// What a history says where the user cut a turn short (runtime.md D7.1).
pub const INTERRUPT_MARKER: &str = "<turn_aborted>\nThe user interrupted the previous turn on purpose. Any running \
unified exec processes may still be running in the background. If any tools/commands were aborted, they may have \
partially executed.\n</turn_aborted>";

/// Where the model works and what it may do there: the message that opens a session.
pub(crate) fn environment_context(step: &StepContext, shell: Option<&str>) -> String {
    let mut lines = vec![format!("  <cwd>{}</cwd>", step.cwd.display())];
    lines.push(format!("  <approval_policy>{}</approval_policy>", approval_name(step.approval)));
    lines.push(format!("  <sandbox_mode>{}</sandbox_mode>", step.sandbox.name()));
    lines.push(format!("  <network_access>{}</network_access>", network(&step.sandbox)));
    if let SandboxPolicy::WorkspaceWrite(workspace) = &step.sandbox {
        let roots = workspace.writable_roots.iter();
        lines.extend(roots.map(|root| format!("  <writable_root>{}</writable_root>", root.display())));
    }
    lines.extend(shell.map(|shell| format!("  <shell>{shell}</shell>")));
    format!("<environment_context>\n{}\n</environment_context>", lines.join("\n"))
}

fn network(sandbox: &SandboxPolicy) -> &'static str {
    match sandbox {
        SandboxPolicy::DangerFullAccess | SandboxPolicy::ExternalSandbox => "enabled",
        SandboxPolicy::WorkspaceWrite(workspace) if workspace.network_access => "enabled",
        SandboxPolicy::WorkspaceWrite(_) | SandboxPolicy::ReadOnly => "restricted",
    }
}

/// The policy's name in configuration and rollout.
pub(crate) fn approval_name(policy: ApprovalPolicy) -> &'static str {
    match policy {
        ApprovalPolicy::UnlessTrusted => "untrusted",
        ApprovalPolicy::OnRequest => "on-request",
        ApprovalPolicy::Granular(_) => "granular",
        ApprovalPolicy::Never => "never",
    }
}

/// The turn_context line of a turn (runtime.md D11.2). Bytes of paths that are no UTF-8 are written as U+FFFD.
pub(super) fn turn_context_line(step: &StepContext) -> Value {
    json!({
        "turn_id": step.turn_id,
        "cwd": step.cwd.to_string_lossy(),
        "approval_policy": approval_name(step.approval),
        "sandbox_policy": sandbox_record(&step.sandbox),
        "model": step.model,
        "summary": "auto",
    })
}

fn sandbox_record(sandbox: &SandboxPolicy) -> Value {
    match sandbox {
        SandboxPolicy::DangerFullAccess | SandboxPolicy::ExternalSandbox | SandboxPolicy::ReadOnly => {
            json!({ "type": sandbox.name() })
        }
        SandboxPolicy::WorkspaceWrite(workspace) => json!({
            "type": sandbox.name(),
            "writable_roots":
                workspace.writable_roots.iter().map(|root| root.to_string_lossy()).collect::<Vec<_>>(),
            "network_access": workspace.network_access,
            "exclude_tmpdir_env_var": workspace.exclude_tmpdir_env_var,
            "exclude_slash_tmp": workspace.exclude_slash_tmp,
        }),
    }
}
