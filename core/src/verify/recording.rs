//! What a file tells of the turns of a session: what the model was asked, what it said, what came of it.

use tenon_protocol::{EventMsg, ItemKind, ModelRequest, ResponseItem, RolloutItem};

use super::fingerprint::Fingerprint;
use crate::rollout::LoadedRollout;

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
        match &line.line.item {
            RolloutItem::ModelRequest(request) => reader.request(at, line.number, request),
            RolloutItem::ResponseItem(item) => reader.item(item),
            RolloutItem::EventMsg(
                EventMsg::TurnStarted(_) | EventMsg::TurnComplete(_) | EventMsg::TurnAborted(_),
            )
            | RolloutItem::Compacted(_) => reader.in_turn = false,
            RolloutItem::EventMsg(
                EventMsg::TokenCount(_)
                | EventMsg::UserMessage(_)
                | EventMsg::AgentMessage(_)
                | EventMsg::AgentReasoning(_)
                | EventMsg::Unknown(_),
            )
            | RolloutItem::SessionMeta(_)
            | RolloutItem::TurnContext(_)
            | RolloutItem::WorldState(_)
            | RolloutItem::CallStarted(_)
            | RolloutItem::CallProgress(_)
            | RolloutItem::CallFinished(_)
            | RolloutItem::Unknown { .. } => {}
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

    fn item(&mut self, item: &ResponseItem) {
        if !self.in_turn {
            return;
        }
        let Some(request) = self.turns.last_mut().and_then(|turn| turn.requests.last_mut()) else { return };
        let items = if is_said(item) { &mut request.answer } else { &mut request.after };
        items.push(item.clone());
    }
}

/// Whether an item comes from the model.
fn is_said(item: &ResponseItem) -> bool {
    match item.kind() {
        ItemKind::Message(message) => message.role == "assistant",
        ItemKind::ToolSearchOutput(output) => output.execution != "client",
        ItemKind::AgentMessage(_)
        | ItemKind::Reasoning(_)
        | ItemKind::LocalShellCall(_)
        | ItemKind::FunctionCall(_)
        | ItemKind::ToolSearchCall(_)
        | ItemKind::CustomToolCall(_)
        | ItemKind::WebSearchCall(_)
        | ItemKind::ImageGenerationCall(_)
        | ItemKind::Compaction(_)
        | ItemKind::ContextCompaction(_)
        | ItemKind::Unknown(_) => true,
        ItemKind::FunctionCallOutput(_)
        | ItemKind::CustomToolCallOutput(_)
        | ItemKind::AdditionalTools(_)
        | ItemKind::CompactionTrigger(_)
        | ItemKind::ConfigurationUpdate(_)
        | ItemKind::GhostSnapshot(_) => false,
    }
}
