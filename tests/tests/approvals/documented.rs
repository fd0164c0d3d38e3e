//! The files of docs/approvals.md do what it says. Its host is run as a documentation test.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pretty_assertions::assert_eq;
use tenon_core::policy::{ExecRules, StandardPolicy};
use tenon_core::{Policy, PolicyDecision};
use tenon_protocol::ToolName;
use tenon_tests::runner::{Client, Exit, InProcessClient, Launch};
use tenon_tools::{
    ApprovalPolicy, CommandEffect, Effects, SandboxPolicy, StepContext, ToolInvocation, ToolPayload,
};

const GUIDE: &str = include_str!("../../../docs/approvals.md");

/// The text of a file of the guide.
fn file(name: &str) -> String {
    let blocks = GUIDE.split("\n```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let mut named = blocks.filter(|(head, _)| head.ends_with(&format!("file={name}")));
    format!("{}\n", named.next().expect("the file").1)
}

async fn decided(script: &str) -> String {
    let rules = ExecRules::read(&file("rules/team.rules"), "rules/team.rules".as_ref()).unwrap();
    let policy = StandardPolicy::new().with_rules(rules);
    let step = StepContext {
        approval: ApprovalPolicy::OnRequest,
        sandbox: SandboxPolicy::ReadOnly,
        ..StepContext::default()
    };
    let payload = ToolPayload::Function { arguments: String::new() };
    let call =
        ToolInvocation { step: Arc::new(step), ..ToolInvocation::detached(ToolName::plain("t"), payload) };
    let command = CommandEffect {
        argv: ["bash", "-lc", script].map(str::to_owned).into(),
        cwd: "/".into(),
        ..CommandEffect::default()
    };
    match policy.decide(&call, &Effects { command: Some(command), ..Effects::none() }).await {
        PolicyDecision::Allow => "sandboxed".to_owned(),
        PolicyDecision::AllowUnsandboxed => "unsandboxed".to_owned(),
        PolicyDecision::Ask(question) => format!("asked: {}", question.reason.unwrap_or_default()),
        PolicyDecision::Deny { text } => text,
    }
}

#[tokio::test]
async fn the_rule_file() {
    let forbidden = |script: &str| {
        format!(
            "exec command rejected: `bash -lc '{script}'` rejected: history that others have is not rewritten"
        )
    };
    let rows = [
        ("git log -1 && git show HEAD", "unsandboxed".to_owned()),
        ("/usr/bin/git log -1", "unsandboxed".to_owned()),
        ("./git log -1", "sandboxed".to_owned()),
        ("git push", "asked: `bash -lc 'git push'` requires approval: look at the branch first".to_owned()),
        ("git push --force", forbidden("git push --force")),
        ("sudo git push -f origin main", forbidden("sudo git push -f origin main")),
        ("make", "sandboxed".to_owned()),
    ];
    for (script, expected) in rows {
        assert_eq!(decided(script).await, expected, "{script}");
    }
}

#[tokio::test]
async fn the_configuration() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("config.toml"), file("config.toml")).unwrap();
    let launch = Launch {
        args: vec!["tools".into()],
        environment: BTreeMap::from([
            ("TENON_HOME".into(), home.path().into()),
            ("HOME".into(), home.path().into()),
        ]),
        cwd: home.path().to_owned(),
        limit: Duration::from_secs(60),
    };
    let finished = InProcessClient.run(launch).await.unwrap();
    assert_eq!((finished.exit, String::from_utf8(finished.stderr).unwrap().as_str()), (Exit::Code(0), ""));
}
