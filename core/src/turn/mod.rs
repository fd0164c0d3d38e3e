//! The loop of a turn: ask the model, run what it calls, answer, until nothing is left to do (runtime.md D5).
//!
//! ```text
//! mod.rs      begin, loop, end of a turn
//! step.rs     the snapshot of one request: context, tools, gate
//! sample.rs   one request: events in, items recorded, calls handed over while the stream still runs
//! items.rs    what becomes of an item
//! asked.rs    what hooks say of prompts and of the end
//! recover.rs  calls that a runtime before has left open
//! drain.rs    every call's end, in call order
//! retry.rs    when the stream breaks
//! playback.rs a recorded turn, played again
//! ```

mod asked;
mod context;
mod drain;
mod items;
mod playback;
mod recover;
mod retry;
mod sample;
mod step;

use tenon_protocol::{
    AgentMessageEvent, EventMsg, ResponseItem, RolloutItem, TokenCountEvent, TokenUsageInfo,
    TurnAbortedEvent, TurnCompleteEvent, TurnStartedEvent, UserMessageEvent,
};
use tenon_tools::{AbortReason, Event, SharedTurnDiff, TurnEnding, TurnMode};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

pub(crate) use context::environment_context;
pub use context::{BASE_INSTRUCTIONS, INTERRUPT_MARKER};

use crate::session::Session;
use playback::Playback;
use sample::Sampled;

/// What a user says to begin a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnInput {
    /// The prompt.
    pub text: String,
    /// The mode of the turn.
    pub mode: TurnMode,
}

impl From<&str> for TurnInput {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), mode: TurnMode::Default }
    }
}

impl From<String> for TurnInput {
    fn from(text: String) -> Self {
        Self { text, mode: TurnMode::Default }
    }
}

/// How a turn ended. The session is usable after each of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model has nothing left to do.
    Completed {
        /// Its last message in this turn.
        last_message: Option<String>,
    },
    /// A hook did not let the prompt through, or the session begin; the model was not asked.
    Refused {
        /// The hook's reason.
        reason: String,
    },
    /// The turn failed.
    Failed {
        /// Why, for the operator.
        message: String,
    },
    /// The turn was cancelled.
    Interrupted,
}

/// A turn in progress.
pub(crate) struct Turn<'a> {
    session: &'a mut Session,
    turn_id: String,
    mode: TurnMode,
    cancellation: CancellationToken,
    tracker: SharedTurnDiff,
    last_message: Option<String>,
    /// Kinds of calls that nobody here answers.
    unanswered: Vec<String>,
    /// Calls that were cut short.
    aborted: Vec<tenon_protocol::CallId>,
    shown_diff: Option<String>,
    /// The turn is played again: its calls are not run.
    playback: Option<Playback>,
}

impl<'a> Turn<'a> {
    /// Runs one turn to its end.
    pub(crate) async fn run(
        session: &'a mut Session,
        input: TurnInput,
        cancellation: &CancellationToken,
    ) -> TurnEnd {
        let turn = Self::new(session, input.mode, cancellation.child_token());
        let span = tracing::info_span!("turn", turn_id = %turn.turn_id, session_id = %turn.session.id());
        turn.run_through(input.text).instrument(span).await
    }

    fn new(session: &'a mut Session, mode: TurnMode, cancellation: CancellationToken) -> Self {
        Self {
            session,
            turn_id: uuid::Uuid::now_v7().to_string(),
            mode,
            cancellation,
            tracker: SharedTurnDiff::default(),
            last_message: None,
            unanswered: Vec::new(),
            aborted: Vec::new(),
            shown_diff: None,
            playback: None,
        }
    }

    async fn run_through(mut self, prompt: String) -> TurnEnd {
        let turn_id = self.turn_id.clone();
        self.session.set_turn_runs(true);
        self.session.emit(Event::TurnStarted { turn_id: turn_id.clone() });
        self.recover().await;
        let started = TurnStartedEvent { turn_id: Some(turn_id), ..TurnStartedEvent::default() };
        self.session.write_down(RolloutItem::EventMsg(EventMsg::TurnStarted(started))).await;
        let end = match self.begin(prompt).await {
            Ok(()) => self.go_round().await,
            Err(end) => end,
        };
        self.finish(end).await
    }

    /// Records what the turn starts from. A hook may keep the prompt back.
    async fn begin(&mut self, prompt: String) -> Result<(), TurnEnd> {
        let step = self.step_context();
        let cancellation = self.cancellation.clone();
        self.session.begin(&step, &cancellation).await?;
        self.session.write_down(RolloutItem::TurnContext(context::turn_context_line(&step))).await;
        self.session.record_notes().await;
        self.submit(prompt).await
    }

    async fn record_prompt(&mut self, prompt: String) {
        self.session.record(ResponseItem::message("user", &prompt)).await;
        let event = UserMessageEvent { message: prompt, images: None };
        self.session.write_down(RolloutItem::EventMsg(EventMsg::UserMessage(event))).await;
    }

    /// Asks the model until it has nothing left to do.
    async fn go_round(&mut self) -> TurnEnd {
        let (mut stop_hook_active, mut is_asked) = (false, true);
        loop {
            match self.take_steering().await {
                Ok(recorded) => is_asked |= recorded,
                Err(end) => return end,
            }
            if is_asked {
                match self.sample_with_retries().await {
                    Sampled::Done { follow_up } => is_asked = follow_up,
                    Sampled::Fatal(message) => return TurnEnd::Failed { message },
                    Sampled::Broken(error) => return TurnEnd::Failed { message: error.message },
                    Sampled::Cancelled => return TurnEnd::Interrupted,
                }
                if is_asked || self.session.has_pending() {
                    continue;
                }
            }
            is_asked = self.is_sent_on(stop_hook_active).await;
            if !is_asked {
                return TurnEnd::Completed { last_message: self.last_message.clone() };
            }
            stop_hook_active = true;
        }
    }

    /// Says how the turn ended, to the file first and then to whoever watches.
    async fn finish(mut self, end: TurnEnd) -> TurnEnd {
        self.session.set_turn_runs(false);
        self.session.turn_ends(ending(&end)).await;
        self.keep_steering().await;
        for kind in std::mem::take(&mut self.unanswered) {
            self.session.emit(Event::Warning { message: format!("a call of kind {kind} was not answered") });
        }
        if matches!(end, TurnEnd::Interrupted) {
            self.session.record(ResponseItem::message("user", INTERRUPT_MARKER)).await;
        }
        self.session.write_down(RolloutItem::EventMsg(self.end_line(&end))).await;
        self.session.barrier().await;
        let turn_id = self.turn_id;
        self.session.emit(match &end {
            TurnEnd::Completed { last_message } => Event::TurnCompleted {
                turn_id,
                usage: self.session.usage(),
                last_message: last_message.clone(),
            },
            TurnEnd::Refused { reason } => Event::TurnFailed { turn_id, message: reason.clone() },
            TurnEnd::Failed { message } => Event::TurnFailed { turn_id, message: message.clone() },
            TurnEnd::Interrupted => {
                Event::TurnAborted { turn_id, reason: AbortReason::Interrupted, aborted_calls: self.aborted }
            }
        });
        end
    }

    fn end_line(&self, end: &TurnEnd) -> EventMsg {
        let turn_id = Some(self.turn_id.clone());
        match end {
            TurnEnd::Completed { .. } | TurnEnd::Refused { .. } | TurnEnd::Failed { .. } => {
                EventMsg::TurnComplete(TurnCompleteEvent {
                    turn_id,
                    last_agent_message: self.last_message.clone(),
                })
            }
            TurnEnd::Interrupted => EventMsg::TurnAborted(TurnAbortedEvent {
                turn_id,
                reason: "interrupted".to_owned(),
                ..TurnAbortedEvent::default()
            }),
        }
    }

    async fn count_tokens(&mut self, last: tenon_protocol::TokenUsage) {
        self.session.add_usage(last);
        let info = TokenUsageInfo {
            total_token_usage: self.session.usage(),
            last_token_usage: last,
            model_context_window: None,
        };
        let event = TokenCountEvent { info: Some(info), rate_limits: None };
        self.session.write_down(RolloutItem::EventMsg(EventMsg::TokenCount(event))).await;
    }

    async fn said(&mut self, message: String) {
        let event = AgentMessageEvent { message: message.clone() };
        self.session.write_down(RolloutItem::EventMsg(EventMsg::AgentMessage(event))).await;
        self.last_message = Some(message);
    }
}

fn ending(end: &TurnEnd) -> TurnEnding {
    match end {
        TurnEnd::Completed { .. } => TurnEnding::Completed,
        TurnEnd::Refused { .. } | TurnEnd::Failed { .. } => TurnEnding::Failed,
        TurnEnd::Interrupted => TurnEnding::Interrupted,
    }
}
