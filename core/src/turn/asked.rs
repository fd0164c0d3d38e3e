//! What hooks say of prompts before they are recorded, and of the turn's end.

use tenon_protocol::{ContentItem, ItemKind, Message, ResponseItem};
use tenon_tools::Event;

use super::{Turn, TurnEnd};
use crate::hooks::{HookContext, PromptSubmit, Stop};
use crate::session::Pending;

impl Turn<'_> {
    /// Asks hooks about a prompt and records it with what they add. What they add to a prompt that they refuse is
    /// recorded all the same.
    ///
    /// # Errors
    /// The turn's end, where the prompt is refused or the turn is cancelled before they have answered.
    pub(super) async fn submit(&mut self, prompt: String) -> Result<(), TurnEnd> {
        let hooks = self.session.hooks().clone();
        if hooks.is_empty() {
            self.record_prompt(prompt).await;
            return Ok(());
        }
        let event = PromptSubmit { context: HookContext::from(&self.step_context()), prompt };
        let (blocked, contexts) = tokio::select! {
            biased;
            () = self.cancellation.cancelled() => return Err(TurnEnd::Interrupted),
            answer = hooks.prompt_submit(&event) => answer,
        };
        if blocked.is_none() {
            self.record_prompt(event.prompt).await;
        }
        self.session.record_contexts(contexts).await;
        blocked.map_or(Ok(()), |reason| Err(TurnEnd::Refused { reason }))
    }

    /// Takes up what the user and scripts have said meanwhile. Whether any of it was recorded; what is refused, the operator hears
    /// of, and the turn goes on.
    ///
    /// # Errors
    /// The turn's end, where it is cancelled before hooks have answered.
    pub(super) async fn take_steering(&mut self) -> Result<bool, TurnEnd> {
        let mut recorded = false;
        for pending in self.session.take_pending() {
            let said = match pending {
                Pending::Said(text) => self.submit(text).await,
                Pending::Beside(item) => {
                    self.session.record(item).await;
                    Ok(())
                }
            };
            match said {
                Ok(()) => recorded = true,
                Err(TurnEnd::Refused { reason }) => {
                    let message = format!("what was said meanwhile was refused: {reason}");
                    self.session.emit(Event::Warning { message });
                }
                Err(end) => return Err(end),
            }
        }
        Ok(recorded)
    }

    /// Keeps what was pending when the turn is over. What came beside outputs is recorded; what the user said is kept in the history, or, where hooks have to be asked first,
    /// for the next turn.
    pub(super) async fn keep_steering(&mut self) {
        for item in self.session.take_beside() {
            self.session.record(item).await;
        }
        if !self.session.hooks().is_empty() {
            return;
        }
        for pending in self.session.take_pending() {
            match pending {
                Pending::Said(text) => self.record_prompt(text).await,
                Pending::Beside(item) => self.session.record(item).await,
            }
        }
    }

    /// Asks hooks whether the turn may end. Where one says no, the model is told what they say: one message, with one
    /// part for each of them (core.md 8.9).
    pub(super) async fn is_sent_on(&mut self, stop_hook_active: bool) -> bool {
        let hooks = self.session.hooks().clone();
        if hooks.is_empty() {
            return false;
        }
        let context = HookContext::from(&self.step_context());
        let event = Stop { context, stop_hook_active, last_assistant_message: self.last_message.clone() };
        let prompts = tokio::select! {
            prompts = hooks.stop(&event) => prompts,
            () = self.cancellation.cancelled() => return false,
        };
        if prompts.is_empty() {
            return false;
        }
        let content = prompts.into_iter().map(|text| ContentItem::InputText { text }).collect();
        let message = Message { role: "user".to_owned(), content, ..Message::default() };
        self.session.record(ResponseItem::new(ItemKind::Message(message))).await;
        true
    }
}
