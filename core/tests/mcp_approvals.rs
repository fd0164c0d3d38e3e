//! The approval decision table of core.md 9.5, row by row, through every stage that decides.
//!
//! Of its steps these are not ours: apps and their policy (in 1, 5 and 9), the safety monitor (in 4), the guardian (7).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::json;
use support::{Events, build, item, options, outputs};
use tenon_core::hooks::{Hook, PermissionRequest, PermissionRequestAction};
use tenon_core::policy::{McpApprovalMode, McpApprovalModes, McpApprovalStore};
use tenon_core::{SessionBuilder, SessionOptions, StandardPolicy, TurnEnd};
use tenon_protocol::{ResponseItem, ToolName};
use tenon_tools::{
    ApprovalDecision, ApprovalPolicy, ApprovalRequest, ApprovalScope, Approver, Effects, FunctionCallError,
    FunctionToolOutput, HookIdentity, JsonSchema, McpEffect, PreparedCall, SandboxPolicy, ScriptedModel,
    ToolExecutor, ToolInvocation, ToolOutput, ToolSpec,
};
use tokio_util::sync::CancellationToken;

use ApprovalDecision::{Abort, Approved, ApprovedForSession, ApprovedMcpPolicyAmendment, Denied, TimedOut};
use ApprovalPolicy::{Never, OnRequest, UnlessTrusted};
use McpApprovalMode::{Approve, Auto, Prompt};
use SandboxPolicy::{DangerFullAccess, ExternalSandbox, ReadOnly};

/// A tool of the server `calendar`, which says of itself what its first letters say: `r` reads only, `d` destroys,
/// `w` touches the open world; a capital letter says that it does not.
struct Tool(ToolName);

struct Prepared(Effects);

#[async_trait]
impl ToolExecutor for Tool {
    fn name(&self) -> &ToolName {
        &self.0
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function(self.0.name(), "A tool.", JsonSchema::object([], &[]))
    }

    fn parallel(&self) -> bool {
        true
    }

    fn hook_identity(&self) -> Option<HookIdentity> {
        Some(HookIdentity::function(&self.0))
    }

    async fn prepare(&self, _: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let says = self.0.name().split('_').next().unwrap();
        let hint = |yes: char| {
            if says.contains(yes) {
                Some(true)
            } else {
                says.contains(yes.to_ascii_uppercase()).then_some(false)
            }
        };
        let mcp = McpEffect {
            server: "calendar".to_owned(),
            tool: self.0.name().to_owned(),
            read_only: hint('r'),
            destructive: hint('d'),
            open_world: hint('w'),
        };
        Ok(Box::new(Prepared(Effects { mcp: Some(mcp), ..Effects::none() })))
    }
}

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.0
    }

    async fn run(self: Box<Self>, _: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        Ok(Box::new(FunctionToolOutput::from_text("ran".to_owned(), Some(true))))
    }
}

/// Answers in turn, and notes each question: its text, and how far a yes may reach.
#[derive(Default)]
struct Person {
    answers: Mutex<VecDeque<ApprovalDecision>>,
    asked: Mutex<Vec<(String, usize)>>,
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, request: ApprovalRequest) -> ApprovalDecision {
        let scopes = [ApprovalScope::Once, ApprovalScope::Session];
        assert_eq!(request.scopes[..request.scopes.len().min(2)], scopes[..request.scopes.len().min(2)]);
        if let Some(last) = request.scopes.get(2) {
            let (server, tool) = ("calendar".to_owned(), request.tool_name.name().to_owned());
            assert_eq!(*last, ApprovalScope::McpTool { server, tool, file: "/h/config.toml".into() });
        }
        self.asked.lock().unwrap().push((request.reason.unwrap_or_default(), request.scopes.len()));
        self.answers.lock().unwrap().pop_front().expect("an answer")
    }
}

/// Step 6: a hook that decides.
struct Decides(PermissionRequestAction);

#[async_trait]
impl Hook for Decides {
    async fn permission_request(&self, _: &PermissionRequest) -> PermissionRequestAction {
        self.0.clone()
    }
}

/// Keeps tools in memory.
#[derive(Debug, Default)]
struct Store(Mutex<Vec<String>>);

#[async_trait]
impl McpApprovalStore for Store {
    fn file(&self) -> &Path {
        Path::new("/h/config.toml")
    }

    async fn approve(&self, server: &str, tool: &str) -> Result<(), String> {
        self.0.lock().unwrap().push(format!("{server}/{tool}"));
        Ok(())
    }
}

/// How far a yes may reach: for this call; for it, for the session, and for good.
const ONCE: usize = 1;
const FOR_GOOD: usize = 3;

const NO: &str = "user rejected MCP tool call";
const NOBODY: &str = "approval required by policy, but AskForApproval is set to Never";

/// What came of one row: what the model read of each call, the reach of each question, what was kept.
#[derive(Debug, PartialEq)]
struct Came {
    outputs: Vec<String>,
    asked: Vec<usize>,
    kept: Vec<String>,
}

type Settings = (ApprovalPolicy, SandboxPolicy, McpApprovalMode);

struct Row {
    step: &'static str,
    settings: Settings,
    /// The tools that are called, one after the other.
    calls: &'static [&'static str],
    hook: PermissionRequestAction,
    answers: Vec<ApprovalDecision>,
    came: Came,
}

impl Row {
    fn new(step: &'static str, settings: Settings, calls: &'static [&'static str]) -> Self {
        let came = Came { outputs: vec!["ran".to_owned(); calls.len()], asked: Vec::new(), kept: Vec::new() };
        Self { step, settings, calls, hook: PermissionRequestAction::Undecided, answers: Vec::new(), came }
    }

    fn asked(mut self, reach: usize, answer: ApprovalDecision) -> Self {
        self.came.asked.push(reach);
        self.answers.push(answer);
        self
    }

    fn hook(mut self, action: PermissionRequestAction) -> Self {
        self.hook = action;
        self
    }

    fn last_output(mut self, text: &str) -> Self {
        *self.came.outputs.last_mut().unwrap() = text.to_owned();
        self
    }

    fn keeps(mut self, tool: &str) -> Self {
        self.came.kept.push(format!("calendar/{tool}"));
        self
    }
}

fn denied(reason: Option<&str>) -> ApprovalDecision {
    Denied { reason: reason.map(str::to_owned) }
}

/// Step 1: nobody may be asked; and steps 2 and 3: whether it is required. `the_hints` of the policy has them all.
fn whether() -> Vec<Row> {
    let auto = |policy, sandbox| (policy, sandbox, Auto);
    vec![
        Row::new("1 full access", (Never, DangerFullAccess, Prompt), &["d"]),
        Row::new("1 external", (Never, ExternalSandbox, Auto), &["d"]),
        Row::new("1 but confined", auto(Never, ReadOnly), &["d"]).last_output(NOBODY),
        Row::new("1 but confined, in the mode prompt", (Never, ReadOnly, Prompt), &["r"]).last_output(NOBODY),
        Row::new("1 but somebody may be asked", auto(OnRequest, DangerFullAccess), &["d"])
            .asked(FOR_GOOD, Approved),
        Row::new("2 destroys, whatever else", auto(OnRequest, ReadOnly), &["drW"]).asked(FOR_GOOD, Approved),
        Row::new("2 reads only", auto(OnRequest, ReadOnly), &["rw"]),
        Row::new("2 says nothing", auto(OnRequest, ReadOnly), &["_"]).asked(FOR_GOOD, Approved),
        Row::new("2 says no harm", auto(OnRequest, ReadOnly), &["DW"]),
        Row::new("2 says half of it", auto(OnRequest, ReadOnly), &["D"]).asked(FOR_GOOD, Approved),
        Row::new("3 not required", auto(UnlessTrusted, ReadOnly), &["r"]),
        Row::new("3 not required, nobody may be asked", auto(Never, ReadOnly), &["r"]),
        Row::new("3 not required, in the mode prompt", (OnRequest, ReadOnly, Prompt), &["r"])
            .asked(ONCE, Approved),
        Row::new("4 approve", (OnRequest, ReadOnly, Approve), &["d"]),
        Row::new("4 approve, nobody may be asked", (Never, ReadOnly, Approve), &["d"]),
    ]
}

/// Steps 5 and 6: who has decided already, and who does before a person.
fn before_a_person() -> Vec<Row> {
    let auto = || (OnRequest, ReadOnly, Auto);
    let deny = || PermissionRequestAction::Deny { message: "the hook says no".to_owned() };
    vec![
        Row::new("5 approved", auto(), &["d", "d"]).asked(FOR_GOOD, ApprovedForSession),
        Row::new("5 another tool", auto(), &["d", "d_2"])
            .asked(FOR_GOOD, ApprovedForSession)
            .asked(FOR_GOOD, Approved),
        Row::new("5 approved once", auto(), &["d", "d"]).asked(FOR_GOOD, Approved).asked(FOR_GOOD, Approved),
        Row::new("6 allowed", auto(), &["d"]).hook(PermissionRequestAction::Allow),
        Row::new("6 denied", auto(), &["d"]).hook(deny()).last_output("the hook says no"),
        Row::new("6 undecided", auto(), &["d"]).asked(FOR_GOOD, denied(None)).last_output(NO),
        Row::new("6 is not asked where nothing is", (OnRequest, ReadOnly, Approve), &["d"]).hook(deny()),
        Row::new("6 allowed, for the call", (OnRequest, ReadOnly, Prompt), &["d", "d"])
            .hook(PermissionRequestAction::Allow),
    ]
}

/// Steps 8 and 9: the answers, and what is left of them in the mode prompt.
fn answers() -> Vec<Row> {
    let auto = || (OnRequest, ReadOnly, Auto);
    let prompt = || (OnRequest, ReadOnly, Prompt);
    vec![
        Row::new("8 allow", auto(), &["d"]).asked(FOR_GOOD, Approved),
        Row::new("8 allow, and don't ask again", auto(), &["d", "d"])
            .asked(FOR_GOOD, ApprovedMcpPolicyAmendment)
            .keeps("d"),
        Row::new("8 declined", auto(), &["d"]).asked(FOR_GOOD, denied(None)).last_output(NO),
        Row::new("8 declined by a client", auto(), &["d"])
            .asked(FOR_GOOD, denied(Some("rejected by user")))
            .last_output(NO),
        Row::new("8 declined with words", auto(), &["d"])
            .asked(FOR_GOOD, denied(Some("not now")))
            .last_output("not now"),
        Row::new("8 too late", auto(), &["d"]).asked(FOR_GOOD, TimedOut).last_output("approval timed out"),
        Row::new("9 for the session", prompt(), &["d", "d"])
            .asked(ONCE, ApprovedForSession)
            .asked(ONCE, Approved),
        Row::new("9 for good", prompt(), &["d", "d"])
            .asked(ONCE, ApprovedMcpPolicyAmendment)
            .asked(ONCE, Approved),
    ]
}

fn call(number: usize, tool: &str) -> Vec<ResponseItem> {
    let call =
        json!({"type": "function_call", "name": tool, "call_id": number.to_string(), "arguments": "{}"});
    vec![item(&call)]
}

struct Played {
    came: Came,
    questions: Vec<(String, usize)>,
    end: TurnEnd,
}

async fn play(row: &Row) -> Played {
    let (approval, sandbox, mode) = row.settings.clone();
    let model = row.calls.iter().enumerate().map(|(number, tool)| call(number, tool));
    let model = Arc::new(ScriptedModel::new(model.collect::<Vec<_>>()));
    let person = Arc::new(Person { answers: Mutex::new(row.answers.clone().into()), ..Person::default() });
    let store = Arc::new(Store::default());
    let policy = StandardPolicy::new()
        .with_mcp_modes(McpApprovalModes::default().with_default("calendar", mode))
        .with_mcp_store(Arc::clone(&store) as _);
    let builder =
        SessionBuilder::new(SessionOptions { approval, sandbox, ..options() }, Arc::clone(&model) as _)
            .events(Arc::new(Events::default()))
            .policy(Arc::new(policy))
            .hook(Arc::new(Decides(row.hook.clone())))
            .approver(Arc::clone(&person) as _);
    let tools = row.calls.iter().collect::<std::collections::BTreeSet<_>>();
    let builder = tools.into_iter().fold(builder, |builder, tool| builder.tool(Tool(ToolName::plain(*tool))));
    let end = build(builder).await.run_turn("go", &CancellationToken::new()).await;
    let requests = model.prompts().len();
    let outputs = outputs(&model, requests - 1).into_iter().map(|(_, text)| text).collect();
    let questions = person.asked.lock().unwrap().clone();
    let kept = store.0.lock().unwrap().clone();
    let asked = questions.iter().map(|(_, reach)| *reach).collect();
    Played { came: Came { outputs, asked, kept }, questions, end }
}

#[tokio::test]
async fn the_table() {
    for row in [whether(), before_a_person(), answers()].into_iter().flatten() {
        let played = play(&row).await;
        assert_eq!(played.came, row.came, "{}", row.step);
        // 8: the text of every question.
        for (text, _) in &played.questions {
            let tool = row.calls.iter().find(|tool| text.contains(&format!("\"{tool}\""))).unwrap();
            assert_eq!(
                *text,
                format!("Allow the calendar MCP server to run tool \"{tool}\"?"),
                "{}",
                row.step
            );
        }
    }
}

/// Step 8, cancelled: the turn ends, and there is nothing that the model could read.
#[tokio::test]
async fn a_no_that_ends_the_turn() {
    let row = Row::new("8 cancelled", (OnRequest, ReadOnly, Auto), &["d"]).asked(FOR_GOOD, Abort);
    let played = play(&row).await;
    assert_eq!(played.end, TurnEnd::Interrupted);
    assert_eq!(played.came.outputs, [] as [&str; 0]);
}

/// Answers the first question when the second one is there, and the second one never.
struct Waits {
    second: tokio::sync::Notify,
    asked: Mutex<usize>,
}

#[async_trait]
impl Approver for Waits {
    async fn approve(&self, _: ApprovalRequest) -> ApprovalDecision {
        let number = {
            let mut asked = self.asked.lock().unwrap();
            *asked += 1;
            *asked
        };
        if number == 1 {
            self.second.notified().await;
            return ApprovedMcpPolicyAmendment;
        }
        self.second.notify_one();
        std::future::pending().await
    }
}

#[tokio::test]
async fn not_to_be_asked_again_settles_the_question_of_a_call_that_waits() {
    let calls = [call(0, "d"), call(1, "d")].concat();
    let model = Arc::new(ScriptedModel::new(vec![calls]));
    let policy = StandardPolicy::new().with_mcp_store(Arc::new(Store::default()));
    let person = Arc::new(Waits { second: tokio::sync::Notify::new(), asked: Mutex::new(0) });
    let options = SessionOptions { approval: OnRequest, sandbox: ReadOnly, ..options() };
    let builder = SessionBuilder::new(options, Arc::clone(&model) as _)
        .policy(Arc::new(policy))
        .approver(Arc::clone(&person) as _)
        .tool(Tool(ToolName::plain("d")));
    build(builder).await.run_turn("go", &CancellationToken::new()).await;
    let outputs: Vec<String> = outputs(&model, 1).into_iter().map(|(_, text)| text).collect();
    assert_eq!((outputs, *person.asked.lock().unwrap()), (vec!["ran".to_owned(); 2], 2));
}
