//! A host that keeps what a script does, for tests of the engine.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use tenon_protocol::{FunctionCallOutputContentItem, ToolName};

use super::{
    CallResult, Engine, Outcome, QuickJs, RunningScript, Script, ScriptCall, ScriptEnd, ScriptHost, Settler,
    Stored,
};
use crate::limits::ScriptLimits;
use crate::nested_tool::{NestedKind, NestedTool};

/// Longer than anything here takes: a test fails in place of hanging.
const LONG: Duration = Duration::from_secs(60);

/// What answers calls: at once with a result, or never.
pub(crate) type Answer = dyn Fn(&ScriptCall, &Settler) -> Option<CallResult> + Send + Sync;

/// What a script has done.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) items: Vec<FunctionCallOutputContentItem>,
    pub(crate) notes: Vec<String>,
    pub(crate) yields: usize,
    pub(crate) calls: Vec<(usize, Option<String>)>,
}

impl Seen {
    /// The texts that were put out.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.items.iter().filter_map(FunctionCallOutputContentItem::as_text).collect()
    }
}

/// A script that runs, and what it has done.
pub(crate) struct Run {
    pub(crate) seen: Arc<Mutex<Seen>>,
    pub(crate) running: RunningScript,
    end: mpsc::Receiver<ScriptEnd>,
}

impl Run {
    /// Waits for the end.
    pub(crate) fn end(&self) -> ScriptEnd {
        self.end.recv_timeout(LONG).expect("the script ends")
    }

    /// The end, if it comes within this time.
    pub(crate) fn ends_within(&self, time: Duration) -> Option<ScriptEnd> {
        self.end.recv_timeout(time).ok()
    }
}

struct Host {
    seen: Arc<Mutex<Seen>>,
    answer: Arc<Answer>,
    end: mpsc::Sender<ScriptEnd>,
}

impl ScriptHost for Host {
    fn put_out(&self, item: FunctionCallOutputContentItem) {
        let breaks = item.as_text() == Some(PANIC);
        assert!(!breaks, "asked to");
        self.seen.lock().unwrap().items.push(item);
    }

    fn yield_control(&self) {
        self.seen.lock().unwrap().yields += 1;
    }

    fn notify(&self, text: String) -> Result<(), String> {
        self.seen.lock().unwrap().notes.push(text);
        Ok(())
    }

    fn call(&self, call: ScriptCall, settler: &Settler) -> Option<CallResult> {
        let result = (self.answer)(&call, settler);
        self.seen.lock().unwrap().calls.push((call.tool, call.argument));
        result
    }

    fn ended(&self, end: ScriptEnd) {
        self.end.send(end).ok();
    }
}

/// The text that makes the host's `put_out` panic.
pub(crate) const PANIC: &str = "panic!";

/// The tools of these scripts.
pub(crate) fn tools() -> Arc<[NestedTool]> {
    [("echo", NestedKind::Function), ("patch", NestedKind::Freeform)]
        .map(|(name, kind)| NestedTool {
            name: ToolName::plain(name).with_default_namespace(),
            js_name: name.to_owned(),
            kind,
            description: format!("Does {name}."),
            augmented: format!("Does {name}. Declared."),
            input_schema: None,
            output_schema: None,
            namespace_description: None,
            deferred: false,
        })
        .into()
}

pub(crate) fn script(source: &str) -> Script {
    Script {
        source: source.to_owned(),
        tools: tools(),
        stored: Arc::default(),
        audio_input: true,
        limits: ScriptLimits::default(),
    }
}

/// Starts a script whose calls are answered by `answer`.
pub(crate) fn start(
    script: Script,
    answer: impl Fn(&ScriptCall, &Settler) -> Option<CallResult> + Send + Sync + 'static,
) -> Run {
    let (tell, end) = mpsc::channel();
    let seen = Arc::new(Mutex::new(Seen::default()));
    let host = Host { seen: Arc::clone(&seen), answer: Arc::new(answer), end: tell };
    let running = QuickJs.start(script, Box::new(host)).unwrap();
    Run { seen, running, end }
}

/// Answers every call with its argument.
pub(crate) fn echo(call: &ScriptCall, _: &Settler) -> Option<CallResult> {
    Some(Ok(call.argument.clone().unwrap_or_else(|| "null".to_owned())))
}

/// Runs a script to its end: how it ended and the texts that it put out.
pub(crate) fn run(source: &str) -> (Outcome, Vec<String>) {
    let run = start(script(source), echo);
    let ScriptEnd { outcome, .. } = run.end();
    let texts = run.seen.lock().unwrap().texts().into_iter().map(str::to_owned).collect();
    (outcome, texts)
}

/// The texts of a script that completes.
pub(crate) fn texts(source: &str) -> Vec<String> {
    let (outcome, texts) = run(source);
    assert_eq!(outcome, Outcome::Completed, "{source}: {texts:?}");
    texts
}

/// What a script fails with.
pub(crate) fn failure(source: &str) -> String {
    match run(source) {
        (Outcome::Failed(text), _) => text,
        other => panic!("{source}: {other:?}"),
    }
}

pub(crate) fn stored(values: &[(&str, &str)]) -> Stored {
    values.iter().map(|(key, json)| ((*key).to_owned(), (*json).into())).collect()
}
