//! write_stdin: goes on with a command that still runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde::Deserialize;
use tenon_protocol::ToolName;
use tenon_tools::{
    Effects, FunctionCallError, HookIdentity, InputEffect, JsonSchema, PreparedCall, ShownAs, ToolExecutor,
    ToolInvocation, ToolOutput, ToolSpec, parse_arguments,
};

use super::{MAX_YIELD, MIN_YIELD, answer, bash_identity, output_schema};
use crate::service::Shared;
use crate::session::Session;
use crate::spawn::Keyboard;

/// The least that a poll waits (runtime.md B1).
pub(crate) const MIN_POLL: Duration = Duration::from_secs(5);

/// How long what was typed is left to work before output is collected.
const TYPING_PAUSE: Duration = Duration::from_millis(100);

/// What interrupts.
const INTERRUPT: &str = "\u{3}";

const DESCRIPTION: &str = "Goes on with a command that exec_command has left running: types chars into its terminal \
    and returns what it printed since the last time. Without chars it only waits for output. \"\\u0003\" interrupts \
    the command, terminal or not.";

/// The tool.
pub(crate) struct WriteStdin {
    name: ToolName,
    shared: Arc<Shared>,
}

/// Its arguments (runtime.md B3).
#[derive(Debug, Deserialize)]
struct Arguments {
    session_id: i32,
    chars: Option<String>,
    yield_time_ms: Option<u64>,
    max_output_tokens: Option<usize>,
}

impl WriteStdin {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { name: ToolName::plain("write_stdin"), shared }
    }
}

#[async_trait]
impl ToolExecutor for WriteStdin {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function(self.name.name(), DESCRIPTION, parameters()).with_output_schema(output_schema())
    }

    fn parallel(&self) -> bool {
        true
    }

    /// As Bash, but only afterwards: hooks have seen the command before it started, and hear of its end.
    fn hook_identity(&self) -> Option<HookIdentity> {
        Some(HookIdentity { pre: false, ..bash_identity() })
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let arguments: Arguments = parse_arguments(call.function_arguments("write_stdin")?)?;
        let chars = arguments.chars.unwrap_or_default();
        let wait = wait(arguments.yield_time_ms, chars.is_empty(), self.shared.max_poll);
        let effects = if chars.is_empty() {
            Effects::none()
        } else {
            let input = InputEffect { session_id: arguments.session_id, bytes: chars.len() };
            Effects { input: Some(input), ..Effects::none() }
        };
        Ok(Box::new(Interaction {
            shared: Arc::clone(&self.shared),
            effects,
            session_id: arguments.session_id,
            chars,
            wait,
            max_output_tokens: arguments.max_output_tokens,
        }))
    }
}

/// One verified call.
struct Interaction {
    shared: Arc<Shared>,
    effects: Effects,
    session_id: i32,
    chars: String,
    wait: Duration,
    max_output_tokens: Option<usize>,
}

#[async_trait]
impl PreparedCall for Interaction {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    /// The command's own item shows what it prints.
    fn shown_as(&self) -> ShownAs {
        ShownAs::PartOfAnother
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let since = Instant::now();
        let store = &self.shared.store;
        let session = store.get(self.session_id).ok_or_else(|| self.unknown())?;
        // Calls on one session take turns; a call before this one may have reported the end.
        let _turn = session.interaction.lock().await;
        if !store.holds(&session) {
            return Err(self.unknown());
        }
        self.write(&session).await?;
        let collected = session.collect(Instant::now() + self.wait).await;
        if collected.exit_code.is_some() {
            session.end_item();
            store.remove(&session);
        }
        if !self.chars.is_empty() || collected.exit_code.is_none() {
            session.report.interaction(session.id, self.chars.clone());
        }
        Ok(Box::new(answer(&session, collected, since, self.max_output_tokens, &call.step)))
    }
}

impl Interaction {
    /// Writes by the rule of runtime.md B8: a command on pipes can be interrupted and has nothing to read; on a
    /// terminal everything is typed.
    async fn write(&self, session: &Session) -> Result<(), FunctionCallError> {
        match (&session.keyboard, self.chars.as_str()) {
            (_, "") => {}
            (Some(keyboard), chars) => self.type_in(session, keyboard, chars).await?,
            (None, INTERRUPT) => session.interrupt(),
            (None, _) => {
                return Err(failed(
                    "stdin is closed for this session; rerun exec_command with tty=true to keep stdin open",
                ));
            }
        }
        Ok(())
    }

    /// Types, and gives the command a moment to take it in.
    async fn type_in(
        &self,
        session: &Session,
        keyboard: &Keyboard,
        chars: &str,
    ) -> Result<(), FunctionCallError> {
        let typed = tokio::time::timeout(self.wait, keyboard.type_in(chars.as_bytes())).await;
        let ended = session.ended_within(TYPING_PAUSE).await;
        // To one that has ended nothing can be written, and its end is what is to be told.
        if ended || matches!(typed, Ok(Ok(()))) { Ok(()) } else { Err(failed("failed to write to stdin")) }
    }

    fn unknown(&self) -> FunctionCallError {
        failed(&format!("Unknown process id {}", self.session_id))
    }
}

fn failed(reason: &str) -> FunctionCallError {
    FunctionCallError::respond(format!("write_stdin failed: {reason}"))
}

/// A poll may wait long for a command that has nothing to say; after writing the usual times hold.
fn wait(yield_time_ms: Option<u64>, is_poll: bool, max_poll: Duration) -> Duration {
    let asked = yield_time_ms.map_or(MIN_YIELD, Duration::from_millis).max(MIN_YIELD);
    if is_poll { asked.clamp(MIN_POLL, max_poll.max(MIN_POLL)) } else { asked.min(MAX_YIELD) }
}

fn parameters() -> JsonSchema {
    let members = [
        ("chars", JsonSchema::string("What to type. Empty, which is the default, only reads.")),
        (
            "max_output_tokens",
            JsonSchema::number(
                "How much of the output to return, in tokens; the middle of a longer one is cut out.",
            ),
        ),
        ("session_id", JsonSchema::number("The session that exec_command has handed over.")),
        ("yield_time_ms", JsonSchema::number("How long to wait for output, in milliseconds.")),
    ];
    JsonSchema::object(members, &["session_id"])
}

#[cfg(test)]
#[path = "write_stdin_tests.rs"]
mod tests;
