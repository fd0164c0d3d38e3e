//! Tools and watchers that tests tell what to do, and that tell tests what happened. Nothing here sleeps.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::missing_panics_doc)]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use tenon_core::{Session, SessionBuilder, SessionOptions};
use tenon_protocol::{ResponseItem, ToolName, TurnItem};
use tenon_tools::{
    Clock, Effects, Event, EventSink, FunctionCallError, FunctionToolOutput, JsonSchema, LifecycleOutcome,
    PreparedCall, ScriptedModel, ToolExecutor, ToolInvocation, ToolOutput, ToolPayload, ToolSpec,
};
use tokio::sync::Notify;

/// What happened, in order, in words.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub fn position(&self, line: &str) -> Option<usize> {
        self.lines().iter().position(|seen| seen == line)
    }
}

/// Keeps every event.
#[derive(Clone, Default)]
pub struct Events(Arc<Mutex<Vec<Event>>>, Arc<Notify>);

impl EventSink for Events {
    fn emit(&self, event: Event) {
        self.0.lock().unwrap().push(event);
        self.1.notify_waiters();
    }
}

impl Events {
    pub fn all(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    /// Waits for the first event that `wanted` picks, past or to come.
    pub async fn wait_for(&self, wanted: impl Fn(&Event) -> bool) {
        loop {
            let notified = self.1.notified();
            if self.all().iter().any(&wanted) {
                return;
            }
            notified.await;
        }
    }

    pub fn outcomes(&self) -> Vec<(String, LifecycleOutcome)> {
        let all = self.all().into_iter();
        all.filter_map(|event| match event {
            Event::CallEnded { call_id, outcome, .. } => Some((call_id.to_string(), outcome)),
            _ => None,
        })
        .collect()
    }

    /// The ids of calls' items that were completed, with their status.
    pub fn completed_calls(&self) -> Vec<(String, String)> {
        let all = self.all().into_iter();
        all.filter_map(|event| match event {
            Event::ItemCompleted(item @ (TurnItem::ToolCall { .. } | TurnItem::CommandExecution { .. })) => {
                Some((item.id().to_owned(), format!("{:?}", item.status().unwrap())))
            }
            _ => None,
        })
        .collect()
    }

    pub fn warnings(&self) -> Vec<String> {
        let all = self.all().into_iter();
        all.filter_map(|event| match event {
            Event::Warning { message } => Some(message),
            _ => None,
        })
        .collect()
    }
}

/// A tool that does what its arguments say: `{"do": "echo" | "fail" | "fatal" | "panic" | "hang" | "wait", "text"}`.
/// `wait` waits for [`Script::release`]. What it does is in the log: `prepare X`, `run X`, `done X`.
pub struct Script {
    pub name: ToolName,
    pub parallel: bool,
    pub effects: bool,
    pub teardown: bool,
    pub custom: bool,
    pub log: Log,
    pub release: Arc<tokio::sync::Semaphore>,
}

impl Script {
    pub fn new(name: &str, log: &Log) -> Self {
        Self {
            name: ToolName::plain(name),
            parallel: true,
            effects: true,
            teardown: false,
            custom: false,
            log: log.clone(),
            release: Arc::new(tokio::sync::Semaphore::new(0)),
        }
    }

    pub fn exclusive(mut self) -> Self {
        self.parallel = false;
        self
    }

    pub fn harmless(mut self) -> Self {
        self.effects = false;
        self
    }

    pub fn custom(mut self) -> Self {
        self.custom = true;
        self
    }

    pub fn waits_for_teardown(mut self) -> Self {
        self.teardown = true;
        self
    }
}

struct Prepared {
    text: String,
    what: String,
    effects: Effects,
    teardown: bool,
    log: Log,
    release: Arc<tokio::sync::Semaphore>,
}

#[async_trait]
impl ToolExecutor for Script {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function(self.name.name(), "Does what it is told.", JsonSchema::object([], &[]))
    }

    fn accepts(&self, payload: &ToolPayload) -> bool {
        self.custom == matches!(payload, ToolPayload::Custom { .. })
    }

    fn parallel(&self) -> bool {
        self.parallel
    }

    fn waits_for_cancellation(&self) -> bool {
        self.teardown
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let text = match &call.payload {
            ToolPayload::Function { arguments } => arguments,
            ToolPayload::Custom { input } => input,
            ToolPayload::ToolSearch { .. } => return Err(FunctionCallError::respond("no search")),
        };
        let told: Value =
            serde_json::from_str(text).map_err(|e| FunctionCallError::respond(e.to_string()))?;
        let text = told["text"].as_str().unwrap_or_default().to_owned();
        self.log.add(format!("prepare {text}"));
        if told["do"] == "refuse" {
            return Err(FunctionCallError::respond(format!("refused {text}")));
        }
        let other = self.effects.then(|| "changes the log".to_owned());
        Ok(Box::new(Prepared {
            text,
            what: told["do"].as_str().unwrap_or("echo").to_owned(),
            effects: Effects { other, ..Effects::none() },
            teardown: self.teardown,
            log: self.log.clone(),
            release: Arc::clone(&self.release),
        }))
    }
}

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let Self { text, what, log, .. } = *self;
        log.add(format!("run {text}"));
        match what.as_str() {
            "fail" => return Err(FunctionCallError::respond(format!("failed {text}"))),
            "fatal" => return Err(FunctionCallError::Fatal(format!("broken {text}"))),
            "panic" => panic!("panicked {text}"),
            "hang" if self.teardown => {
                call.cancellation.cancelled().await;
                log.add(format!("torn down {text}"));
                let message = format!("torn down {text}");
                return Ok(Box::new(tenon_tools::AbortedToolOutput { message }));
            }
            "hang" => std::future::pending::<()>().await,
            "wait" => self.release.acquire().await.unwrap().forget(),
            _ => {}
        }
        log.add(format!("done {text}"));
        Ok(Box::new(FunctionToolOutput::from_text(format!("did {text}"), Some(true))))
    }
}

pub fn item(value: &Value) -> ResponseItem {
    ResponseItem::parse(&value.to_string()).unwrap()
}

/// A function call of the script tool `name`.
pub fn call(id: &str, name: &str, what: &str) -> ResponseItem {
    let arguments = json!({"do": what, "text": id}).to_string();
    item(&json!({"type": "function_call", "name": name, "call_id": id, "arguments": arguments}))
}

pub fn custom(id: &str, name: &str, what: &str) -> ResponseItem {
    let input = json!({"do": what, "text": id}).to_string();
    item(&json!({"type": "custom_tool_call", "name": name, "call_id": id, "input": input}))
}

pub fn said(text: &str) -> ResponseItem {
    item(&json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}))
}

pub fn options() -> SessionOptions {
    SessionOptions { stream_max_retries: 2, ..SessionOptions::new("a-model", "/") }
}

pub fn builder(model: &Arc<ScriptedModel>, events: &Events) -> SessionBuilder {
    let clock = Arc::new(Still(std::time::Instant::now()));
    SessionBuilder::new(options(), Arc::clone(model) as _).events(Arc::new(events.clone())).clock(clock)
}

/// A clock that stands still.
struct Still(std::time::Instant);

impl Clock for Still {
    fn now(&self) -> std::time::Instant {
        self.0
    }

    fn wall(&self) -> std::time::SystemTime {
        std::time::SystemTime::UNIX_EPOCH
    }
}

pub async fn build(builder: SessionBuilder) -> Session {
    builder.build().await.unwrap()
}

/// What the model was sent in its nth request, by kind: `(type, call_id, output or text)`.
pub fn sent(model: &ScriptedModel, request: usize) -> Vec<(String, String, String)> {
    let prompts = model.prompts();
    prompts[request].input.iter().map(|item| brief(item)).collect()
}

pub fn brief(item: &ResponseItem) -> (String, String, String) {
    let value: Value = serde_json::to_value(item).unwrap();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let shown = match value["type"].as_str().unwrap() {
        "message" => text(&value["content"][0]["text"]),
        "function_call" | "custom_tool_call" => value["name"].as_str().unwrap_or_default().to_owned(),
        _ => text(&value["output"]),
    };
    let call_id = value["call_id"].as_str().or(value["role"].as_str()).unwrap_or_default();
    (value["type"].as_str().unwrap().to_owned(), call_id.to_owned(), shown)
}

/// The outputs of calls in what the model was sent: `(call_id, output)`.
pub fn outputs(model: &ScriptedModel, request: usize) -> Vec<(String, String)> {
    let all = sent(model, request).into_iter();
    all.filter(|(kind, ..)| kind.ends_with("_output")).map(|(_, id, text)| (id, text)).collect()
}

pub fn pair(id: &str, text: &str) -> (String, String) {
    (id.to_owned(), text.to_owned())
}
