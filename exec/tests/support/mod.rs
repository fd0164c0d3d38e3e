//! A host for the tools that remembers what it is told, and calls of them without a session around.
#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod alone;
pub(crate) mod fenced;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tenon_exec::{Environment, ExecConfig, ExecService, IdSource};
use tenon_protocol::{
    CallFact, CallId, FunctionCallOutputBody, ItemStatus, ResponseInputItem, ToolName, TurnItem,
};
use tenon_tools::{
    CommandInterceptor, Event, EventSink, FunctionCallError, Host, Progress, StepContext, ToolExecutor,
    ToolInvocation, ToolOutput, ToolPayload,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Longer than anything takes that does happen; a test that waits as long has failed.
pub(crate) const LONG: Duration = Duration::from_secs(30);

pub(crate) fn environment() -> Environment {
    [("PATH".into(), std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()))].into()
}

/// What was told, in order.
#[derive(Default)]
pub(crate) struct Told {
    events: Mutex<Vec<Event>>,
    facts: Mutex<Vec<CallFact>>,
    count: watch::Sender<usize>,
}

impl EventSink for Told {
    fn emit(&self, event: Event) {
        self.events.lock().unwrap().push(event);
        self.count.send_modify(|count| *count += 1);
    }
}

impl Progress for Told {
    fn record(&self, fact: CallFact) {
        self.facts.lock().unwrap().push(fact);
        self.count.send_modify(|count| *count += 1);
    }
}

impl Told {
    pub(crate) fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }

    pub(crate) fn facts(&self) -> Vec<CallFact> {
        self.facts.lock().unwrap().clone()
    }

    /// Waits until what was told satisfies `wanted`, and gives what it makes of it.
    pub(crate) async fn until<T>(&self, wanted: impl Fn(&[Event]) -> Option<T>) -> T {
        let mut count = self.count.subscribe();
        let found = async {
            loop {
                count.borrow_and_update();
                if let Some(found) = wanted(&self.events.lock().unwrap()) {
                    return found;
                }
                count.changed().await.unwrap();
            }
        };
        tokio::time::timeout(LONG, found).await.expect("told in time")
    }

    /// The pid of the first process, as soon as it has started.
    pub(crate) async fn pid(&self) -> i32 {
        let mut count = self.count.subscribe();
        loop {
            if let Some(CallFact::Process { pid, .. }) = self.facts().first() {
                return i32::try_from(*pid).unwrap();
            }
            tokio::time::timeout(LONG, count.changed()).await.expect("started in time").unwrap();
        }
    }

    /// The bytes of all deltas.
    pub(crate) fn deltas(&self) -> Vec<Vec<u8>> {
        let delta = |event| match event {
            Event::ExecOutputDelta { chunk, .. } => Some(chunk),
            _ => None,
        };
        self.events().into_iter().filter_map(delta).collect()
    }

    /// What the completed items of a call say: output, exit code, status.
    pub(crate) fn completed(&self, call_id: &str) -> Vec<(String, Option<i32>, ItemStatus)> {
        self.events().iter().filter_map(|event| completed(event, call_id)).collect()
    }

    /// Waits for the completed item of a call.
    pub(crate) async fn completion(&self, call_id: &str) -> (String, Option<i32>, ItemStatus) {
        self.until(|events| events.iter().find_map(|event| completed(event, call_id))).await
    }

    /// Waits until a call has printed `text`.
    pub(crate) async fn printed(&self, text: &str) {
        let wanted = |events: &[Event]| {
            let mut printed = Vec::new();
            for event in events {
                if let Event::ExecOutputDelta { chunk, .. } = event {
                    printed.extend_from_slice(chunk);
                }
            }
            String::from_utf8_lossy(&printed).contains(text).then_some(())
        };
        self.until(wanted).await;
    }
}

fn completed(event: &Event, call_id: &str) -> Option<(String, Option<i32>, ItemStatus)> {
    match event {
        Event::ItemCompleted(TurnItem::CommandExecution {
            id, aggregated_output, exit_code, status, ..
        }) if id == call_id => Some((aggregated_output.clone(), *exit_code, *status)),
        _ => None,
    }
}

/// A service with a host around it.
pub(crate) struct Bench {
    pub(crate) service: ExecService,
    pub(crate) told: Arc<Told>,
    pub(crate) step: StepContext,
    pub(crate) host: Host,
    pub(crate) folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut ExecConfig)) -> Self {
        let mut config = ExecConfig::new(environment());
        config.ids = IdSource::Sequential;
        config.user_shell = Some("/bin/bash".into());
        change(&mut config);
        let told = Arc::new(Told::default());
        let mut host = Host::detached();
        host.events = told.clone();
        host.progress = told.clone();
        let folder = tempfile::tempdir().unwrap();
        // A login shell is slower and says nothing more.
        let step = StepContext {
            cwd: folder.path().canonicalize().unwrap(),
            allow_login_shell: false,
            ..StepContext::default()
        };
        Self { service: ExecService::new(config), told, step, host, folder }
    }

    pub(crate) fn intercepted_by(mut self, interceptor: Arc<dyn CommandInterceptor>) -> Self {
        self.host.interceptors = Arc::new([interceptor]);
        self
    }

    pub(crate) fn cwd(&self) -> &Path {
        &self.step.cwd
    }

    pub(crate) fn tool(&self, name: &str) -> Arc<dyn ToolExecutor> {
        let tools = self.service.tools();
        tools.into_iter().find(|tool| tool.name().name() == name).expect("a tool")
    }

    pub(crate) fn call(&self, call_id: &str, name: &str, arguments: &str) -> Call {
        let payload = ToolPayload::Function { arguments: arguments.to_owned() };
        let mut invocation = ToolInvocation::detached(ToolName::plain(name), payload);
        invocation.call_id = CallId::from(call_id);
        invocation.step = Arc::new(self.step.clone());
        invocation.host = self.host.clone();
        Call { tool: self.tool(name), invocation }
    }

    /// Starts a command under this call id.
    pub(crate) async fn exec_as(&self, call_id: &str, arguments: Value) -> String {
        self.call(call_id, "exec_command", &arguments.to_string()).text().await
    }

    pub(crate) async fn exec(&self, arguments: Value) -> String {
        self.exec_as("c1", arguments).await
    }

    pub(crate) async fn write(&self, arguments: Value) -> String {
        self.call("w1", "write_stdin", &arguments.to_string()).text().await
    }
}

/// One call, ready to be made.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) tool: Arc<dyn ToolExecutor>,
    pub(crate) invocation: ToolInvocation,
}

impl Call {
    pub(crate) fn cancellation(&self) -> CancellationToken {
        self.invocation.cancellation.clone()
    }

    pub(crate) async fn run(&self) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let call = async {
            let prepared = self.tool.prepare(&self.invocation).await?;
            prepared.run(&self.invocation).await
        };
        tokio::time::timeout(LONG, call).await.expect("answered in time")
    }

    /// What the model reads of it.
    pub(crate) async fn text(&self) -> String {
        match self.run().await {
            Ok(output) => text_of(&*output, &self.invocation),
            Err(error) => error.text().to_owned(),
        }
    }
}

pub(crate) fn text_of(output: &dyn ToolOutput, call: &ToolInvocation) -> String {
    match output.to_response_item(&call.call_id, &call.payload) {
        ResponseInputItem::FunctionCallOutput { output, .. } => match output.body {
            FunctionCallOutputBody::Text(text) => text,
            FunctionCallOutputBody::ContentItems(items) => panic!("items: {items:?}"),
        },
        other => panic!("not a function's output: {other:?}"),
    }
}

/// The answer with what varies left out: chunk, times.
pub(crate) fn steady(answer: &str) -> String {
    let line = |line: &str| {
        if line.starts_with("Chunk ID: ") {
            "Chunk ID: <chunk>".to_owned()
        } else if line.starts_with("Wall time: ") {
            "Wall time: <t> seconds".to_owned()
        } else {
            line.to_owned()
        }
    };
    answer.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The output after the header.
pub(crate) fn output_of(answer: &str) -> &str {
    answer.split_once("Output:\n").expect("an output").1
}

/// The answer of a command that has ended.
pub(crate) fn ended(code: i32, tokens: usize, output: &str) -> String {
    format!(
        "Chunk ID: <chunk>\nWall time: <t> seconds\nProcess exited with code {code}\n\
         Original token count: {tokens}\nOutput:\n{output}"
    )
}

/// The answer of a command that goes on.
pub(crate) fn running(session: i32, tokens: usize, output: &str) -> String {
    format!(
        "Chunk ID: <chunk>\nWall time: <t> seconds\nProcess running with session ID {session}\n\
         Original token count: {tokens}\nOutput:\n{output}"
    )
}

/// The living processes whose session is that of `leader`.
pub(crate) fn session_of(leader: i32) -> BTreeSet<i32> {
    let processes = fs::read_dir("/proc").expect("listed").flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
        let Some((_, rest)) = stat.rsplit_once(')') else { return false };
        let fields: Vec<&str> = rest.split_whitespace().collect();
        fields[0] != "Z" && fields[3] == leader.to_string()
    })
    .collect()
}
