//! A model that says again what was recorded.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::stream;
use tenon_protocol::{ResponseEvent, ResponseItem};
use tenon_tools::{ModelClient, ModelError, ModelErrorKind, Prompt, ResponseStream};
use tokio_util::sync::CancellationToken;

use super::events::is_last;
use super::input::{Answer, Recording, Speech};
use super::items;

/// What stands for an id in a scenario, and the words that the model was told it with.
const MARKS: [(&str, &str); 2] = [("$SESSION", "session ID "), ("$CELL", "cell ID ")];

/// The prompt of a turn whose own one was not recorded.
const PROMPT: &str = "go";

/// Whether a recorded item holds a mark that stands for an id.
pub(crate) fn is_template(json: &str) -> bool {
    MARKS.iter().any(|(mark, _)| json.contains(mark))
}

/// Says what was recorded, one answer a request. When the recording is over, the model has nothing more to say.
#[derive(Debug)]
pub(crate) struct ReplayModel(Mutex<State>);

#[derive(Debug)]
struct State {
    answers: VecDeque<Answer>,
    last_words: Option<String>,
    /// A turn has just begun: it may take an answer that was recorded after a prompt.
    begun: bool,
    /// The last answer was cut off.
    cut: bool,
}

impl ReplayModel {
    /// A model that says what `recording` holds.
    pub(crate) fn new(recording: Recording) -> Self {
        let Recording { answers, last_words, files: _, tool_mode: _, notes: _ } = recording;
        Self(Mutex::new(State { answers: answers.into(), last_words, begun: false, cut: false }))
    }

    /// The prompt of the next turn; none when nothing is left to play.
    pub(crate) fn next_prompt(&self) -> Option<String> {
        let mut state = self.lock();
        let prompt = state.answers.front()?.prompt.clone();
        state.begun = true;
        Some(prompt.unwrap_or_else(|| PROMPT.to_owned()))
    }

    /// Whether something is left to play in a further turn.
    pub(crate) fn has_more(&self) -> bool {
        !self.lock().answers.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The next answer of this turn.
    fn next(&mut self) -> Option<Speech> {
        let begun = std::mem::take(&mut self.begun);
        let due = self.answers.front().is_some_and(|answer| begun || answer.prompt.is_none());
        if due { self.answers.pop_front().map(|answer| answer.speech) } else { None }
    }

    /// What is said when nothing is left to say in this turn.
    fn over(&mut self) -> Result<Vec<ResponseEvent>, ModelError> {
        if self.cut {
            let message = "the recording ends before response.completed";
            return Err(ModelError::fatal(ModelErrorKind::Stream, message));
        }
        let words = self.last_words.as_ref().map(|words| ResponseItem::message("assistant", words));
        Ok(whole(words.into_iter().collect()))
    }
}

#[async_trait]
impl ModelClient for ReplayModel {
    async fn stream(&self, prompt: Prompt, _: CancellationToken) -> Result<ResponseStream, ModelError> {
        let mut state = self.lock();
        let events = match state.next() {
            Some(Speech::Items(items)) => whole(items),
            Some(Speech::Template(texts)) => whole(filled_in(&texts, &prompt)?),
            Some(Speech::Events(events)) => {
                state.cut = !events.iter().any(is_last);
                events
            }
            None => state.over()?,
        };
        Ok(Box::pin(stream::iter(events.into_iter().map(as_heard))))
    }
}

/// A failure as a client tells it (runtime.md D1.a); any other event as it is.
fn as_heard(event: ResponseEvent) -> Result<ResponseEvent, ModelError> {
    match event {
        ResponseEvent::Failed(failure) => Err(tenon_responses_client::model_error(&failure)),
        ResponseEvent::Incomplete { reason } => Err(tenon_responses_client::incomplete(&reason)),
        event => Ok(event),
    }
}

/// A whole answer of these items.
fn whole(items: Vec<ResponseItem>) -> Vec<ResponseEvent> {
    let created = ResponseEvent::Created { response_id: None };
    let done = items.into_iter().map(|item| ResponseEvent::OutputItemDone { item: Box::new(item) });
    let completed = ResponseEvent::Completed { response_id: None, usage: None, end_turn: None };
    std::iter::once(created).chain(done).chain([completed]).collect()
}

fn filled_in(texts: &[String], prompt: &Prompt) -> Result<Vec<ResponseItem>, ModelError> {
    let ids = MARKS.map(|(mark, words)| (mark, newest_id(prompt, words).unwrap_or_else(|| "0".to_owned())));
    let fill = |text: &String| ids.iter().fold(text.clone(), |text, (mark, id)| text.replace(mark, id));
    let parse = |text: String| {
        items::item(&text).map_err(|why| ModelError::fatal(ModelErrorKind::InvalidRequest, why))
    };
    texts.iter().map(fill).map(parse).collect()
}

/// The id that follows the last occurrence of `words` in what the model was told.
fn newest_id(prompt: &Prompt, words: &str) -> Option<String> {
    let id_of = |text: &str| {
        let (_, rest) = text.rsplit_once(words)?;
        let id: String =
            rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
        (!id.is_empty()).then_some(id)
    };
    prompt.input.iter().rev().find_map(|item| id_of(&item.raw_json()))
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
