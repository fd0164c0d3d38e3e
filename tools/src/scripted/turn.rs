//! One answer of a script.

use std::collections::VecDeque;
use std::fmt;

use tenon_protocol::{ResponseEvent, ResponseItem};

use super::Gate;
use crate::{ModelError, Prompt};

/// One answer of a [`ScriptedModel`](super::ScriptedModel): what it says, and how its stream fares.
///
/// Events are counted from 0; an answer of items begins with `Created`, has `OutputItemDone` for each item, and ends
/// with `Completed`.
pub struct ScriptedTurn {
    answer: Answer,
    disturbances: Vec<Disturbance>,
}

enum Answer {
    Items(Vec<ResponseItem>),
    Events(Vec<ResponseEvent>),
    Refused(ModelError),
    Computed(Box<dyn FnOnce(&Prompt) -> ScriptedTurn + Send>),
}

/// Something that happens after so many events.
#[derive(Clone)]
struct Disturbance {
    after: usize,
    step: Step,
}

/// One step of a stream.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Event(ResponseEvent),
    Wait(Gate),
    Break(ModelError),
    /// The stream ends as if it were complete.
    End,
}

impl ScriptedTurn {
    /// These items, one after the other.
    pub fn items(items: impl IntoIterator<Item = ResponseItem>) -> Self {
        Self::of(Answer::Items(items.into_iter().collect()))
    }

    /// A message of the model's.
    pub fn message(text: &str) -> Self {
        Self::items([ResponseItem::message("assistant", text)])
    }

    /// These events and no others: without a `Completed` the stream just ends.
    pub fn events(events: impl IntoIterator<Item = ResponseEvent>) -> Self {
        Self::of(Answer::Events(events.into_iter().collect()))
    }

    /// No stream at all: the request fails.
    pub fn refused(error: ModelError) -> Self {
        Self::of(Answer::Refused(error))
    }

    /// An answer that depends on the request. What disturbs this turn disturbs the computed one too.
    pub fn computed(answer: impl FnOnce(&Prompt) -> Self + Send + 'static) -> Self {
        Self::of(Answer::Computed(Box::new(answer)))
    }

    fn of(answer: Answer) -> Self {
        Self { answer, disturbances: Vec::new() }
    }

    /// The stream breaks after `events` events.
    #[must_use]
    pub fn broken_after(self, events: usize, error: ModelError) -> Self {
        self.disturbed(events, Step::Break(error))
    }

    /// The stream ends after `events` events, as if that were all.
    #[must_use]
    pub fn cut_after(self, events: usize) -> Self {
        self.disturbed(events, Step::End)
    }

    /// The stream waits at `gate` after `events` events. It waits no longer than the request's cancellation.
    #[must_use]
    pub fn stalled_after(self, events: usize, gate: &Gate) -> Self {
        self.disturbed(events, Step::Wait(gate.clone()))
    }

    fn disturbed(mut self, after: usize, step: Step) -> Self {
        self.disturbances.push(Disturbance { after, step });
        self
    }

    /// The steps of the stream that answers `prompt`, the `number`th request.
    pub(super) fn steps(self, prompt: &Prompt, number: usize) -> Result<VecDeque<Step>, ModelError> {
        let Self { answer, mut disturbances } = self;
        let events = match answer {
            Answer::Items(items) => events_of(items, number),
            Answer::Events(events) => events,
            Answer::Refused(error) => return Err(error),
            Answer::Computed(compute) => {
                let mut computed = compute(prompt);
                computed.disturbances.append(&mut disturbances);
                return computed.steps(prompt, number);
            }
        };
        let mut steps = VecDeque::new();
        let mut told = 0;
        for event in events {
            steps.extend(due(&disturbances, told));
            steps.push_back(Step::Event(event));
            told += 1;
        }
        // What is to happen later than the end happens at the end.
        let rest = disturbances.into_iter().filter(|disturbance| disturbance.after >= told);
        steps.extend(rest.map(|disturbance| disturbance.step));
        Ok(steps)
    }
}

fn due(disturbances: &[Disturbance], told: usize) -> impl Iterator<Item = Step> {
    disturbances
        .iter()
        .filter(move |disturbance| disturbance.after == told)
        .map(|disturbance| disturbance.step.clone())
}

fn events_of(items: Vec<ResponseItem>, number: usize) -> Vec<ResponseEvent> {
    let response_id = Some(format!("resp_{number}"));
    let created = ResponseEvent::Created { response_id: response_id.clone() };
    let completed = ResponseEvent::Completed { response_id, usage: None, end_turn: None };
    let done = items.into_iter().map(|item| ResponseEvent::OutputItemDone { item: Box::new(item) });
    std::iter::once(created).chain(done).chain([completed]).collect()
}

impl From<Vec<ResponseItem>> for ScriptedTurn {
    fn from(items: Vec<ResponseItem>) -> Self {
        Self::items(items)
    }
}

impl From<ResponseItem> for ScriptedTurn {
    fn from(item: ResponseItem) -> Self {
        Self::items([item])
    }
}

impl From<Vec<ResponseEvent>> for ScriptedTurn {
    fn from(events: Vec<ResponseEvent>) -> Self {
        Self::events(events)
    }
}

impl fmt::Debug for ScriptedTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.answer {
            Answer::Items(items) => f.debug_tuple("Items").field(items).finish(),
            Answer::Events(events) => f.debug_tuple("Events").field(events).finish(),
            Answer::Refused(error) => f.debug_tuple("Refused").field(error).finish(),
            Answer::Computed(_) => f.write_str("Computed"),
        }
    }
}
