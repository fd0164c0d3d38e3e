use std::sync::Arc;

use tenon_protocol::ToolName;
use tenon_tools::{FileEffect, StepContext, ToolPayload, WorkspaceWrite};

use super::*;

fn call(approval: ApprovalPolicy) -> ToolInvocation {
    let payload = ToolPayload::Function { arguments: "{}".to_owned() };
    let step = Arc::new(StepContext { approval, ..StepContext::default() });
    ToolInvocation { step, ..ToolInvocation::detached(ToolName::plain("t"), payload) }
}

fn command(script: &str) -> Effects {
    let command = CommandEffect {
        argv: ["bash", "-lc", script].map(str::to_owned).into(),
        cwd: "/a".into(),
        ..CommandEffect::default()
    };
    Effects { command: Some(command), ..Effects::none() }
}

fn files(names: &[&str]) -> Effects {
    let writes = names.iter().map(|name| FileEffect { path: name.into(), content: None }).collect();
    Effects { writes, ..Effects::none() }
}

fn covered(approved: &Effects, wanted: &Effects) -> bool {
    let mut approvals = SessionApprovals::default();
    approvals.add(&call(ApprovalPolicy::OnRequest), approved);
    approvals.covers(&call(ApprovalPolicy::OnRequest), wanted)
}

#[test]
fn a_command_is_covered_by_itself_however_it_is_spaced_and_by_nothing_wider() {
    let log = command("git log -1");
    for same in ["git log -1", "git  log '-1'", "  git log \"-1\""] {
        assert!(covered(&log, &command(same)), "{same}");
    }
    for other in ["git log -2", "git log", "git log -1 x", "git push", "git log -1; ls", "git log -1 *"] {
        assert!(!covered(&log, &command(other)), "{other}");
    }
    assert!(covered(&command("a && b"), &command("a  &&  b")));
    for other in ["a || b", "a ; b", "a | b"] {
        assert!(!covered(&command("a && b"), &command(other)), "{other}");
    }
    // What the shell makes of it is not known: it must be the same text.
    assert!(covered(&command("a $x"), &command("a $x")));
    assert!(!covered(&command("a $x"), &command("a  $x")));
    assert!(!covered(&command("a *"), &command("a '*'")));
}

#[test]
fn folder_terminal_and_permissions_are_part_of_a_command() {
    let changed = |change: fn(&mut CommandEffect)| {
        let mut effects = command("make");
        change(effects.command.as_mut().unwrap());
        effects
    };
    for other in [
        changed(|command| command.cwd = "/b".into()),
        changed(|command| command.tty = true),
        changed(|command| command.sandbox_permissions = SandboxPermissions::RequireEscalated),
        changed(|command| command.argv[0] = "/tmp/bash".to_owned()),
        changed(|command| command.argv[1] = "-c".to_owned()),
    ] {
        assert!(!covered(&command("make"), &other), "{other:?}");
    }
    let justified = changed(|command| command.justification = Some("why".to_owned()));
    assert!(covered(&command("make"), &justified));
}

#[test]
fn a_patch_is_covered_when_every_file_is() {
    let approved = files(&["/a", "/b"]);
    for same in [&["/a"][..], &["/b", "/a"]] {
        assert!(covered(&approved, &files(same)), "{same:?}");
    }
    assert!(!covered(&approved, &files(&["/a", "/c"])));
}

#[test]
fn a_tool_of_a_server_is_covered_by_itself() {
    let mcp = |server: &str, tool: &str| {
        let mcp = McpEffect { server: server.to_owned(), tool: tool.to_owned(), ..McpEffect::default() };
        Effects { mcp: Some(mcp), ..Effects::none() }
    };
    assert!(covered(&mcp("a", "x"), &mcp("a", "x")));
    assert!(!covered(&mcp("a", "x"), &mcp("a", "y")));
    assert!(!covered(&mcp("a", "x"), &mcp("b", "x")));
}

#[test]
fn other_settings_are_other_approvals() {
    let mut approvals = SessionApprovals::default();
    approvals.add(&call(ApprovalPolicy::OnRequest), &command("make"));
    assert!(approvals.covers(&call(ApprovalPolicy::OnRequest), &command("make")));
    assert!(!approvals.covers(&call(ApprovalPolicy::UnlessTrusted), &command("make")));
    let roots = |roots: &[&str]| {
        let writable_roots = roots.iter().map(PathBuf::from).collect();
        SandboxPolicy::WorkspaceWrite(WorkspaceWrite { writable_roots, ..WorkspaceWrite::default() })
    };
    let within = |sandbox: SandboxPolicy| {
        let step = StepContext { approval: ApprovalPolicy::OnRequest, sandbox, ..StepContext::default() };
        ToolInvocation { step: Arc::new(step), ..call(ApprovalPolicy::OnRequest) }
    };
    let all =
        [roots(&[]), roots(&["/a"]), roots(&["/b"]), SandboxPolicy::ReadOnly, SandboxPolicy::ExternalSandbox];
    for (place, sandbox) in all.iter().enumerate() {
        let mut approvals = SessionApprovals::default();
        approvals.add(&within(sandbox.clone()), &command("make"));
        for (other, elsewhere) in all.iter().enumerate() {
            let covers = approvals.covers(&within(elsewhere.clone()), &command("make"));
            assert_eq!(covers, place == other, "{sandbox:?} {elsewhere:?}");
        }
    }
}

#[test]
fn what_does_nothing_is_covered_by_nothing() {
    assert!(!covered(&Effects::none(), &Effects::none()));
}
