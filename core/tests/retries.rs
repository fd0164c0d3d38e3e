//! Whether a command that the sandbox has stopped is run again without it (runtime.md D9.b, rows 5 to 8): who is asked,
//! and what an answer comes to. What a second run does is in exec's tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Log, Script, build, call, item, options, outputs, pair};
use tenon_core::hooks::{Hook, PermissionRequest, PermissionRequestAction};
use tenon_core::policy::{ExecRules, StandardPolicy};
use tenon_core::{SessionBuilder, SessionOptions, TurnEnd};
use tenon_protocol::{ResponseItem, ToolName};
use tenon_tools::{
    ApprovalDecision, ApprovalPolicy, ApprovalRequest, ApprovalScope, Approver, CommandEffect, Effects,
    FirstRun, FunctionCallError, FunctionToolOutput, GranularApproval, HookIdentity, JsonSchema,
    PreparedCall, Retry, SandboxPolicy, ScriptedModel, ToolExecutor, ToolInvocation, ToolOutput, ToolSpec,
    WorkspaceWrite,
};
use tokio_util::sync::CancellationToken;

const ASKED: &str = "command failed; retry without sandbox?";

/// A tool whose commands are always stopped by the sandbox: it gives what is said to a second run.
struct Stopped(ToolName);

struct Prepared(Effects);

fn stopped() -> Stopped {
    Stopped(ToolName::plain("run"))
}

#[async_trait]
impl ToolExecutor for Stopped {
    fn name(&self) -> &ToolName {
        &self.0
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function("run", "Runs.", JsonSchema::object([], &[]))
    }

    fn hook_identity(&self) -> Option<HookIdentity> {
        Some(HookIdentity::function(&self.0))
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let arguments: Value = serde_json::from_str(call.function_arguments("run")?).unwrap();
        let argv = ["bash", "-c", arguments["cmd"].as_str().unwrap()].map(str::to_owned).into();
        let command = CommandEffect { argv, cwd: "/".into(), ..CommandEffect::default() };
        Ok(Box::new(Prepared(Effects { command: Some(command), ..Effects::none() })))
    }
}

fn first_run() -> FirstRun {
    FirstRun { exit_code: 1, denial: "denied".to_owned() }
}

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.0
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let said = match call.host.retries.ask(call, &self.0, first_run()).await {
            Retry::Unsandboxed => "again".to_owned(),
            Retry::No(None) => "nobody was asked".to_owned(),
            Retry::No(Some(why)) => format!("no: {why}"),
        };
        Ok(Box::new(FunctionToolOutput::from_text(said, Some(true))))
    }
}

/// A file that is written before an answer, and the answer; none, for ever, without.
type Answer = (Option<(PathBuf, &'static str)>, Option<ApprovalDecision>);

/// Answers questions one after the other.
#[derive(Default)]
struct Person {
    answers: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<ApprovalRequest>>,
}

impl Person {
    fn says(answers: impl IntoIterator<Item = ApprovalDecision>) -> Arc<Self> {
        let answers = answers.into_iter().map(|answer| (None, Some(answer))).collect();
        Arc::new(Self { answers: Mutex::new(answers), ..Self::default() })
    }

    fn asked(&self) -> Vec<ApprovalRequest> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, request: ApprovalRequest) -> ApprovalDecision {
        self.asked.lock().unwrap().push(request);
        let (writes, answer) = self.answers.lock().unwrap().pop_front().expect("an answer");
        if let Some((file, text)) = writes {
            std::fs::write(file, text).unwrap();
        }
        match answer {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }
}

fn run(id: &str, cmd: &str) -> ResponseItem {
    let arguments = json!({ "cmd": cmd }).to_string();
    item(&json!({"type": "function_call", "name": "run", "call_id": id, "arguments": arguments}))
}

fn confined(approval: ApprovalPolicy) -> SessionOptions {
    let sandbox = SandboxPolicy::WorkspaceWrite(WorkspaceWrite::default());
    SessionOptions { approval, sandbox, ..options() }
}

fn session(options: SessionOptions, calls: Vec<ResponseItem>, person: &Arc<Person>) -> Played {
    let model = Arc::new(ScriptedModel::new(vec![calls]));
    let builder = SessionBuilder::new(options, Arc::clone(&model) as _)
        .policy(Arc::new(StandardPolicy::new()))
        .approver(Arc::clone(person) as _)
        .tool(stopped());
    Played { builder, model }
}

struct Played {
    builder: SessionBuilder,
    model: Arc<ScriptedModel>,
}

impl Played {
    async fn go(self) -> (TurnEnd, Vec<(String, String)>) {
        let end = build(self.builder).await.run_turn("go", &CancellationToken::new()).await;
        let outputs = if self.model.prompts().len() > 1 { outputs(&self.model, 1) } else { Vec::new() };
        (end, outputs)
    }
}

fn granular(sandbox_approval: bool) -> ApprovalPolicy {
    ApprovalPolicy::Granular(GranularApproval {
        sandbox_approval,
        rules: true,
        ..GranularApproval::default()
    })
}

/// D9.b, the column of exec_command. `ls` needs no approval to run under any of them.
#[tokio::test]
async fn who_is_asked() {
    let rows = [
        (ApprovalPolicy::Never, false),
        (ApprovalPolicy::OnRequest, false),
        (ApprovalPolicy::UnlessTrusted, true),
        (granular(true), true),
        (granular(false), false),
    ];
    for (policy, is_asked) in rows {
        let person = Person::says(is_asked.then_some(ApprovalDecision::Approved));
        let (_, outputs) = session(confined(policy), vec![run("a", "ls")], &person).go().await;
        let expected = if is_asked { "again" } else { "nobody was asked" };
        assert_eq!(outputs, [pair("a", expected)], "{policy:?}");
        let reasons: Vec<_> = person.asked().into_iter().filter_map(|asked| asked.reason).collect();
        assert_eq!(reasons, vec![ASKED; usize::from(is_asked)], "{policy:?}");
    }
}

/// D9.b, the column of apply_patch, and everything else: no sandbox stops them, so there is nothing to retry. A patch
/// has been asked about before it ran where the table has a yes.
#[tokio::test]
async fn what_is_no_command_has_no_second_run() {
    let log = Log::default();
    let person = Person::says([ApprovalDecision::Approved]);
    let played = session(confined(ApprovalPolicy::UnlessTrusted), vec![call("a", "t", "fail")], &person);
    let builder = played.builder.tool(Script::new("t", &log));
    let (_, outputs) = Played { builder, model: played.model }.go().await;
    assert_eq!(outputs, [pair("a", "failed a")]);
    assert_eq!((person.asked().len(), person.asked()[0].first_run.clone()), (1, None));
}

/// What leaves the sandbox from the beginning, or is in none, cannot be stopped by it.
#[tokio::test]
async fn what_no_sandbox_holds_has_no_second_run() {
    let nobody = || Person::says([]);
    let unconfined = SessionOptions { sandbox: SandboxPolicy::DangerFullAccess, ..confined(granular(true)) };
    let (_, said) = session(unconfined, vec![run("a", "ls")], &nobody()).go().await;
    assert_eq!(said, [pair("a", "nobody was asked")]);

    let person = nobody();
    let played = session(confined(granular(true)), vec![run("a", "make it")], &person);
    let rules = ExecRules::read("prefix_rule(pattern = ['make'])", "r".as_ref()).unwrap();
    let builder = played.builder.policy(Arc::new(StandardPolicy::new().with_rules(rules)));
    let (_, said) = Played { builder, model: played.model }.go().await;
    assert_eq!(said, [pair("a", "nobody was asked")]);
}

/// A yes to the first run is none to the second (ours: the reference does not ask again), one for the session neither.
#[tokio::test]
async fn a_second_run_is_asked_about_although_the_first_was_approved() {
    let answers = [
        ApprovalDecision::ApprovedForSession,
        ApprovalDecision::ApprovedForSession,
        ApprovalDecision::Approved,
    ];
    let person = Person::says(answers);
    let calls = vec![run("a", "make"), run("b", "make")];
    let (_, said) = session(confined(ApprovalPolicy::UnlessTrusted), calls, &person).go().await;
    assert_eq!(said, [pair("a", "again"), pair("b", "again")]);
    let asked = person.asked();
    let seen: Vec<_> = asked.iter().map(|asked| (asked.call_id.as_str(), asked.first_run.clone())).collect();
    // `b` may run, for that was approved for the session; nothing was for second runs.
    assert_eq!(seen, [("a", None), ("a", Some(first_run())), ("b", Some(first_run()))]);
    assert_eq!(asked[1].scopes, [ApprovalScope::Once]);
    assert_eq!(asked[1].effects.command.as_ref().unwrap().argv, ["bash", "-c", "make"]);
    assert!(!asked[1].changed);
}

#[tokio::test]
async fn a_no_in_each_of_its_forms() {
    let denied = |reason: Option<&str>| ApprovalDecision::Denied { reason: reason.map(str::to_owned) };
    let rows = [
        (denied(None), "no: rejected by user"),
        (denied(Some("  ")), "no: rejected by user"),
        (denied(Some("not in here")), "no: not in here"),
        (ApprovalDecision::TimedOut, "no: approval timed out"),
    ];
    for (answer, expected) in rows {
        let person = Person::says([answer]);
        let (_, said) = session(confined(granular(true)), vec![run("a", "ls")], &person).go().await;
        assert_eq!(said, [pair("a", expected)]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_waited_for_as_long_as_any() {
    let answers = Mutex::new([(None, None)].into());
    let person = Arc::new(Person { answers, ..Person::default() });
    let approval_timeout = Some(Duration::from_secs(60));
    let options = SessionOptions { approval_timeout, ..confined(granular(true)) };
    let begun = tokio::time::Instant::now();
    let (_, said) = session(options, vec![run("a", "ls")], &person).go().await;
    assert_eq!(said, [pair("a", "no: approval timed out")]);
    assert_eq!(begun.elapsed().as_secs(), 60);
}

#[tokio::test]
async fn an_abort_ends_the_turn() {
    let person = Person::says([ApprovalDecision::Abort]);
    let (end, _) = session(confined(granular(true)), vec![run("a", "ls")], &person).go().await;
    assert_eq!(end, TurnEnd::Interrupted);
}

/// A script that changed while its second run was asked about is asked about again.
#[tokio::test]
async fn a_yes_is_bound_to_the_script_it_was_said_to() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.sh");
    std::fs::write(&file, "zero").unwrap();
    let yes_after = |text| (Some((file.clone(), text)), Some(ApprovalDecision::Approved));
    let yes = || (None, Some(ApprovalDecision::Approved));
    let keeps_changing = "no: what it would run changed each time its approval was given";
    let rows = [
        (vec![yes(), yes_after("one"), yes()], "again"),
        (vec![yes(), yes_after("two"), yes_after("three"), yes_after("four")], keeps_changing),
    ];
    for (answers, expected) in rows {
        let person = Arc::new(Person { answers: Mutex::new(answers.into()), ..Person::default() });
        let cmd = format!("sh {}", file.display());
        let (_, said) =
            session(confined(ApprovalPolicy::UnlessTrusted), vec![run("a", &cmd)], &person).go().await;
        assert_eq!(said, [pair("a", expected)]);
        // The first question is about the first run.
        let changed: Vec<bool> = person.asked().iter().skip(1).map(|asked| asked.changed).collect();
        assert_eq!(changed, (0..changed.len()).map(|question| question > 0).collect::<Vec<_>>());
    }
}

struct Permits(PermissionRequestAction, Arc<Mutex<Vec<Value>>>);

#[async_trait]
impl Hook for Permits {
    async fn permission_request(&self, event: &PermissionRequest) -> PermissionRequestAction {
        self.1.lock().unwrap().push(event.tool_input.clone());
        self.0.clone()
    }
}

/// PermissionRequest hooks are asked before a person is, and told what they are asked about.
#[tokio::test]
async fn hooks_are_asked_first() {
    let deny = PermissionRequestAction::Deny { message: "not by me".to_owned() };
    let rows = [
        (PermissionRequestAction::Allow, "again", 0),
        (deny, "no: not by me", 0),
        (PermissionRequestAction::Undecided, "again", 1),
    ];
    for (action, expected, questions) in rows {
        let (person, heard) = (Person::says([ApprovalDecision::Approved]), Arc::default());
        let played = session(confined(granular(true)), vec![run("a", "ls")], &person);
        let builder = played.builder.hook(Arc::new(Permits(action, Arc::clone(&heard))));
        let (_, said) = Played { builder, model: played.model }.go().await;
        assert_eq!(said, [pair("a", expected)]);
        assert_eq!(person.asked().len(), questions);
        assert_eq!(*heard.lock().unwrap(), [json!({"cmd": "ls", "description": ASKED})]);
    }
}
