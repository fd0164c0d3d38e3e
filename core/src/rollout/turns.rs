//! Where the turns of a file begin, and which of them were rolled back (runtime.md D11.13).

use tenon_protocol::{ItemKind, ResponseItem};

use super::line_kind::LineKind;
use super::reader::LoadedRollout;

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
            turns.hear(at, LineKind::of(&line.line.item));
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

    fn hear(&mut self, at: usize, line: LineKind<'_>) {
        match line {
            LineKind::TurnStarted => {
                self.segments.push(Segment { start: at, user: false, kind: SegmentKind::Running });
            }
            LineKind::TurnCompleted | LineKind::TurnAborted => {
                if let Some(segment) = self.segments.last_mut() {
                    segment.kind = SegmentKind::Ended;
                }
            }
            LineKind::Words(_) | LineKind::Prompt(_) | LineKind::Mail(_) => self.user_spoke(at),
            LineKind::Said(item) | LineKind::Told(item) | LineKind::Beside(item) => self.answered(item),
            LineKind::RolledBack(count) => self.roll_back(count, at),
            LineKind::Meta(_)
            | LineKind::Settings(_)
            | LineKind::Compacted(_)
            | LineKind::Request(_)
            | LineKind::Started(_)
            | LineKind::Progress(_)
            | LineKind::Finished(_)
            | LineKind::Other => {}
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
