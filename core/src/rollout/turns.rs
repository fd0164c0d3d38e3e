//! Where the turns of a file begin, and which of them were rolled back (runtime.md D11.13).

use serde::Deserialize;
use tenon_protocol::{ContentItem, EventMsg, ItemKind, ResponseItem, RolloutItem};

use super::reader::LoadedRollout;

/// How messages begin that have the role `user` and are not the user's words: they tell the model where it is.
const CONTEXT_MARKS: [&str; 8] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<subagent_notification>",
    "<hook_prompt",
];

/// The turns of a file, by the places of their lines.
#[derive(Debug, Default)]
pub(super) struct Turns {
    segments: Vec<Segment>,
    /// For each line, whether it was rolled back.
    dead: Vec<bool>,
}

/// The lines from one beginning to the next.
#[derive(Debug)]
struct Segment {
    start: usize,
    /// It holds something that the user said: only such segments count as turns.
    user: bool,
    kind: SegmentKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SegmentKind {
    /// Between the events of a turn's start and end.
    Running,
    /// After the event of its end.
    Ended,
    /// Begun by what the user said, in a file without such events; nobody has answered yet.
    Unanswered,
    /// The same, and somebody has.
    Answered,
}

impl Turns {
    pub(super) fn of(rollout: &LoadedRollout) -> Self {
        let mut turns = Self { segments: Vec::new(), dead: vec![false; rollout.lines.len()] };
        for (at, line) in rollout.lines.iter().enumerate() {
            match &line.line.item {
                RolloutItem::EventMsg(event) => turns.hear(at, event),
                RolloutItem::ResponseItem(item) if is_user_input(item) => turns.user_spoke(at),
                RolloutItem::ResponseItem(item) => turns.answered(item),
                RolloutItem::SessionMeta(_)
                | RolloutItem::TurnContext(_)
                | RolloutItem::WorldState(_)
                | RolloutItem::Compacted(_)
                | RolloutItem::CallStarted(_)
                | RolloutItem::CallProgress(_)
                | RolloutItem::CallFinished(_)
                | RolloutItem::ModelRequest(_)
                | RolloutItem::Unknown { .. } => {}
            }
        }
        turns
    }

    /// Whether the line at this place was not rolled back.
    pub(super) fn is_alive(&self, at: usize) -> bool {
        !self.dead.get(at).copied().unwrap_or_default()
    }

    /// Whether a turn begins after the line at `from` and not after that at `to`.
    pub(super) fn begins_between(&self, from: usize, to: usize) -> bool {
        let next = self.segments.partition_point(|segment| segment.start <= from);
        self.segments.get(next).is_some_and(|segment| segment.start <= to)
    }

    fn hear(&mut self, at: usize, event: &EventMsg) {
        match event {
            EventMsg::TurnStarted(_) => {
                self.segments.push(Segment { start: at, user: false, kind: SegmentKind::Running });
            }
            EventMsg::TurnComplete(_) | EventMsg::TurnAborted(_) => {
                if let Some(segment) = self.segments.last_mut() {
                    segment.kind = SegmentKind::Ended;
                }
            }
            EventMsg::UserMessage(_) => self.user_spoke(at),
            EventMsg::Unknown(event) if event.tag == "thread_rolled_back" => {
                let count = event.raw.to::<RolledBack>().map_or(0, |event| event.num_turns);
                self.roll_back(count, at);
            }
            EventMsg::TokenCount(_)
            | EventMsg::AgentMessage(_)
            | EventMsg::AgentReasoning(_)
            | EventMsg::Unknown(_) => {}
        }
    }

    /// The user said something: in the running turn, as the same words told twice, or as the beginning of a turn.
    fn user_spoke(&mut self, at: usize) {
        match self.segments.last_mut() {
            Some(segment) if matches!(segment.kind, SegmentKind::Running | SegmentKind::Unanswered) => {
                segment.user = true;
            }
            Some(_) | None => {
                self.segments.push(Segment { start: at, user: true, kind: SegmentKind::Unanswered });
            }
        }
    }

    fn answered(&mut self, item: &ResponseItem) {
        let by_us = matches!(item.kind(), ItemKind::Message(message) if message.role != "assistant");
        if let Some(segment) = self.segments.last_mut()
            && segment.kind == SegmentKind::Unanswered
            && !by_us
        {
            segment.kind = SegmentKind::Answered;
        }
    }

    /// Drops the last `count` turns of the user's, with all that came after each.
    fn roll_back(&mut self, count: usize, now: usize) {
        let mut cut = now;
        for _ in 0..count {
            let Some(newest) = self.segments.iter().rposition(|segment| segment.user) else { break };
            cut = self.segments.get(newest).map_or(cut, |segment| segment.start);
            self.segments.truncate(newest);
        }
        for line in self.dead.iter_mut().take(now).skip(cut) {
            *line = true;
        }
    }
}

#[derive(Deserialize)]
struct RolledBack {
    num_turns: usize,
}

/// Whether an item is something that the user, or another agent in their place, has said.
pub(super) fn is_user_input(item: &ResponseItem) -> bool {
    user_text(item).is_some() || matches!(item.kind(), ItemKind::AgentMessage(_))
}

/// The words of a message of the user's; none for one that only tells the model where it is.
pub(super) fn user_text(item: &ResponseItem) -> Option<String> {
    let ItemKind::Message(message) = item.kind() else { return None };
    if message.role != "user" {
        return None;
    }
    let is_context = |entry: &ContentItem| {
        let text = entry.as_text().map(str::trim_start);
        text.is_some_and(|text| CONTEXT_MARKS.iter().any(|mark| text.starts_with(mark)))
    };
    (!message.content.iter().any(is_context)).then(|| message.text())
}
