//! Calls that a runtime before has left open: they are answered before anything else is said.

use tenon_tools::{Event, direct_source};

use super::Turn;
use crate::history::synthetic_output;
use crate::rollout::{OpenCall, Reopened};
use crate::router::ToolRouter;
use crate::runtime::CallNumber;

/// Why a call that was cut off is started once more.
const RUN_AGAIN: &str = "the runtime stopped while it ran, and its tool says that it may be run again";

impl Turn<'_> {
    /// Takes up the calls that were left open. Each passes all stages as ever, and is recorded before the turn's own
    /// line, so that its output stands in the turn of its call.
    pub(super) async fn recover(&mut self) {
        let open = self.session.take_open();
        if open.is_empty() {
            return;
        }
        let step = self.step();
        let mut calls = Vec::with_capacity(open.len());
        for OpenCall { item, occurrence, why } in &open {
            let Ok(Some(call)) = ToolRouter::build_tool_call(item) else { continue };
            let again = match why {
                Reopened::AskAgain => None,
                Reopened::RunAgain => Some(RUN_AGAIN),
            };
            let number = CallNumber { occurrence: *occurrence, shown_id: None, again };
            let (source, cancellation) = (direct_source(&call), self.cancellation.child_token());
            let running = step.runtime.hand_over_as(call, source, number, cancellation);
            self.session.running(&running);
            calls.push(running);
        }
        for (call_id, text) in self.drain(calls).await {
            self.session.emit(Event::Warning { message: format!("a call was not taken up again: {text}") });
            let item =
                open.iter().map(|open| &open.item).find(|item| item.call_id() == Some(call_id.as_str()));
            if let Some(output) = item.and_then(|item| synthetic_output(item, &text)) {
                self.session.record(output).await;
            }
        }
        self.session.barrier().await;
    }
}
