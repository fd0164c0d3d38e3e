//! What becomes of a call that somebody is asked about: whose answer counts, for what, and for how long.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::json;
use support::{Events, Log, Script, build, call, item, options, outputs, pair};
use tenon_core::hooks::{Hook, PreDecision, PreToolUse, PreToolUseAction};
use tenon_core::policy::{
    ExecRules, LimitOptions, LoopGuard, NotRemembered, Rate, StandardPolicy, ToolLimit,
};
use tenon_core::{Policy, PolicyDecision, Question, SessionBuilder, SessionOptions, TurnEnd};
use tenon_protocol::{CallId, ResponseItem, ToolName};
use tenon_tools::{
    ApprovalDecision, ApprovalPolicy, ApprovalRequest, ApprovalScope, Approver, CommandEffect, Confinement,
    ContentHash, Effects, FileEffect, FnTool, FunctionCallError, FunctionToolOutput, HookIdentity,
    JsonSchema, LifecycleOutcome, NoArguments, PreparedCall, SandboxPermissions, SandboxPolicy,
    ScriptedModel, ToolCall, ToolCallSource, ToolExecutor, ToolInvocation, ToolOutput, ToolPayload, ToolSpec,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Asks about everything, for a session as well.
struct Asks;

#[async_trait]
impl Policy for Asks {
    async fn decide(&self, _: &ToolInvocation, _: &Effects) -> PolicyDecision {
        let scopes = vec![ApprovalScope::Once, ApprovalScope::Session];
        PolicyDecision::Ask(Question { scopes, ..Question::default() })
    }
}

type Act = Box<dyn FnOnce() + Send>;

/// What a person does with one question.
enum Answer {
    Says(ApprovalDecision),
    /// Does something first.
    After(Act, ApprovalDecision),
    /// Never answers.
    Silence,
}

/// A person at the other end, and what they were asked.
#[derive(Default)]
struct Person {
    answers: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<ApprovalRequest>>,
    withdrawn: Arc<Mutex<usize>>,
    asks: Notify,
}

impl Person {
    fn who(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into_iter().collect()), ..Self::default() })
    }

    fn says(answers: impl IntoIterator<Item = ApprovalDecision>) -> Arc<Self> {
        Self::who(answers.into_iter().map(Answer::Says))
    }

    fn asked(&self) -> Vec<ApprovalRequest> {
        self.asked.lock().unwrap().clone()
    }

    async fn is_asked(&self, questions: usize) {
        while self.asked().len() < questions {
            let asks = self.asks.notified();
            if self.asked().len() >= questions {
                break;
            }
            asks.await;
        }
    }
}

/// Counts questions that are dropped before they were answered.
struct Open(Arc<Mutex<usize>>, bool);

impl Drop for Open {
    fn drop(&mut self) {
        if self.1 {
            *self.0.lock().unwrap() += 1;
        }
    }
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, request: ApprovalRequest) -> ApprovalDecision {
        let mut open = Open(Arc::clone(&self.withdrawn), true);
        self.asked.lock().unwrap().push(request);
        self.asks.notify_waiters();
        let answer = self.answers.lock().unwrap().pop_front().expect("an answer");
        let decision = match answer {
            Answer::Says(decision) => decision,
            Answer::After(act, decision) => {
                act();
                decision
            }
            Answer::Silence => std::future::pending().await,
        };
        open.1 = false;
        decision
    }
}

fn session(model: &Arc<ScriptedModel>, events: &Events, person: &Arc<Person>) -> SessionBuilder {
    session_with(options(), model, events, person)
}

fn session_with(
    options: SessionOptions,
    model: &Arc<ScriptedModel>,
    events: &Events,
    person: &Arc<Person>,
) -> SessionBuilder {
    SessionBuilder::new(options, Arc::clone(model) as _)
        .events(Arc::new(events.clone()))
        .policy(Arc::new(Asks))
        .approver(Arc::clone(person) as _)
}

async fn go(builder: SessionBuilder) -> TurnEnd {
    build(builder).await.run_turn("go", &CancellationToken::new()).await
}

/// A tool that would write the file it is pointed at, and says how it was confined.
struct Writer {
    name: ToolName,
    file: PathBuf,
}

struct Prepared(Effects);

impl Writer {
    fn new(file: impl Into<PathBuf>) -> Self {
        Self { name: ToolName::plain("writer"), file: file.into() }
    }
}

#[async_trait]
impl ToolExecutor for Writer {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function("writer", "Writes.", JsonSchema::object([], &[]))
    }

    async fn prepare(&self, _: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let content = std::fs::read(&self.file).ok().map(|bytes| {
            let mut hash = [0; 32];
            hash.iter_mut().zip(bytes).for_each(|(hash, byte)| *hash = byte);
            ContentHash(hash)
        });
        let writes = vec![FileEffect { path: self.file.clone(), content }];
        Ok(Box::new(Prepared(Effects { writes, ..Effects::none() })))
    }
}

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.0
    }

    fn diff(&self) -> Option<String> {
        (!self.0.writes.is_empty()).then(|| "the diff".to_owned())
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let confined = match call.confinement {
            Confinement::Sandboxed => "sandboxed",
            Confinement::Unsandboxed => "unsandboxed",
        };
        Ok(Box::new(FunctionToolOutput::from_text(confined.to_owned(), Some(true))))
    }
}

/// A tool that would run the command its arguments name.
struct Runner(ToolName);

#[async_trait]
impl ToolExecutor for Runner {
    fn name(&self) -> &ToolName {
        &self.0
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function("run", "Runs.", JsonSchema::object([], &[]))
    }

    fn parallel(&self) -> bool {
        true
    }

    fn hook_identity(&self) -> Option<HookIdentity> {
        Some(HookIdentity::function(&self.0))
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let arguments: serde_json::Value = serde_json::from_str(call.function_arguments("run")?).unwrap();
        let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let sandbox_permissions = if arguments["escalate"] == true {
            SandboxPermissions::RequireEscalated
        } else {
            SandboxPermissions::UseDefault
        };
        let command = CommandEffect {
            argv: vec!["bash".to_owned(), "-lc".to_owned(), text("cmd")],
            cwd: "/".into(),
            sandbox_permissions,
            ..CommandEffect::default()
        };
        Ok(Box::new(Prepared(Effects { command: Some(command), ..Effects::none() })))
    }
}

fn run(id: &str, cmd: &str, escalate: bool) -> ResponseItem {
    let arguments = json!({"cmd": cmd, "escalate": escalate}).to_string();
    item(&json!({"type": "function_call", "name": "run", "call_id": id, "arguments": arguments}))
}

fn runner() -> Runner {
    Runner(ToolName::plain("run"))
}

fn scripted(calls: Vec<ResponseItem>) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new(vec![calls]))
}

#[tokio::test]
async fn a_request_says_all_that_the_call_would_do() {
    let (events, person) = (Events::default(), Person::says(vec![ApprovalDecision::Approved; 3]));
    let model = scripted(vec![call("a", "t", "echo"), call("b", "writer", ""), run("c", "make", false)]);
    let builder = session(&model, &events, &person).tool(Script::new("t", &Log::default()).exclusive());
    go(builder.tool(Writer::new("/a")).tool(runner())).await;
    let asked = person.asked();
    let by_id = |id: &str| asked.iter().find(|asked| asked.call_id == id).unwrap();
    let (other, writer, command) = (by_id("a"), by_id("b"), by_id("c"));
    assert_eq!(other.arguments, Some(json!({"do": "echo", "text": "a"})));
    assert_eq!((other.diff.as_deref(), other.effects.other.as_deref()), (None, Some("changes the log")));
    assert_eq!((writer.diff.as_deref(), writer.arguments.as_ref()), (Some("the diff"), None));
    assert_eq!(command.effects.command.as_ref().unwrap().argv, ["bash", "-lc", "make"]);
    for request in [other, writer, command] {
        assert_eq!(request.scopes, [ApprovalScope::Once, ApprovalScope::Session]);
        assert!(!request.changed);
    }
    assert_eq!(other.source, ToolCallSource::Direct);
}

#[test]
fn each_scope_says_when_it_ends() {
    let prefix = ApprovalScope::Prefix { prefix: vec!["a".to_owned()], file: "/h/default.rules".into() };
    let (server, tool) = ("s".to_owned(), "t".to_owned());
    let mcp = ApprovalScope::McpTool { server, tool, file: "/h/config.toml".into() };
    let ends = [ApprovalScope::Once, ApprovalScope::Session, prefix, mcp].map(|scope| scope.ends());
    let expected = [
        "with this call",
        "with this session",
        "when the rule is taken out of /h/default.rules",
        "when the tool's approval_mode is taken out of /h/config.toml",
    ];
    assert_eq!(ends, expected);
}

#[tokio::test]
async fn what_changed_while_it_waited_is_asked_about_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x");
    let change = |text: &'static str| -> Act {
        let file = file.clone();
        Box::new(move || std::fs::write(file, text).unwrap())
    };
    let approved = || ApprovalDecision::Approved;
    let keeps_changing = "not run: what this call would do changed each time its approval was given";
    let rows: [(Vec<Answer>, &str); 3] = [
        (vec![Answer::After(change("one"), approved()), Answer::Says(approved())], "sandboxed"),
        (
            vec![
                Answer::After(change("two"), approved()),
                Answer::Says(ApprovalDecision::Denied { reason: None }),
            ],
            "patch rejected by user",
        ),
        (
            ["three", "four", "five"].map(|text| Answer::After(change(text), approved())).into(),
            keeps_changing,
        ),
    ];
    for (answers, expected) in rows {
        let questions = answers.len();
        let (events, person) = (Events::default(), Person::who(answers));
        let model = scripted(vec![call("a", "writer", "")]);
        go(session(&model, &events, &person).tool(Writer::new(&file))).await;
        assert_eq!(outputs(&model, 1), [pair("a", expected)]);
        let changed: Vec<bool> = person.asked().iter().map(|asked| asked.changed).collect();
        assert_eq!(changed, (0..questions).map(|question| question > 0).collect::<Vec<_>>());
        let hashes: Vec<_> = person.asked().iter().map(|asked| asked.effects.writes[0].content).collect();
        assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]), "each question shows what is there");
    }
}

#[tokio::test]
async fn a_script_that_changed_while_it_waited_is_asked_about_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.sh");
    std::fs::write(&file, "echo one").unwrap();
    let changed = file.clone();
    let change: Act = Box::new(move || std::fs::write(changed, "echo two").unwrap());
    let answers = [
        Answer::After(change, ApprovalDecision::ApprovedForSession),
        Answer::Says(ApprovalDecision::Denied { reason: Some("not this one".to_owned()) }),
    ];
    let (events, person) = (Events::default(), Person::who(answers));
    let model = scripted(vec![run("a", &format!("sh {}", file.display()), false)]);
    go(session(&model, &events, &person).tool(runner())).await;
    assert_eq!(outputs(&model, 1), [pair("a", "exec command rejected: not this one")]);
    let reads: Vec<_> = person.asked().into_iter().map(|asked| asked.effects.reads).collect();
    assert_eq!(reads[0][0].path, file.canonicalize().unwrap());
    assert_ne!(reads[0][0].content, reads[1][0].content);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_waited_for_so_long_and_no_longer() {
    let (events, person) = (Events::default(), Person::who([Answer::Silence]));
    let model = scripted(vec![call("a", "writer", "")]);
    let options = SessionOptions { approval_timeout: Some(Duration::from_secs(60)), ..options() };
    let begin = tokio::time::Instant::now();
    go(session_with(options, &model, &events, &person).tool(Writer::new("/a"))).await;
    assert_eq!(outputs(&model, 1), [pair("a", "patch rejected: approval timed out")]);
    assert_eq!(begin.elapsed().as_secs(), 60);
    assert_eq!(*person.withdrawn.lock().unwrap(), 1);
}

#[tokio::test]
async fn a_cancelled_call_withdraws_its_question() {
    let (log, events, person) = (Log::default(), Events::default(), Person::who([Answer::Silence]));
    let model = scripted(vec![call("a", "t", "echo")]);
    let cancellation = CancellationToken::new();
    let mut session = build(session(&model, &events, &person).tool(Script::new("t", &log))).await;
    let (end, ()) = tokio::join!(session.run_turn("go", &cancellation), async {
        person.is_asked(1).await;
        cancellation.cancel();
    });
    assert_eq!(end, TurnEnd::Interrupted);
    assert_eq!(*person.withdrawn.lock().unwrap(), 1);
    assert_eq!(log.lines(), ["prepare a"]);
    assert_eq!(events.outcomes(), [("a".to_owned(), LifecycleOutcome::Aborted)]);
}

#[tokio::test]
async fn cancelling_one_call_leaves_the_question_of_another() {
    let (log, events) = (Log::default(), Events::default());
    let person = Person::who([Answer::Silence, Answer::Silence]);
    let model = scripted(vec![call("a", "t", "echo"), call("b", "t", "echo")]);
    let mut session = build(session(&model, &events, &person).tool(Script::new("t", &log))).await;
    let (handle, cancellation) = (session.handle(), CancellationToken::new());
    let (_, ()) = tokio::join!(session.run_turn("go", &cancellation), async {
        person.is_asked(2).await;
        handle.cancel_call(&CallId::from("a"));
        events.wait_for(|event| matches!(event, tenon_tools::Event::CallEnded { .. })).await;
        assert_eq!(*person.withdrawn.lock().unwrap(), 1);
        cancellation.cancel();
    });
    assert_eq!(*person.withdrawn.lock().unwrap(), 2);
}

/// A call keeps its place in the gate while it waits.
#[tokio::test]
async fn a_waiting_call_stops_no_parallel_one_and_an_exclusive_one_holds_what_comes_after() {
    for exclusive in [false, true] {
        let (log, events) = (Log::default(), Events::default());
        let person = Person::who([Answer::Silence]);
        let model = scripted(vec![call("asked", "t", "echo"), call("other", "free", "echo")]);
        let asked = Script::new("t", &log);
        let asked = if exclusive { asked.exclusive() } else { asked };
        let builder =
            session(&model, &events, &person).tool(asked).tool(Script::new("free", &log).harmless());
        let mut session = build(builder).await;
        let cancellation = CancellationToken::new();
        let (_, ()) = tokio::join!(session.run_turn("go", &cancellation), async {
            person.is_asked(1).await;
            if !exclusive {
                let done = |event: &tenon_tools::Event| matches!(event, tenon_tools::Event::CallEnded { .. });
                events.wait_for(done).await;
            }
            cancellation.cancel();
        });
        assert_eq!(log.position("done other").is_some(), !exclusive);
        assert!(log.position("run asked").is_none());
    }
}

fn untrusted() -> SessionOptions {
    SessionOptions { approval: ApprovalPolicy::UnlessTrusted, ..options() }
}

/// An answer for the session settles the questions that are open: nobody is asked twice.
#[tokio::test]
async fn an_answer_for_the_session_settles_the_same_question_of_another_call() {
    let (events, answers) = (Events::default(), Arc::new(Notify::new()));
    struct Waits(Arc<Notify>, Mutex<usize>);
    #[async_trait]
    impl Approver for Waits {
        async fn approve(&self, request: ApprovalRequest) -> ApprovalDecision {
            let number = {
                let mut asked = self.1.lock().unwrap();
                *asked += 1;
                *asked
            };
            if number == 1 {
                self.0.notified().await;
                return ApprovalDecision::ApprovedForSession;
            }
            // The second question is there; the first one is answered.
            self.0.notify_one();
            assert_eq!(request.scopes.len(), 2);
            std::future::pending().await
        }
    }
    let model = scripted(vec![run("a", "make x", false), run("b", "make  x", false)]);
    let approver = Arc::new(Waits(answers, Mutex::new(0)));
    let builder = SessionBuilder::new(untrusted(), Arc::clone(&model) as _)
        .events(Arc::new(events))
        .policy(Arc::new(StandardPolicy::new()))
        .approver(Arc::clone(&approver) as _);
    go(builder.tool(runner())).await;
    assert_eq!(outputs(&model, 1), [pair("a", "sandboxed"), pair("b", "sandboxed")]);
    assert_eq!(*approver.1.lock().unwrap(), 2);
}

#[tokio::test]
async fn a_yes_for_the_session_holds_for_the_same_and_not_for_what_begins_like_it() {
    let (events, person) = (
        Events::default(),
        Person::says([ApprovalDecision::ApprovedForSession, ApprovalDecision::Denied { reason: None }]),
    );
    let turns = ["git log -1", "git log '-1'", "git log -2"];
    let turns: Vec<_> =
        turns.iter().enumerate().map(|(n, cmd)| vec![run(&n.to_string(), cmd, false)]).collect();
    let model = Arc::new(ScriptedModel::new(turns));
    let rules = ExecRules::read("prefix_rule(pattern=['git'], decision='prompt')", "x".as_ref()).unwrap();
    let policy = Arc::new(StandardPolicy::new().with_rules(rules));
    go(session_with(untrusted(), &model, &events, &person).policy(policy).tool(runner())).await;
    let all = outputs(&model, 3);
    assert_eq!(
        all,
        [pair("0", "sandboxed"), pair("1", "sandboxed"), pair("2", "exec command rejected by user")]
    );
    assert_eq!(person.asked().len(), 2);
}

/// D9.b, step 3: what lifts the sandbox.
#[tokio::test]
async fn an_approved_escalation_and_an_allowing_rule_lift_the_sandbox() {
    let home = tempfile::tempdir().unwrap();
    let on_request = || SessionOptions {
        approval: ApprovalPolicy::OnRequest,
        sandbox: SandboxPolicy::ReadOnly,
        ..options()
    };
    let amendment = |words: &[&str]| ApprovalDecision::ApprovedExecPolicyAmendment {
        prefix: words.iter().map(ToString::to_string).collect(),
    };
    let rows = [
        (on_request(), run("a", "make", false), None, "sandboxed"),
        (on_request(), run("a", "make", true), Some(ApprovalDecision::Approved), "unsandboxed"),
        (on_request(), run("a", "make", true), Some(ApprovalDecision::ApprovedForSession), "unsandboxed"),
        (untrusted(), run("a", "make", false), Some(ApprovalDecision::Approved), "sandboxed"),
        // A rule that speaks for the call lets it out; one that was changed so that it does not, does not.
        (untrusted(), run("a", "make it", false), Some(amendment(&["make", "it"])), "unsandboxed"),
        (untrusted(), run("a", "cargo it", false), Some(amendment(&["cargo", "test"])), "sandboxed"),
        (untrusted(), run("a", "python3 x", false), Some(amendment(&["python3"])), "sandboxed"),
    ];
    for (options, asked, answer, expected) in rows {
        let label = format!("{asked:?} {answer:?}");
        let (events, person) = (Events::default(), Person::says(answer));
        let model = scripted(vec![asked]);
        let policy = Arc::new(StandardPolicy::new().with_rules_of(home.path()).unwrap());
        go(session_with(options, &model, &events, &person).policy(policy).tool(runner())).await;
        assert_eq!(outputs(&model, 1), [pair("a", expected)], "{label}");
        let warnings = events.warnings();
        let too_wide =
            "the approval counts for this call alone: a rule on `python3` would allow far more than this";
        assert_eq!(warnings, if label.contains("python3") { vec![too_wide] } else { vec![] }, "{label}");
    }
    let written = std::fs::read_to_string(home.path().join("rules/default.rules")).unwrap();
    let rule = |words: &str| format!("prefix_rule(pattern=[{words}], decision=\"allow\")\n");
    assert_eq!(written, rule("\"make\", \"it\"") + &rule("\"cargo\", \"test\""));
}

/// Answers with more than was offered count for the call alone.
#[tokio::test]
async fn nobody_approves_more_than_was_offered() {
    let (log, events) = (Log::default(), Events::default());
    let amendment = ApprovalDecision::ApprovedExecPolicyAmendment { prefix: vec!["x".to_owned()] };
    let person = Person::says([
        amendment,
        ApprovalDecision::ApprovedForSession,
        ApprovalDecision::ApprovedMcpPolicyAmendment,
    ]);
    struct Remembers(Log);
    #[async_trait]
    impl Policy for Remembers {
        async fn decide(&self, _: &ToolInvocation, _: &Effects) -> PolicyDecision {
            PolicyDecision::ask("why")
        }

        async fn remember(
            &self,
            _: &ToolInvocation,
            _: &Effects,
            scope: &ApprovalScope,
        ) -> Result<(), NotRemembered> {
            self.0.add(format!("{scope:?}"));
            Ok(())
        }
    }
    let model = Arc::new(ScriptedModel::new(["a", "b", "c"].map(|id| vec![call(id, "t", "echo")])));
    let policy = Arc::new(Remembers(log.clone()));
    go(session(&model, &events, &person).policy(policy).tool(Script::new("t", &Log::default()))).await;
    assert_eq!(outputs(&model, 3), [pair("a", "did a"), pair("b", "did b"), pair("c", "did c")]);
    assert_eq!(log.lines(), [] as [&str; 0]);
}

/// A hook that wants somebody asked, or gives the call another form.
struct Looks(PreDecision);

#[async_trait]
impl Hook for Looks {
    async fn pre_tool_use(&self, _: &PreToolUse) -> PreToolUseAction {
        PreToolUseAction { decision: self.0.clone(), additional_context: None }
    }
}

#[tokio::test]
async fn a_hooks_question_takes_the_same_way() {
    let denied = ApprovalDecision::Denied { reason: Some("the hook is right".to_owned()) };
    // What policy lets run, and what does nothing at all, is asked about all the same.
    for harmless in [false, true] {
        for (answer, expected) in
            [(ApprovalDecision::Approved, "did a"), (denied.clone(), "the hook is right")]
        {
            let (log, events, person) = (Log::default(), Events::default(), Person::says([answer]));
            let model = scripted(vec![call("a", "t", "echo")]);
            let tool = Script::new("t", &log);
            let tool = if harmless { tool.harmless() } else { tool };
            let builder = session(&model, &events, &person).policy(Arc::new(tenon_core::AllowAll)).tool(tool);
            go(builder.hook(Arc::new(Looks(PreDecision::Ask { reason: "look at it".to_owned() })))).await;
            assert_eq!(outputs(&model, 1), [pair("a", expected)]);
            let asked = person.asked();
            assert_eq!(asked[0].reason.as_deref(), Some("look at it"));
            assert_eq!(asked[0].scopes, [ApprovalScope::Once]);
        }
    }
}

#[tokio::test]
async fn a_rewritten_command_is_judged_in_its_new_form() {
    let rules =
        ExecRules::read("prefix_rule(pattern=['never'], decision='forbidden')", "x".as_ref()).unwrap();
    let policy = || Arc::new(StandardPolicy::new().with_rules(rules.clone()));
    let forbidden =
        "exec command rejected: `bash -lc never` rejected: policy forbids commands starting with `never`";
    for (asked, rewritten, expected) in [("fine", "never", forbidden), ("never", "fine", "sandboxed")] {
        let (events, person) = (Events::default(), Person::says([]));
        let model = scripted(vec![run("a", asked, false)]);
        let hook = Looks(PreDecision::Rewrite { input: json!({"cmd": rewritten}) });
        let builder = session(&model, &events, &person).policy(policy()).tool(runner()).hook(Arc::new(hook));
        go(builder).await;
        assert_eq!(outputs(&model, 1), [pair("a", expected)]);
    }
}

/// A tool that calls another one, as a script would.
struct Nests(ToolName);

struct NestedCall(Effects);

#[async_trait]
impl ToolExecutor for Nests {
    fn name(&self) -> &ToolName {
        &self.0
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function("nest", "Calls.", JsonSchema::object([], &[]))
    }

    async fn prepare(&self, _: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        Ok(Box::new(NestedCall(Effects::none())))
    }
}

#[async_trait]
impl PreparedCall for NestedCall {
    fn effects(&self) -> &Effects {
        &self.0
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let source = ToolCallSource::CodeMode {
            cell_id: "cell".to_owned(),
            runtime_tool_call_id: format!("{}-1", call.call_id),
        };
        let nested = ToolCall {
            tool_name: ToolName::plain("run"),
            call_id: CallId::from(format!("{}-1", call.call_id).as_str()),
            payload: ToolPayload::Function { arguments: call.function_arguments("nest")?.to_owned() },
            encrypted_function_args: None,
        };
        let answer = call.host.tools.call(nested, source, call.cancellation.clone()).await;
        let text = answer.map_or_else(|error| error.text().to_owned(), |value| value.to_string());
        Ok(Box::new(FunctionToolOutput::from_text(format!("nested: {text}"), Some(true))))
    }
}

fn nest(id: &str, cmd: &str) -> ResponseItem {
    let arguments = json!({"cmd": cmd}).to_string();
    item(&json!({"type": "function_call", "name": "nest", "call_id": id, "arguments": arguments}))
}

fn nests() -> Nests {
    Nests(ToolName::plain("nest"))
}

#[tokio::test]
async fn a_nested_call_is_decided_on_like_a_direct_one() {
    let rules = "prefix_rule(pattern=['never'], decision='forbidden')\nprefix_rule(pattern=['fine'])";
    let rules = ExecRules::read(rules, "x".as_ref()).unwrap();
    let policy = Arc::new(StandardPolicy::new().with_rules(rules));
    let denied = ApprovalDecision::Denied { reason: None };
    let (events, person) = (Events::default(), Person::says([denied, ApprovalDecision::ApprovedForSession]));
    let turns = vec![
        vec![nest("a", "fine")],
        vec![nest("b", "never")],
        vec![nest("c", "make")],
        vec![nest("d", "make")],
        // What was approved in a script is approved outside of one.
        vec![run("e", "make", false)],
    ];
    let model = Arc::new(ScriptedModel::new(turns));
    go(session_with(untrusted(), &model, &events, &person).policy(policy).tool(runner()).tool(nests())).await;
    let never = "nested: exec command rejected: `bash -lc never` rejected: policy forbids commands starting with `never`";
    let expected = [
        pair("a", "nested: \"unsandboxed\""),
        pair("b", never),
        pair("c", "nested: exec command rejected by user"),
        pair("d", "nested: \"sandboxed\""),
        pair("e", "sandboxed"),
    ];
    assert_eq!(outputs(&model, 5), expected);
    assert!(person.asked()[0].source.is_nested());
}

/// Calls `run` as a script would, and lets go of the call once the person has been asked. Says whether the cell had an
/// open question before, meanwhile and afterwards.
fn looks_at_questions(person: &Arc<Person>) -> FnTool<NoArguments> {
    let person = Arc::clone(person);
    FnTool::new("nest", "Calls.", move |_: NoArguments, call: ToolInvocation| {
        let person = Arc::clone(&person);
        async move {
            let are_open = || call.host.questions.are_open("cell");
            let mut seen = vec![are_open()];
            let source = ToolCallSource::CodeMode {
                cell_id: "cell".to_owned(),
                runtime_tool_call_id: "tool-1".to_owned(),
            };
            let nested = ToolCall {
                tool_name: ToolName::plain("run"),
                call_id: CallId::from("nested"),
                payload: ToolPayload::Function { arguments: json!({"cmd": "make"}).to_string() },
                encrypted_function_args: None,
            };
            let cancellation = call.cancellation.child_token();
            let looks = async {
                person.is_asked(1).await;
                seen.push(are_open());
                cancellation.cancel();
            };
            let _ = tokio::join!(call.host.tools.call(nested, source, cancellation.clone()), looks);
            seen.push(are_open());
            format!("{seen:?}")
        }
    })
}

/// C8.14: `exec` and `wait` hold their reply meanwhile.
#[tokio::test]
async fn a_question_about_a_nested_call_is_open_until_it_is_answered_or_taken_back() {
    let (events, person) = (Events::default(), Person::who([Answer::Silence]));
    let model = Arc::new(ScriptedModel::new(vec![vec![nest("a", "make")]]));
    let policy = Arc::new(StandardPolicy::new());
    let builder = session_with(untrusted(), &model, &events, &person).policy(policy);
    go(builder.tool(runner()).tool(looks_at_questions(&person))).await;
    assert_eq!(outputs(&model, 1), [pair("a", "[false, true, false]")]);
}

fn limits(limits: LimitOptions) -> SessionOptions {
    SessionOptions { limits, ..options() }
}

#[tokio::test]
async fn direct_and_nested_calls_draw_on_one_rate() {
    let rate = Rate { calls: 2.try_into().unwrap(), per: Duration::from_secs(1000) };
    let tools = [("run".to_owned(), ToolLimit { calls_per_turn: None, rate: Some(rate) })].into();
    let limited = limits(LimitOptions { tools, ..LimitOptions::default() });
    let (events, person) = (Events::default(), Person::says([]));
    let turns = vec![
        vec![run("a", "x", false)],
        vec![nest("b", "x")],
        vec![nest("c", "x")],
        vec![run("d", "x", false)],
    ];
    let model = Arc::new(ScriptedModel::new(turns));
    let builder = session_with(limited, &model, &events, &person).policy(Arc::new(tenon_core::AllowAll));
    go(builder.tool(runner()).tool(nests())).await;
    let all = outputs(&model, 4);
    assert_eq!(all[..2], [pair("a", "sandboxed"), pair("b", "nested: \"sandboxed\"")]);
    let text = "not run: run may be called 2 times in 1000 seconds; the next call can be made in ";
    assert!(all[2].1.starts_with(&format!("nested: {text}")), "{all:?}");
    assert!(all[3].1.starts_with(text), "{all:?}");
}

#[tokio::test]
async fn the_same_call_with_the_same_failure_is_noted_then_refused() {
    let guard = LoopGuard { note_after: 2.try_into().unwrap(), refuse_after: 3.try_into().unwrap() };
    let limited = limits(LimitOptions { loop_guard: Some(guard), ..LimitOptions::default() });
    let (log, events, person) = (Log::default(), Events::default(), Person::says([]));
    let fails = |id: &str| {
        let arguments = json!({"do": "fail", "text": "x"}).to_string();
        item(&json!({"type": "function_call", "name": "t", "call_id": id, "arguments": arguments}))
    };
    let turns: Vec<_> = (0..20).map(|number| vec![fails(&number.to_string())]).collect();
    let model = Arc::new(ScriptedModel::new(turns));
    let builder = session_with(limited, &model, &events, &person).policy(Arc::new(tenon_core::AllowAll));
    go(builder.tool(Script::new("t", &log))).await;
    assert_eq!(log.lines().iter().filter(|line| *line == "run x").count(), 3);
    let all = outputs(&model, 20);
    assert_eq!(all[2], pair("2", "failed x"));
    let refused = "not run: this call of t has failed 3 times in this turn in the same way, as often as it may; the \
                   limit ends with the turn, and does not hold for other arguments";
    assert!(all[3..].iter().all(|(_, text)| text == refused), "{all:?}");
    let notes = support::sent(&model, 20).into_iter().filter(|(_, role, _)| role == "developer");
    let notes: Vec<String> = notes.map(|(_, _, text)| text).collect();
    let note = |count: usize| {
        format!(
            "this call of t has failed {count} times in this turn in the same way: change something before it is made \
             again (it is refused after 3 such failures)"
        )
    };
    assert_eq!(notes, [note(2), note(3)]);
}
