//! The tables of runtime.md D9.b, D9.4, D10.3 and D10.4, row by row, as a model sees them: what each call comes to, and
//! whether somebody was asked. Steps 5 to 8 of D9.b are the retry, the table of MCP tools is with their policy; of D9.4
//! the rows of the guardian and of the network have no owner here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{build, item, options, outputs};
use tenon_core::hooks::{Hook, PermissionRequest, PermissionRequestAction};
use tenon_core::policy::{ExecRules, StandardPolicy};
use tenon_core::{SessionBuilder, SessionOptions, TurnEnd};
use tenon_protocol::ToolName;
use tenon_tools::{
    ApprovalDecision, ApprovalPolicy, ApprovalRequest, Approver, CommandEffect, Confinement, Effects,
    FileEffect, FunctionCallError, FunctionToolOutput, GranularApproval, HookIdentity, JsonSchema, McpEffect,
    PreparedCall, SandboxPermissions, SandboxPolicy, ScriptedModel, ToolExecutor, ToolInvocation, ToolOutput,
    ToolSpec, WorkspaceWrite,
};
use tokio_util::sync::CancellationToken;

use ApprovalDecision::{Abort, Approved, ApprovedForSession, Denied, TimedOut};

const UNTRUSTED: ApprovalPolicy = ApprovalPolicy::UnlessTrusted;
const ON_REQUEST: ApprovalPolicy = ApprovalPolicy::OnRequest;
const NEVER: ApprovalPolicy = ApprovalPolicy::Never;

fn granular(sandbox_approval: bool, rules: bool) -> ApprovalPolicy {
    let mcp_elicitations = true;
    ApprovalPolicy::Granular(GranularApproval {
        sandbox_approval,
        rules,
        mcp_elicitations,
        ..GranularApproval::default()
    })
}

/// What a call would do.
#[derive(Debug, Clone, Copy)]
enum Act {
    Runs(&'static str),
    /// The same, out of the sandbox.
    Leaves(&'static str),
    Writes(&'static str),
    Mcp,
    Other,
}

use Act::{Leaves, Mcp, Other, Runs, Writes};

impl Act {
    fn effects(self) -> Effects {
        let command = |script: &str, sandbox_permissions| {
            let argv = ["bash", "-lc", script].map(str::to_owned).into();
            let command =
                CommandEffect { argv, cwd: "/".into(), sandbox_permissions, ..CommandEffect::default() };
            Effects { command: Some(command), ..Effects::none() }
        };
        match self {
            Runs(script) => command(script, SandboxPermissions::UseDefault),
            Leaves(script) => command(script, SandboxPermissions::RequireEscalated),
            Writes(path) => {
                let writes = vec![FileEffect { path: path.into(), content: None }];
                Effects { writes, ..Effects::none() }
            }
            Mcp => {
                let (server, tool) = ("calendar".to_owned(), "add".to_owned());
                Effects { mcp: Some(McpEffect { server, tool, ..McpEffect::default() }), ..Effects::none() }
            }
            Other => Effects { other: Some("something else".to_owned()), ..Effects::none() },
        }
    }
}

/// A tool that would do this, and says how it was confined when it does.
struct Does(ToolName, Act);

struct Prepared(Effects);

#[async_trait]
impl ToolExecutor for Does {
    fn name(&self) -> &ToolName {
        &self.0
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function("does", "Does it.", JsonSchema::object([], &[]))
    }

    fn hook_identity(&self) -> Option<HookIdentity> {
        Some(HookIdentity::function(&self.0))
    }

    async fn prepare(&self, _: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        Ok(Box::new(Prepared(self.1.effects())))
    }
}

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.0
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let confined = match call.confinement {
            Confinement::Sandboxed => "sandboxed",
            Confinement::Unsandboxed => "unsandboxed",
        };
        Ok(Box::new(FunctionToolOutput::from_text(confined.to_owned(), Some(true))))
    }
}

/// A person who gives one answer, and the reasons they were asked for.
struct Person(Option<ApprovalDecision>, Mutex<Vec<Option<String>>>);

#[async_trait]
impl Approver for Person {
    async fn approve(&self, request: ApprovalRequest) -> ApprovalDecision {
        self.1.lock().unwrap().push(request.reason);
        match &self.0 {
            Some(answer) => answer.clone(),
            None => std::future::pending().await,
        }
    }
}

/// A hook that answers for the person.
struct Answers(PermissionRequestAction);

#[async_trait]
impl Hook for Answers {
    async fn permission_request(&self, _: &PermissionRequest) -> PermissionRequestAction {
        self.0.clone()
    }
}

/// What a call is made under. By default: on-request, and the folder it works in, `/usr`, is one it may write. Nothing is
/// really done.
struct Under {
    approval: ApprovalPolicy,
    sandbox: SandboxPolicy,
    rules: &'static str,
    hook: Option<PermissionRequestAction>,
    /// What the person answers; nothing if none.
    answer: Option<ApprovalDecision>,
}

impl Default for Under {
    fn default() -> Self {
        let workspace = WorkspaceWrite { exclude_slash_tmp: true, ..WorkspaceWrite::default() };
        Self {
            approval: ON_REQUEST,
            sandbox: SandboxPolicy::WorkspaceWrite(workspace),
            rules: "",
            hook: None,
            answer: Some(Approved),
        }
    }
}

/// What a call came to.
#[derive(Debug, PartialEq, Eq)]
struct Came {
    /// What the model reads.
    to: String,
    /// Why somebody was asked, if they were.
    asked: Vec<Option<String>>,
    end: TurnEnd,
}

async fn comes(act: Act, under: Under) -> Came {
    let options = SessionOptions {
        cwd: "/usr".into(),
        approval: under.approval,
        sandbox: under.sandbox,
        approval_timeout: Some(Duration::from_secs(60)),
        ..options()
    };
    let policy = StandardPolicy::new().with_rules(ExecRules::read(under.rules, "x".as_ref()).unwrap());
    let person = Arc::new(Person(under.answer, Mutex::default()));
    let call = json!({"type": "function_call", "name": "does", "call_id": "a", "arguments": "{}"});
    let model = Arc::new(ScriptedModel::new(vec![vec![item(&call)]]));
    let builder = SessionBuilder::new(options, Arc::clone(&model) as _)
        .policy(Arc::new(policy))
        .approver(Arc::clone(&person) as _)
        .tool(Does(ToolName::plain("does"), act));
    let builder = match under.hook {
        Some(action) => builder.hook(Arc::new(Answers(action))),
        None => builder,
    };
    let mut session = build(builder).await;
    let end = session.run_turn("go", &CancellationToken::new()).await;
    let to = match end {
        TurnEnd::Interrupted => session.history().items().iter().rev().find_map(|item| {
            let value: Value = serde_json::to_value(item).unwrap();
            value["output"].as_str().map(str::to_owned)
        }),
        _ => outputs(&model, 1).pop().map(|(_, output)| output),
    };
    let asked = person.1.lock().unwrap().clone();
    Came { to: to.unwrap_or_default(), asked, end }
}

/// What it came to in short; with `?` before it where somebody was asked.
async fn short(act: Act, under: Under) -> String {
    let came = comes(act, under).await;
    if came.asked.is_empty() { came.to } else { format!("?{}", came.to) }
}

const PROMPT: &str = "prefix_rule(pattern=['make'], decision='prompt')";
const ALLOW: &str = "prefix_rule(pattern=['make'])";
const FORBID: &str = "prefix_rule(pattern=['make'], decision='forbidden', justification='not here')";

/// D9.b, steps 1 to 4.
#[tokio::test]
async fn the_flow_of_one_attempt() {
    let hook = |action| Under { approval: UNTRUSTED, hook: Some(action), ..Under::default() };
    let with = |approval, rules| Under { approval, rules, ..Under::default() };
    let says = |answer| Under { approval: UNTRUSTED, answer: Some(answer), ..Under::default() };
    let refuses = || PermissionRequestAction::Deny { message: "the hook says no".to_owned() };
    let forbidden = "exec command rejected: `bash -lc make` rejected: not here";
    let rows = [
        // 1: the requirement is the exec policy's, a patch's safety, or the default one.
        (Runs("make"), with(ON_REQUEST, PROMPT), "?sandboxed"),
        (Writes("/elsewhere/x"), with(ON_REQUEST, ""), "?sandboxed"),
        (Writes("/usr/x"), with(ON_REQUEST, ""), "sandboxed"),
        (Mcp, with(ON_REQUEST, ""), "?sandboxed"),
        (Other, with(ON_REQUEST, ""), "?sandboxed"),
        // 2: what is forbidden is rejected with the reason, and nobody is asked.
        (Runs("make"), with(ON_REQUEST, FORBID), forbidden),
        // What needs an approval: first the hooks, then the person.
        (Runs("make"), hook(PermissionRequestAction::Allow), "sandboxed"),
        (Runs("make"), hook(refuses()), "the hook says no"),
        (Runs("make"), hook(PermissionRequestAction::Undecided), "?sandboxed"),
        (Runs("make"), says(Denied { reason: None }), "?exec command rejected by user"),
        // What needs none goes on, and no hook is asked.
        (Runs("ls"), hook(refuses()), "sandboxed"),
        // 3: no sandbox where leaving it was asked for and approved,
        (Leaves("make"), with(ON_REQUEST, ""), "?unsandboxed"),
        (Leaves("make"), with(UNTRUSTED, ""), "?unsandboxed"),
        (Runs("make"), with(UNTRUSTED, ""), "?sandboxed"),
        // or where the exec policy allows every segment explicitly, and not where it allows some (D10.6).
        (Runs("make"), with(ON_REQUEST, ALLOW), "unsandboxed"),
        (Runs("make a && make b | make c"), with(NEVER, ALLOW), "unsandboxed"),
        (Runs("make && ls"), with(NEVER, ALLOW), "sandboxed"),
        (Leaves("ls"), with(ON_REQUEST, ""), "sandboxed"),
        // 4: it runs.
        (Runs("make"), with(ON_REQUEST, ""), "sandboxed"),
    ];
    for (act, under, expected) in rows {
        let label = format!("{act:?} {:?} {:?} {:?}", under.approval, under.rules, under.hook);
        assert_eq!(short(act, under).await, expected, "{label}");
    }
}

/// D9.4: what the model reads, for each cause.
#[tokio::test(start_paused = true)]
async fn the_texts_that_the_model_sees() {
    let says = |reason: &str| Denied { reason: Some(reason.to_owned()) };
    let (no, long) = (|| Denied { reason: None }, "x".repeat(900 * 4));
    let asks = |answer| Under { approval: UNTRUSTED, answer: Some(answer), ..Under::default() };
    let never =
        || Under { approval: NEVER, rules: PROMPT, sandbox: SandboxPolicy::ReadOnly, ..Under::default() };
    let approval = "approval required by policy, but AskForApproval is set to Never";
    let in_a_command = format!("exec command rejected: {approval}");
    let rows = [
        // The user says no.
        (Writes("/usr/x"), asks(no()), "?patch rejected by user"),
        (Runs("make"), asks(no()), "?exec command rejected by user"),
        (Runs("make"), asks(says("too slow")), "?exec command rejected: too slow"),
        (Writes("/usr/x"), asks(says("too long")), "?patch rejected: too long"),
        // A client's own words; what it sends for a no, and where no question could be shown.
        (Other, asks(says("not like this")), "?not like this"),
        (Other, asks(says(&long)), &format!("?{long}")),
        (Other, asks(says("rejected by user")), "?rejected by user"),
        (Runs("make"), asks(says("rejected by user")), "?exec command rejected by user"),
        (
            Runs("make"),
            asks(says("approval request failed")),
            "?exec command rejected: approval request failed",
        ),
        (Other, asks(says("denied")), "?denied"),
        // An MCP call is declined.
        (Mcp, asks(no()), "?user rejected MCP tool call"),
        // Nobody answers in time (ours).
        (Runs("make"), Under { answer: None, ..asks(no()) }, "?exec command rejected: approval timed out"),
        (Runs("make"), asks(TimedOut), "?exec command rejected: approval timed out"),
        // Policy never, and an approval is needed.
        (Runs("make"), never(), &in_a_command),
        (Mcp, never(), approval),
        // The default requirement under granular without sandbox_approval.
        (
            Other,
            Under { approval: granular(false, true), ..Under::default() },
            "approval policy disallowed sandbox approval prompt",
        ),
    ];
    for (act, under, expected) in rows {
        let label = format!("{act:?} {:?} {:?}", under.approval, under.answer);
        assert_eq!(short(act, under).await, expected, "{label}");
    }
    // Cut at 900 tokens.
    let cut = short(Other, asks(says(&format!("{long}{long}")))).await;
    assert!(cut.contains("…900 tokens truncated…"), "{cut}");
    // Abort ends the turn.
    let aborted = comes(Runs("make"), asks(Abort)).await;
    assert_eq!((aborted.end, aborted.asked.len()), (TurnEnd::Interrupted, 1));
    assert!(!aborted.to.contains("sandboxed"), "{}", aborted.to);
}

/// D10.3: the decision on a segment that no rule speaks of, by policy; the first row that holds.
#[tokio::test]
async fn what_no_rule_speaks_of() {
    let rm = "exec command rejected: rm -f style commands are not permitted. Use a safer approach";
    let sandboxes = || [Under::default().sandbox, SandboxPolicy::ReadOnly];
    let open = || [SandboxPolicy::DangerFullAccess, SandboxPolicy::ExternalSandbox];
    let all = [NEVER, UNTRUSTED, ON_REQUEST, granular(true, true)];
    let everywhere = || [sandboxes(), open()].concat();
    let rows = [
        // A known command that only reads.
        (Runs("ls -l"), everywhere(), ["sandboxed"; 4]),
        (Runs("cat a | head -n 3 && git status"), everywhere(), ["sandboxed"; 4]),
        (Leaves("ls -l"), everywhere(), ["sandboxed"; 4]),
        // A dangerous one, behind whatever.
        (Runs("rm -f x"), everywhere(), [rm, "?sandboxed", "?sandboxed", "?sandboxed"]),
        (Runs("sudo env A=1 rm -rf x"), everywhere(), [rm, "?sandboxed", "?sandboxed", "?sandboxed"]),
        (
            Runs("ls; bash -c 'sh -c \"rm -rf x\"'"),
            everywhere(),
            [rm, "?sandboxed", "?sandboxed", "?sandboxed"],
        ),
        // Never: allowed, sandboxed. Untrusted: asked about. On-request and granular: by whether it leaves a sandbox.
        (Runs("make"), everywhere(), ["sandboxed", "?sandboxed", "sandboxed", "sandboxed"]),
        (Runs("ls && make"), everywhere(), ["sandboxed", "?sandboxed", "sandboxed", "sandboxed"]),
        (Leaves("make"), sandboxes().into(), ["sandboxed", "?unsandboxed", "?unsandboxed", "?unsandboxed"]),
        (Leaves("make"), open().into(), ["sandboxed", "?unsandboxed", "sandboxed", "sandboxed"]),
        // Anything that is not plain is one command, and none that is known.
        (Runs("ls > x"), everywhere(), ["sandboxed", "?sandboxed", "sandboxed", "sandboxed"]),
    ];
    for (act, sandboxes, expected) in rows {
        for sandbox in sandboxes {
            for (approval, expected) in all.into_iter().zip(expected) {
                let label = format!("{act:?} {approval:?} {}", sandbox.name());
                let under = Under { approval, sandbox: sandbox.clone(), ..Under::default() };
                assert_eq!(short(act, under).await, expected, "{label}");
            }
        }
    }
}

/// D10.3: forbidden goes before prompt, and prompt before allow.
#[tokio::test]
async fn the_strictest_segment_decides() {
    let rules = "prefix_rule(pattern=['a'])\nprefix_rule(pattern=['p'], decision='prompt')\n\
                 prefix_rule(pattern=['f'], decision='forbidden', justification='no')";
    let order = [("a", "unsandboxed"), ("p", "?sandboxed"), ("f", "no")];
    for (weaker, (first, _)) in order.iter().enumerate() {
        for (stricter, expected) in &order[weaker..] {
            for joint in ["&&", "||", ";", "|"] {
                for script in [format!("{first} {joint} {stricter}"), format!("{stricter} {joint} {first}")] {
                    let script: &'static str = script.leak();
                    let came = short(Runs(script), Under { rules, ..Under::default() }).await;
                    assert!(came.ends_with(expected), "{script}: {came}");
                    assert_eq!(came.starts_with("exec command rejected: "), *expected == "no", "{script}");
                }
            }
        }
    }
}

/// D10.4, each text. `blocked by policy` has no way to come: a rule always has words.
#[tokio::test]
async fn the_texts_of_the_exec_policy() {
    let forbid = "prefix_rule(pattern=['make', ['a', 'b']], decision='forbidden')";
    let ask = "prefix_rule(pattern=['make'], decision='prompt', justification='look first')";
    let rejected = [
        (ON_REQUEST, Runs("make"), FORBID, "`bash -lc make` rejected: not here"),
        (
            NEVER,
            Runs("make b c"),
            forbid,
            "`bash -lc 'make b c'` rejected: policy forbids commands starting with `make b`",
        ),
        (NEVER, Runs("make"), PROMPT, "approval required by policy, but AskForApproval is set to Never"),
        (
            granular(false, true),
            Leaves("make"),
            "",
            "approval required by policy, but AskForApproval::Granular.sandbox_approval is false",
        ),
        (
            granular(true, false),
            Runs("make"),
            PROMPT,
            "approval required by policy rule, but AskForApproval::Granular.rules is false",
        ),
    ];
    for (approval, act, rules, expected) in rejected {
        let came = comes(act, Under { approval, rules, ..Under::default() }).await;
        assert_eq!((came.to, came.asked), (format!("exec command rejected: {expected}"), vec![]), "{act:?}");
    }
    let asked = [
        (Runs("make"), ask, Some("`bash -lc make` requires approval: look first")),
        (Runs("make it"), PROMPT, Some("`bash -lc 'make it'` requires approval by policy")),
        (Leaves("make"), "", None),
    ];
    for (act, rules, expected) in asked {
        let came = comes(act, Under { rules, answer: Some(ApprovedForSession), ..Under::default() }).await;
        assert_eq!(came.asked, [expected.map(str::to_owned)], "{act:?}");
    }
    // What has no requirement of its own.
    let came = short(Other, Under { approval: granular(false, false), ..Under::default() }).await;
    assert_eq!(came, "approval policy disallowed sandbox approval prompt");
}
