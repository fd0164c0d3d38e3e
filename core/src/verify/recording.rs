//! What a file tells of the turns of a session: what the model was asked, what it said, what came of it.

use tenon_protocol::{ModelRequest, ResponseItem};

use super::fingerprint::Fingerprint;
use crate::rollout::{LineKind, LoadedRollout};

/// A turn, from its first request on.
#[derive(Debug)]
pub(super) struct RecordedTurn {
    /// How many of the file's lines come before its first request.
    pub(super) lines_before: usize,
    pub(super) requests: Vec<RecordedRequest>,
}

/// A request, and all that was recorded up to the next one.
#[derive(Debug)]
pub(super) struct RecordedRequest {
    /// The number of its line in the file, from 1.
    pub(super) line: u64,
    pub(super) asked: Fingerprint,
    /// What the model said.
    pub(super) answer: Vec<ResponseItem>,
    /// What came of it: outputs, and what the model was told beside them.
    pub(super) after: Vec<ResponseItem>,
}

/// The turns of a file that asked the model.
pub(super) fn turns(rollout: &LoadedRollout) -> Vec<RecordedTurn> {
    let mut reader = Reader::default();
    for (at, line) in rollout.lines.iter().enumerate() {
        match LineKind::of(&line.line.item) {
            LineKind::Request(request) => reader.request(at, line.number, request),
            LineKind::Said(item) | LineKind::Mail(item) => reader.item(item, |request| &mut request.answer),
            LineKind::Prompt(item) | LineKind::Told(item) | LineKind::Beside(item) => {
                reader.item(item, |request| &mut request.after);
            }
            LineKind::TurnStarted
            | LineKind::TurnCompleted
            | LineKind::TurnAborted
            | LineKind::Compacted(_) => reader.in_turn = false,
            LineKind::Meta(_)
            | LineKind::Settings(_)
            | LineKind::Words(_)
            | LineKind::RolledBack(_)
            | LineKind::Started(_)
            | LineKind::Progress(_)
            | LineKind::Finished(_)
            | LineKind::Other => {}
        }
    }
    reader.turns
}

#[derive(Default)]
struct Reader {
    turns: Vec<RecordedTurn>,
    /// The request before, whatever turn it was in: lines refer to it.
    before: Option<Fingerprint>,
    /// Whether a request belongs to the newest turn.
    in_turn: bool,
}

impl Reader {
    fn request(&mut self, lines_before: usize, line: u64, request: &ModelRequest) {
        let asked = Fingerprint::read(request, self.before.as_ref());
        self.before = Some(asked.clone());
        let request = RecordedRequest { line, asked, answer: Vec::new(), after: Vec::new() };
        match self.turns.last_mut().filter(|_| self.in_turn) {
            Some(turn) => turn.requests.push(request),
            None => self.turns.push(RecordedTurn { lines_before, requests: vec![request] }),
        }
        self.in_turn = true;
    }

    fn item(&mut self, item: &ResponseItem, part: fn(&mut RecordedRequest) -> &mut Vec<ResponseItem>) {
        if !self.in_turn {
            return;
        }
        let request = self.turns.last_mut().and_then(|turn| turn.requests.last_mut());
        if let Some(request) = request {
            part(request).push(item.clone());
        }
    }
}
