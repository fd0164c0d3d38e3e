//! A turn that is played again: what the model said is taken as ever, what came of it is in the recording.

use tenon_protocol::ResponseItem;
use tenon_tools::TurnMode;
use tokio_util::sync::CancellationToken;

use super::Turn;
use super::sample::Streamed;
use super::step::Step;
use crate::session::Session;
use crate::verify::same_but_for_id;

/// The answers that the session gave itself while the model's items came in.
#[derive(Debug, Default)]
pub(super) struct Playback {
    answers: Vec<ResponseItem>,
}

impl<'a> Turn<'a> {
    /// A turn whose calls are not run.
    pub(crate) fn played(session: &'a mut Session) -> Self {
        let turn = Self::new(session, TurnMode::Default, CancellationToken::new());
        Self { playback: Some(Playback::default()), ..turn }
    }

    /// Takes what the model answered to a request, and records what came of it.
    pub(crate) async fn hear_again(
        &mut self,
        step: Step,
        answer: Vec<ResponseItem>,
        after: Vec<ResponseItem>,
    ) {
        let mut streamed = Streamed::default();
        for item in answer {
            self.take_item(item, &step.runtime, &mut streamed).await;
        }
        let mut given = self.playback.replace(Playback::default()).unwrap_or_default().answers;
        for item in after {
            match given.iter().position(|given| same_but_for_id(given, &item)) {
                // The session has given this answer itself, and recorded it.
                Some(at) => drop(given.remove(at)),
                None => self.session.record(item).await,
            }
        }
    }

    /// Records an answer that the session gives without a handler.
    pub(super) async fn record_answer(&mut self, answer: ResponseItem) {
        if let Some(playback) = &mut self.playback {
            playback.answers.push(answer.clone());
        }
        self.session.record(answer).await;
    }
}
