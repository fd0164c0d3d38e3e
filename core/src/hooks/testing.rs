//! Hooks whose runs a test decides, and what comes of them in words.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use tenon_protocol::CallId;
use tenon_tools::{
    CommandError, CommandOutcome, CommandRequest, CommandRunner, Event, EventSink, HookEventName,
    HookRunSummary, Host, StepContext, ToolCallSource,
};
use tokio::sync::watch;

use super::command::CommandHook;
use super::{
    Handler, HookChain, HookConfig, HookContext, HookContract, HookServices, OnError, PostToolUse,
    PreToolUse, Spill,
};

pub(super) const PLAIN: HookContract = HookContract { extended: false, on_error: OnError::Allow };
pub(super) const CLOSED: HookContract = HookContract { extended: false, on_error: OnError::Block };
pub(super) const EXTENDED: HookContract = HookContract { extended: true, on_error: OnError::Allow };

/// How a run ends.
pub(super) type End = Result<CommandOutcome, CommandError>;

pub(super) fn exits(code: i32, stdout: &str, stderr: &str) -> End {
    Ok(CommandOutcome {
        exit_code: Some(code),
        stdout: stdout.into(),
        stderr: stderr.into(),
        dropped_bytes: 0,
    })
}

pub(super) fn prints(stdout: &Value) -> End {
    exits(0, &stdout.to_string(), "")
}

/// Runs hooks whose command is the number of an end, and lets them end in the order that is asked for.
struct Script {
    ends: Vec<End>,
    order: Vec<usize>,
    ended: watch::Sender<usize>,
    requests: Arc<Mutex<Vec<CommandRequest>>>,
}

#[async_trait]
impl CommandRunner for Script {
    async fn run(&self, request: CommandRequest) -> Result<CommandOutcome, CommandError> {
        let number: usize = request.argv[2].to_str().expect("text").parse().expect("a number");
        self.requests.lock().expect("no panic").push(request);
        let place = self.order.iter().position(|one| *one == number).unwrap_or(0);
        let mut ended = self.ended.subscribe();
        ended.wait_for(|ended| *ended >= place).await.expect("the sender lives");
        self.ended.send_modify(|ended| *ended += 1);
        self.ends[number].clone()
    }
}

/// Keeps events.
#[derive(Clone, Default)]
pub(super) struct Heard(Arc<Mutex<Vec<Event>>>);

impl EventSink for Heard {
    fn emit(&self, event: Event) {
        self.0.lock().expect("no panic").push(event);
    }
}

impl Heard {
    pub(super) fn warnings(&self) -> Vec<String> {
        let all = self.0.lock().expect("no panic");
        let warnings = all.iter().filter_map(|event| match event {
            Event::Warning { message } => Some(message.clone()),
            _ => None,
        });
        warnings.collect()
    }

    /// Runs as they were told: whether it is the end, and the run.
    pub(super) fn runs(&self) -> Vec<(bool, HookRunSummary)> {
        let all = self.0.lock().expect("no panic");
        let runs = all.iter().filter_map(|event| match event {
            Event::HookStarted { run, .. } => Some((false, run.clone())),
            Event::HookCompleted { run, .. } => Some((true, run.clone())),
            _ => None,
        });
        runs.collect()
    }
}

/// Hooks of one event under test.
pub(super) struct Hooks {
    pub(super) chain: HookChain,
    pub(super) heard: Heard,
    pub(super) requests: Arc<Mutex<Vec<CommandRequest>>>,
}

/// One hook for each end, each under its contract, that end in order.
pub(super) fn hooks(event: HookEventName, ends: Vec<(HookContract, End)>) -> Hooks {
    let order = (0..ends.len()).collect();
    hooks_ending(event, ends, order)
}

/// The same, ending in another order.
pub(super) fn hooks_ending(event: HookEventName, ends: Vec<(HookContract, End)>, order: Vec<usize>) -> Hooks {
    let (heard, requests) = (Heard::default(), Arc::default());
    let mut host = Host::detached();
    host.events = Arc::new(heard.clone());
    let handler = |number: usize, contract: HookContract| {
        json!({"type": "command", "command": number.to_string(), "extended": contract.extended,
               "on_error": if contract.on_error == OnError::Block { "block" } else { "allow" }})
    };
    let handlers: Vec<Value> =
        ends.iter().enumerate().map(|(n, (contract, _))| handler(n, *contract)).collect();
    let file = json!({"hooks": {event.name(): [{"hooks": handlers}]}}).to_string();
    let config = HookConfig::parse(&file, Path::new("/h/hooks.json"));
    let ended = watch::Sender::new(0);
    let ends = ends.into_iter().map(|(_, end)| end).collect();
    let runner = Arc::new(Script { ends, order, ended, requests: Arc::clone(&requests) });
    let environment = Arc::new(BTreeMap::from([("A".into(), "b".into())]));
    let hooks = config.hooks.into_iter().map(|hook| {
        Box::new(CommandHook::new(hook, Arc::clone(&runner) as _, Arc::clone(&environment)))
            as Box<dyn Handler>
    });
    let chain = HookChain::of(hooks.collect(), HookServices::new(&host, Spill::default()));
    Hooks { chain, heard, requests }
}

pub(super) fn context() -> HookContext {
    let (session_id, turn_id, cwd) = ("s".to_owned(), "t".to_owned(), "/w".into());
    HookContext::from(&StepContext { session_id, turn_id, cwd, ..StepContext::default() })
}

pub(super) fn before() -> PreToolUse {
    PreToolUse {
        context: context(),
        tool_name: "Bash".into(),
        tool_input: json!({"command": "ls"}),
        tool_use_id: CallId::from("c"),
        source: ToolCallSource::Direct,
        paths: None,
    }
}

pub(super) fn after() -> PostToolUse {
    PostToolUse {
        context: context(),
        tool_name: "Bash".into(),
        tool_input: json!({"command": "ls"}),
        original_input: None,
        tool_response: json!("out"),
        whole_response: None,
        tool_use_id: CallId::from("c"),
        source: ToolCallSource::Direct,
        success: true,
        exit_code: Some(0),
        finished: true,
        is_plain: true,
    }
}
