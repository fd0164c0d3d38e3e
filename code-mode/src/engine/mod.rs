//! Runs one script. An engine knows of no session, no turn and no tool: it hands calls to a [`ScriptHost`] and takes
//! their results from a [`Settler`]. All that passes between the two is plain data, so that an engine can as well live
//! in a process of its own.

mod quickjs;
#[cfg(test)]
pub(crate) mod testing;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use tenon_protocol::FunctionCallOutputContentItem;

use crate::limits::ScriptLimits;
use crate::nested_tool::NestedTool;

pub(crate) use quickjs::QuickJs;

/// The name of a script in positions of its errors.
pub(crate) const MODULE_NAME: &str = "exec_main.mjs";

/// Values that outlive their cell, as JSON texts.
pub(crate) type Stored = BTreeMap<String, Arc<str>>;

/// What is to be run.
pub(crate) struct Script {
    /// A JavaScript module.
    pub(crate) source: String,
    /// What it may call: call number n goes to the nth.
    pub(crate) tools: Arc<[NestedTool]>,
    /// What cells before it have stored.
    pub(crate) stored: Arc<Stored>,
    /// Whether the model takes audio.
    pub(crate) audio_input: bool,
    pub(crate) limits: ScriptLimits,
}

/// The number of a nested call, unique in its script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct CallNumber(pub(crate) u64);

/// A result as JSON text, or the text that rejects the call's promise.
pub(crate) type CallResult = Result<String, String>;

/// A nested call.
pub(crate) struct ScriptCall {
    pub(crate) number: CallNumber,
    /// Which of [`Script::tools`].
    pub(crate) tool: usize,
    /// The argument as JSON text; none where there was none that JSON has a form for.
    pub(crate) argument: Option<String>,
}

/// What a script does to the world. Its methods are called on the script's thread, one at a time; a method that
/// panics ends the script.
pub(crate) trait ScriptHost: Send {
    /// The script puts out an item.
    fn put_out(&self, item: FunctionCallOutputContentItem);

    /// The script hands control back and goes on.
    fn yield_control(&self);

    /// The script has something to say at once.
    ///
    /// # Errors
    /// What the script is told where the model will not hear it.
    fn notify(&self, text: String) -> Result<(), String>;

    /// The script calls a tool. A result that is there at once is returned; any other is given to `settler` later.
    fn call(&self, call: ScriptCall, settler: &Settler) -> Option<CallResult>;

    /// The script is over. Called once, as the last method.
    fn ended(&self, end: ScriptEnd);
}

/// How a script ended, and what it stored.
pub(crate) struct ScriptEnd {
    pub(crate) outcome: Outcome,
    pub(crate) writes: Stored,
}

/// How a script ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It came to its end.
    Completed,
    /// It failed with this text.
    Failed(String),
    /// It was stopped.
    Stopped,
}

/// What wakes a script that waits.
enum Wake {
    Settled(CallNumber, CallResult),
    Stop,
}

/// Takes the results of calls.
#[derive(Clone)]
pub(crate) struct Settler(mpsc::Sender<Wake>);

impl Settler {
    /// Gives a call its result. A script that is over takes none.
    pub(crate) fn settle(&self, number: CallNumber, result: CallResult) {
        self.0.send(Wake::Settled(number, result)).ok();
    }
}

/// A script that runs.
#[derive(Clone)]
pub(crate) struct RunningScript {
    wake: mpsc::Sender<Wake>,
    stop: Arc<AtomicBool>,
}

impl RunningScript {
    /// A script of an engine that takes no notice of anything.
    #[cfg(test)]
    pub(crate) fn detached() -> Self {
        Self { wake: mpsc::channel().0, stop: Arc::default() }
    }

    /// Asks the script to stop. It ends as [`Outcome::Stopped`] as soon as the engine can make it.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.wake.send(Wake::Stop).ok();
    }
}

/// Why a script could not be started.
#[derive(Debug, thiserror::Error)]
#[error("the script could not be started: {0}")]
pub(crate) struct StartError(#[from] std::io::Error);

/// Runs scripts.
pub(crate) trait Engine: Send + Sync {
    /// Starts one and returns at once; `host` hears of everything else.
    fn start(&self, script: Script, host: Box<dyn ScriptHost>) -> Result<RunningScript, StartError>;
}
