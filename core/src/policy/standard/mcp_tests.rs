use pretty_assertions::assert_eq;
use tenon_tools::{GranularApproval, SandboxPolicy};

use super::*;
use McpApprovalMode::{Approve, Auto, Prompt};

const REFUSED: &str = "approval required by policy, but AskForApproval is set to Never";

fn tool(read_only: Option<bool>, destructive: Option<bool>, open_world: Option<bool>) -> McpEffect {
    McpEffect { server: "calendar".to_owned(), tool: "list".to_owned(), read_only, destructive, open_world }
}

fn decided(
    approval: ApprovalPolicy,
    sandbox: SandboxPolicy,
    mode: McpApprovalMode,
    tool: &McpEffect,
) -> PolicyDecision {
    let step = StepContext { approval, sandbox, ..StepContext::default() };
    let modes = McpApprovalModes::default().with_tool("calendar", "list", mode);
    decide(&step, tool, &modes, Some("/h/config.toml".as_ref()))
}

fn short(decision: PolicyDecision) -> String {
    match decision {
        PolicyDecision::Allow => "allow".to_owned(),
        PolicyDecision::AllowUnsandboxed => "unsandboxed".to_owned(),
        PolicyDecision::Ask(question) if question.scopes.contains(&ApprovalScope::Session) => {
            "ask".to_owned()
        }
        PolicyDecision::Ask(_) => "ask once".to_owned(),
        PolicyDecision::Deny { text } => text,
    }
}

/// Core.md 9.5, steps 2 to 4: every combination of the three hints. Each row is written down, and not worked out.
#[test]
fn the_hints() {
    let (none, no, yes) = (None, Some(false), Some(true));
    // read only, destructive, open world; whether somebody is asked.
    let rows = [
        (none, none, none, true),
        (none, none, no, true),
        (none, none, yes, true),
        (none, no, none, true),
        (none, no, no, false),
        (none, no, yes, true),
        (none, yes, none, true),
        (none, yes, no, true),
        (none, yes, yes, true),
        (no, none, none, true),
        (no, none, no, true),
        (no, none, yes, true),
        (no, no, none, true),
        (no, no, no, false),
        (no, no, yes, true),
        (no, yes, none, true),
        (no, yes, no, true),
        (no, yes, yes, true),
        (yes, none, none, false),
        (yes, none, no, false),
        (yes, none, yes, false),
        (yes, no, none, false),
        (yes, no, no, false),
        (yes, no, yes, false),
        (yes, yes, none, true),
        (yes, yes, no, true),
        (yes, yes, yes, true),
    ];
    let all: std::collections::HashSet<_> = rows.iter().map(|row| (row.0, row.1, row.2)).collect();
    assert_eq!(all.len(), 27);
    for (read_only, destructive, open_world, asked) in rows {
        let tool = tool(read_only, destructive, open_world);
        let decided = |mode| short(decided(ApprovalPolicy::OnRequest, SandboxPolicy::ReadOnly, mode, &tool));
        assert_eq!(decided(Auto), if asked { "ask" } else { "allow" }, "{tool:?}");
        // 3 and 9: the mode prompt asks in any case, and once; 4: approve never does.
        assert_eq!(
            (decided(Prompt), decided(Approve)),
            ("ask once".to_owned(), "allow".to_owned()),
            "{tool:?}"
        );
    }
}

/// Step 1, and what a question comes to under each policy.
#[test]
fn the_policies() {
    let unknown = tool(None, None, None);
    let granular = |mcp_elicitations| {
        ApprovalPolicy::Granular(GranularApproval { mcp_elicitations, ..GranularApproval::default() })
    };
    let elicitations = "approval required by policy, but AskForApproval::Granular.mcp_elicitations is false";
    let (never, on_request, untrusted) =
        (ApprovalPolicy::Never, ApprovalPolicy::OnRequest, ApprovalPolicy::UnlessTrusted);
    let rows = [
        (never, SandboxPolicy::DangerFullAccess, Auto, "allow"),
        (never, SandboxPolicy::ExternalSandbox, Prompt, "allow"),
        (never, SandboxPolicy::ReadOnly, Auto, REFUSED),
        (never, SandboxPolicy::ReadOnly, Approve, "allow"),
        (on_request, SandboxPolicy::DangerFullAccess, Auto, "ask"),
        (untrusted, SandboxPolicy::ReadOnly, Auto, "ask"),
        (untrusted, SandboxPolicy::ReadOnly, Prompt, "ask once"),
        (granular(true), SandboxPolicy::ReadOnly, Auto, "ask"),
        (granular(false), SandboxPolicy::ReadOnly, Auto, elicitations),
        (granular(false), SandboxPolicy::ReadOnly, Approve, "allow"),
    ];
    for (approval, sandbox, mode, expected) in rows {
        let label = format!("{approval:?} {} {mode:?}", sandbox.name());
        assert_eq!(short(decided(approval, sandbox, mode, &unknown)), expected, "{label}");
    }
}

#[test]
fn a_tools_own_mode_goes_before_its_servers_and_that_before_auto() {
    let modes = McpApprovalModes::default()
        .with_default("a", Prompt)
        .with_tool("a", "x", Approve)
        .with_tool("b", "x", Prompt);
    let rows =
        [("a", "x", Approve), ("a", "y", Prompt), ("b", "x", Prompt), ("b", "y", Auto), ("c", "x", Auto)];
    for (server, tool, expected) in rows {
        assert_eq!(modes.mode(server, tool), expected, "{server} {tool}");
    }
}

/// The text ends with its one question mark, whatever server and tool are called.
#[test]
fn the_question() {
    for (server, name) in [("calendar", "list"), ("why?", "what?"), ("a b", "say \"hi\"")] {
        let tool = McpEffect { server: server.to_owned(), tool: name.to_owned(), ..McpEffect::default() };
        let asked = decided(ApprovalPolicy::OnRequest, SandboxPolicy::ReadOnly, Auto, &tool);
        let PolicyDecision::Ask(question) = asked else { panic!("{asked:?}") };
        let text = question.reason.unwrap();
        assert_eq!(text, format!("Allow the {server} MCP server to run tool \"{name}\"?"));
        assert!(text.ends_with("\"?"), "{text}");
    }
}
