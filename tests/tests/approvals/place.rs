//! One scenario, played.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tenon_apply_patch::ApplyPatchTool;
use tenon_code_mode::{CodeMode, CodeModeLayer, DirectTools, NestedTools, with_code_mode};
use tenon_core::hooks::{Hook, PreToolUse, PreToolUseAction};
use tenon_core::{SessionBuilder, SessionOptions, StandardPolicy, TurnEnd};
use tenon_exec::{ExecConfig, ExecService};
use tenon_protocol::ResponseItem;
use tenon_tests::normalise::{Places, files, items};
use tenon_tests::runner::workspace::MCP_FIXTURE;
use tenon_tests::scenario::{Mode, Scenario};
use tenon_tools::{ApprovalPolicy, SandboxPolicy, ScriptedModel, ScriptedTurn, WorkspaceWrite};
use tokio_util::sync::CancellationToken;

use crate::person::Person;
use crate::servers::{Calendar, Keeps, servers};
use crate::{Approvals, Policy, Sandbox};

/// Plays a scenario, and says what came of it.
pub(crate) async fn play(scenario: &Scenario, approvals: Approvals) -> Value {
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let cwd = work.path().canonicalize().unwrap();
    for (name, text) in &scenario.files {
        std::fs::write(cwd.join(name), text).unwrap();
    }
    let rules = home.path().join("rules/default.rules");
    std::fs::create_dir(home.path().join("rules")).unwrap();
    std::fs::write(&rules, &approvals.rules).unwrap();
    let interrupt = CancellationToken::new();
    let person = Arc::new(Person::new(cwd.clone(), approvals.answers.clone(), interrupt.clone()));
    let model = Arc::new(ScriptedModel::new(
        scenario.turns.iter().map(|items| ScriptedTurn::items(items.iter().map(item))),
    ));
    let environment = [("PATH", std::env::var_os("PATH").unwrap()), ("HOME", home.path().into())];
    let exec = ExecService::new(ExecConfig::new(
        environment.into_iter().map(|(name, value)| (name.into(), value)).collect(),
    ));
    let calendar = Calendar::of(home.path());
    let mcp = Arc::new(servers(scenario.mcp, approvals.calendar.then_some(&calendar), &cwd));
    let nested = NestedTools::default();
    let code_mode = CodeMode::new(nested.clone());
    let mut tools = exec.tools();
    tools.push(Arc::new(ApplyPatchTool::default()));
    let keeps = Arc::new(Keeps::default());
    let policy = StandardPolicy::new().with_rules_of(home.path()).unwrap();
    let policy = if approvals.keeps { policy.with_mcp_store(Arc::clone(&keeps) as _) } else { policy };
    let builder = SessionBuilder::new(options(&approvals, &cwd), Arc::clone(&model) as _)
        .interceptor(Arc::new(ApplyPatchTool::default()))
        .source(Arc::clone(&mcp) as _)
        .policy(Arc::new(policy))
        .approver(Arc::clone(&person) as _);
    let builder = match scenario.mode {
        Mode::Direct => builder.tools(tools),
        // The model may call the other tools itself as well: both ways are decided on alike.
        Mode::CodeMode => builder
            .tools(with_code_mode(&code_mode, tools))
            .layer(Arc::new(CodeModeLayer::new(DirectTools::Shown, nested))),
    };
    let builder = match approvals.hook_asks {
        Some(reason) => builder.hook(Arc::new(Asks(reason))),
        None => builder,
    };
    let mut session = builder.build().await.unwrap();
    let end = session.run_turn("go", &interrupt).await;
    code_mode.shutdown().await;
    tokio::join!(exec.shutdown(), mcp.shutdown());
    session.shutdown().await;
    let places = Places {
        cwd: cwd.to_str().unwrap().to_owned(),
        home: home.path().to_str().unwrap().to_owned(),
        fixture: MCP_FIXTURE.to_owned(),
    };
    let inputs: Vec<Vec<Value>> =
        model.prompts().iter().map(|prompt| prompt.input.iter().map(|item| json!(item)).collect()).collect();
    let written = std::fs::read_to_string(&rules).unwrap();
    json!({
        "outputs": items::outputs(&items::follow_ups(&inputs, &places).unwrap()),
        "files": files::snapshot(&cwd).unwrap(),
        "exit": if end == TurnEnd::Interrupted { 130 } else { 0 },
        "asked": person.asked(),
        "called": calendar.called(),
        "kept": keeps.kept(),
        "rules_after": (written != approvals.rules).then_some(written),
        "unanswered": person.unanswered(),
    })
}

fn item(value: &Value) -> ResponseItem {
    ResponseItem::parse(&value.to_string()).unwrap()
}

fn options(approvals: &Approvals, cwd: &std::path::Path) -> SessionOptions {
    SessionOptions {
        approval: match approvals.policy {
            Policy::Untrusted => ApprovalPolicy::UnlessTrusted,
            Policy::OnRequest => ApprovalPolicy::OnRequest,
            Policy::Never => ApprovalPolicy::Never,
        },
        sandbox: match approvals.sandbox {
            Sandbox::ReadOnly => SandboxPolicy::ReadOnly,
            // The folders of the tests themselves lie below /tmp.
            Sandbox::WorkspaceWrite => SandboxPolicy::WorkspaceWrite(WorkspaceWrite {
                exclude_slash_tmp: true,
                ..WorkspaceWrite::default()
            }),
            Sandbox::DangerFullAccess => SandboxPolicy::DangerFullAccess,
        },
        approval_timeout: approvals.timeout_ms.map(Duration::from_millis),
        allow_login_shell: false,
        ..SessionOptions::new("a-model", cwd)
    }
}

/// A hook that wants every call looked at.
struct Asks(String);

#[async_trait]
impl Hook for Asks {
    async fn pre_tool_use(&self, _: &PreToolUse) -> PreToolUseAction {
        PreToolUseAction::ask(self.0.clone())
    }
}
