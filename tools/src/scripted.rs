//! A model that says what it was told to, for tests and replays.

mod gate;
mod stream;
mod turn;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tenon_protocol::ResponseItem;
use tokio_util::sync::CancellationToken;

use crate::{ModelClient, ModelError, Prompt, ResponseStream};

pub use gate::Gate;
pub use turn::ScriptedTurn;

/// A model that answers each request with the next turn of its script, and keeps every request. After its last turn it
/// answers `done`. Clones share script and requests.
///
/// ```
/// use tenon_protocol::ResponseItem;
/// use tenon_tools::{ScriptedModel, ScriptedTurn};
///
/// let call = r#"{"type":"function_call","name":"add","call_id":"c1","arguments":"{\"left\":2,\"right\":3}"}"#;
/// let model = ScriptedModel::new([
///     ScriptedTurn::items([ResponseItem::parse(call).unwrap()]),
///     ScriptedTurn::computed(|prompt| ScriptedTurn::message(&format!("I read {} items", prompt.input.len()))),
/// ]);
/// assert_eq!(model.prompts().len(), 0);
/// ```
#[derive(Clone)]
pub struct ScriptedModel(Arc<Mutex<State>>);

struct State {
    turns: VecDeque<ScriptedTurn>,
    prompts: Vec<Prompt>,
}

impl ScriptedModel {
    /// A model with these turns: a list of items, a list of lists of items, or [`ScriptedTurn`]s.
    pub fn new<T: Into<ScriptedTurn>>(turns: impl IntoIterator<Item = T>) -> Self {
        let turns = turns.into_iter().map(Into::into).collect();
        Self(Arc::new(Mutex::new(State { turns, prompts: Vec::new() })))
    }

    /// Adds a turn at the end.
    pub fn push(&self, turn: impl Into<ScriptedTurn>) {
        self.state().turns.push_back(turn.into());
    }

    /// Every request so far, in order.
    pub fn prompts(&self) -> Vec<Prompt> {
        self.state().prompts.clone()
    }

    /// The items of the nth request, from 0, that the one before did not have: what became of the turn between. They
    /// are those after the common start. Empty where there was no such request.
    pub fn new_items(&self, request: usize) -> Vec<Arc<ResponseItem>> {
        let state = self.state();
        let Some(prompt) = state.prompts.get(request) else { return Vec::new() };
        let before = request.checked_sub(1).and_then(|before| state.prompts.get(before));
        let known = before.map_or(0, |before| {
            before.input.iter().zip(&prompt.input).take_while(|(old, new)| same_item(old, new)).count()
        });
        prompt.input.iter().skip(known).cloned().collect()
    }

    /// How many turns have not been asked for yet.
    pub fn turns_left(&self) -> usize {
        self.state().turns.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn same_item(old: &Arc<ResponseItem>, new: &Arc<ResponseItem>) -> bool {
    Arc::ptr_eq(old, new) || serde_json::to_string(old).ok() == serde_json::to_string(new).ok()
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("ScriptedModel")
            .field("turns_left", &state.turns.len())
            .field("requests", &state.prompts.len())
            .finish()
    }
}

#[async_trait]
impl ModelClient for ScriptedModel {
    async fn stream(
        &self,
        prompt: Prompt,
        cancellation: CancellationToken,
    ) -> Result<ResponseStream, ModelError> {
        let (turn, number) = {
            let mut state = self.state();
            state.prompts.push(prompt.clone());
            (state.turns.pop_front(), state.prompts.len())
        };
        let turn = turn.unwrap_or_else(|| ScriptedTurn::message("done"));
        let steps = turn.steps(&prompt, number)?;
        Ok(stream::play(steps, cancellation))
    }
}

#[cfg(test)]
#[path = "scripted_tests.rs"]
mod tests;
