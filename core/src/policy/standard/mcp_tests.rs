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
    decide(&step, tool, &McpApprovalModes::default().with_tool("calendar", "list", mode))
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

/// Core.md 9.5, steps 2 and 3: every combination of the three hints.
#[test]
fn the_hints() {
    let (yes, no, none) = (Some(true), Some(false), None);
    let mut asked = Vec::new();
    for read_only in [none, no, yes] {
        for destructive in [none, no, yes] {
            for open_world in [none, no, yes] {
                let tool = tool(read_only, destructive, open_world);
                let auto = short(decided(ApprovalPolicy::OnRequest, SandboxPolicy::ReadOnly, Auto, &tool));
                let harmless = read_only == yes || (destructive == no && open_world == no);
                let expected = if harmless && destructive != yes { "allow" } else { "ask" };
                assert_eq!(auto, expected, "{tool:?}");
                asked.push(auto == "ask");
                // 3 and 9: the mode prompt asks in any case, and once.
                let prompt = decided(ApprovalPolicy::OnRequest, SandboxPolicy::ReadOnly, Prompt, &tool);
                assert_eq!(short(prompt), "ask once", "{tool:?}");
                // 4.
                let approve = decided(ApprovalPolicy::OnRequest, SandboxPolicy::ReadOnly, Approve, &tool);
                assert_eq!(short(approve), "allow", "{tool:?}");
            }
        }
    }
    // Nine are destructive; of the other eighteen six read only, and two say that they do no harm.
    assert_eq!(asked.iter().filter(|asked| **asked).count(), 27 - 6 - 2);
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

#[test]
fn the_question() {
    let asked = decided(ApprovalPolicy::OnRequest, SandboxPolicy::ReadOnly, Auto, &tool(None, None, None));
    let PolicyDecision::Ask(question) = asked else { panic!("{asked:?}") };
    assert_eq!(question.reason.as_deref(), Some("Allow the calendar MCP server to run tool \"list\"?"));
}
