//! A session with real tools and a file of hooks.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_apply_patch::ApplyPatchTool;
use tenon_core::handlers::core_tools;
use tenon_core::hooks::HookConfig;
use tenon_core::{SessionBuilder, SessionOptions};
use tenon_exec::{ExecConfig, ExecService};
use tenon_protocol::{ResponseItem, ToolName};
use tenon_tools::{
    Effects, Elicitor, Event, EventSink, FunctionCallError, FunctionToolOutput, HookIdentity, JsonSchema,
    PreparedCall, ScriptedModel, ToolCall, ToolCallSource, ToolExecutor, ToolInvocation, ToolOutput,
    ToolPayload, ToolSpec, UserAnswer, UserQuestion,
};
use tokio_util::sync::CancellationToken;

/// Folders of one test.
pub struct Place {
    root: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home", "work"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub fn work(&self) -> PathBuf {
        self.root.path().join("work").canonicalize().unwrap()
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn environment(&self) -> BTreeMap<OsString, OsString> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        [
            ("PATH", path),
            ("HOME", self.home().into()),
            ("SHELL", "/bin/sh".into()),
            ("TENON_HOME", self.home().into()),
        ]
        .map(|(name, value)| (name.into(), value))
        .into()
    }
}

/// Keeps events.
#[derive(Clone, Default)]
pub struct Events(Arc<Mutex<Vec<Event>>>);

impl EventSink for Events {
    fn emit(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

impl Events {
    pub fn text(&self) -> String {
        format!("{:?}", self.0.lock().unwrap())
    }

    pub fn warnings(&self) -> Vec<String> {
        let all = self.0.lock().unwrap();
        let warnings = all.iter().filter_map(|event| match event {
            Event::Warning { message } => Some(message.clone()),
            _ => None,
        });
        warnings.collect()
    }
}

/// One command hook for an event.
pub fn hook(event: &str, command: &str) -> Value {
    hook_with(event, command, &json!({}))
}

/// The same with more members.
pub fn hook_with(event: &str, command: &str, members: &Value) -> Value {
    let mut handler = json!({"type": "command", "command": command});
    handler.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    json!({event: [{"hooks": [handler]}]})
}

pub fn item(value: &Value) -> ResponseItem {
    ResponseItem::parse(&value.to_string()).unwrap()
}

pub fn function(id: &str, name: &str, arguments: &Value) -> ResponseItem {
    item(&json!({"type": "function_call", "name": name, "call_id": id, "arguments": arguments.to_string()}))
}

pub fn exec(id: &str, command: &str) -> ResponseItem {
    function(id, "exec_command", &json!({ "cmd": command }))
}

pub fn patch(id: &str, text: &str) -> ResponseItem {
    item(&json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": id, "input": text}))
}

/// What came of some turns.
pub struct Came {
    /// The outputs that the model was sent, by call.
    pub outputs: BTreeMap<String, String>,
    /// What hooks had the model told.
    pub told: Vec<String>,
    pub events: Events,
    /// The session's file.
    pub rollout: String,
}

/// A session in the making.
pub struct Setup {
    pub builder: SessionBuilder,
    pub model: Arc<ScriptedModel>,
    pub events: Events,
    pub service: ExecService,
}

/// All real tools, and the hooks of a file, for a model that says these things.
pub fn setup(place: &Place, hooks: &Value, turns: Vec<Vec<ResponseItem>>) -> Setup {
    let file = place.home().join("hooks.json");
    std::fs::write(&file, json!({ "hooks": hooks }).to_string()).unwrap();
    let config = HookConfig::load(&file);
    assert_eq!(config.warnings, Vec::<String>::new());
    let (model, events) = (Arc::new(ScriptedModel::new(turns)), Events::default());
    let service = ExecService::new(ExecConfig::new(place.environment()));
    let builder = SessionBuilder::new(SessionOptions::new("a-model", place.work()), Arc::clone(&model) as _)
        .tools(tools(&service))
        .tool(Calls)
        .interceptor(Arc::new(ApplyPatchTool::default()))
        .commands(service.command_runner())
        .elicitor(Arc::new(Answers))
        .events(Arc::new(events.clone()))
        .rollout_in(place.home())
        .configured_hooks(config, place.environment());
    Setup { builder, model, events, service }
}

/// Every tool that the program registers.
pub fn tools(service: &ExecService) -> Vec<Arc<dyn ToolExecutor>> {
    let mut tools = service.tools();
    tools.extend(core_tools());
    tools.push(Arc::new(ApplyPatchTool::default()));
    tools
}

/// Runs one turn.
pub async fn run(place: &Place, hooks: &Value, turns: Vec<Vec<ResponseItem>>) -> Came {
    let Setup { builder, model, events, service } = setup(place, hooks, turns);
    let mut session = builder.build().await.unwrap();
    session.run_turn("go", &CancellationToken::new()).await;
    let file = session.rollout_path().unwrap().to_owned();
    session.shutdown().await;
    service.shutdown().await;
    let (mut outputs, mut told) = (BTreeMap::new(), Vec::new());
    for item in model.prompts().last().unwrap().input.iter() {
        let value = serde_json::to_value(item.as_ref()).unwrap();
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if value["type"].as_str().unwrap().ends_with("_output") {
            outputs.insert(text(&value["call_id"]), text(&value["output"]));
        } else if value["role"] == "developer" {
            told.push(text(&value["content"][0]["text"]));
        }
    }
    Came { outputs, told, events, rollout: std::fs::read_to_string(file).unwrap() }
}

/// The documents that a hook has appended to a file of the working folder, one a line.
pub fn documents(place: &Place, name: &str) -> Vec<Value> {
    match std::fs::read_to_string(place.work().join(name)) {
        Ok(text) => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        Err(_) => Vec::new(),
    }
}

/// Whether a process is there and no zombie.
pub fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next()).is_some_and(|state| state != "Z")
}

/// The numbers in a file of the working folder.
pub fn numbers(place: &Place, name: &str) -> Vec<i32> {
    place.read(name).split_whitespace().map(|number| number.parse().unwrap()).collect()
}

/// Answers every question with yes.
struct Answers;

#[async_trait]
impl Elicitor for Answers {
    async fn ask(
        &self,
        _: &tenon_protocol::CallId,
        questions: Vec<UserQuestion>,
    ) -> Option<BTreeMap<String, UserAnswer>> {
        let answer = UserAnswer { answers: vec!["yes".to_owned()] };
        Some(questions.into_iter().map(|question| (question.id, answer.clone())).collect())
    }
}

/// Calls another tool, as a script does: `{"tool", "arguments"}` or `{"tool", "input"}`.
struct Calls;

struct Nested(Value, Effects);

#[async_trait]
impl ToolExecutor for Calls {
    fn name(&self) -> &ToolName {
        static NAME: std::sync::LazyLock<ToolName> = std::sync::LazyLock::new(|| ToolName::plain("calls"));
        &NAME
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function("calls", "Calls.", JsonSchema::object([], &[]))
    }

    fn hook_identity(&self) -> Option<HookIdentity> {
        None
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let told = serde_json::from_str(call.function_arguments("calls")?).unwrap();
        Ok(Box::new(Nested(told, Effects::none())))
    }
}

#[async_trait]
impl PreparedCall for Nested {
    fn effects(&self) -> &Effects {
        &self.1
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let payload = match self.0["input"].as_str() {
            Some(input) => ToolPayload::Custom { input: input.to_owned() },
            None => ToolPayload::Function { arguments: self.0["arguments"].to_string() },
        };
        let nested = ToolCall {
            tool_name: ToolName::plain(self.0["tool"].as_str().unwrap()),
            call_id: format!("exec-{}", call.call_id).as_str().into(),
            payload,
            encrypted_function_args: None,
        };
        let source = ToolCallSource::CodeMode { cell_id: "1".into(), runtime_tool_call_id: "tool-1".into() };
        let value = call.host.tools.call(nested, source, CancellationToken::new()).await;
        let text = value.map_or_else(|error| format!("error: {}", error.text()), |value| value.to_string());
        Ok(Box::new(FunctionToolOutput::from_text(text, Some(true))))
    }
}
