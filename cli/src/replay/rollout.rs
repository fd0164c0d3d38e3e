//! A rollout: what the model said in a session, answer by answer; what it was told comes from the calls that run now.
//! Its lines are read as on resume.

use std::io;

use tenon_core::rollout::{LineKind, RolloutLines, user_text};
use tenon_protocol::ResponseItem;

use super::input::{Answer, Recording, Speech};

/// Reads a rollout. Lines that are none are counted and skipped, as on resume (runtime.md D11.11).
///
/// # Errors
/// None that bytes in memory can give.
pub(crate) fn parse(mut bytes: &[u8]) -> io::Result<Recording> {
    let read = RolloutLines::read(&mut bytes)?;
    let kinds = || read.lines.iter().map(|line| LineKind::of(&line.line.item));
    // Files with events hold every prompt twice: the event has the user's own words.
    let events = kinds().any(|line| matches!(line, LineKind::Words(_)));
    let mut reader = Reader { events, ..Reader::default() };
    for line in kinds() {
        reader.take(line);
    }
    reader.end_answer();
    let notes = notes(&read, &reader);
    Ok(Recording { answers: reader.answers, notes, ..Recording::default() })
}

/// What the operator should know: what is not played, and what is although it is no part of the conversation any more.
fn notes(read: &RolloutLines, reader: &Reader) -> Vec<String> {
    let doubled = read.doubled_count;
    let broken = read.skipped_count - doubled;
    let counted = [
        (broken, "lines of the rollout that could not be read and were skipped"),
        (doubled, "lines of the rollout that say what a line before them says and were skipped"),
    ];
    let kept = [
        (reader.compacted, "the rollout was compacted: what was said before is played all the same"),
        (reader.rolled_back, "turns of the rollout were rolled back: they are played all the same"),
    ];
    let counted = counted.into_iter().filter(|(count, _)| *count > 0);
    let kept = kept.into_iter().filter(|(there, _)| *there);
    counted
        .map(|(count, what)| format!("{what}: {count}"))
        .chain(kept.map(|(_, note)| note.to_owned()))
        .collect()
}

#[derive(Default)]
struct Reader {
    /// Whether prompts come from events.
    events: bool,
    answers: Vec<Answer>,
    items: Vec<ResponseItem>,
    /// The prompt of the answer that is being read.
    prompt: Option<String>,
    compacted: bool,
    rolled_back: bool,
}

impl Reader {
    fn take(&mut self, line: LineKind<'_>) {
        match line {
            LineKind::Said(item) | LineKind::Mail(item) => self.items.push(item.clone()),
            LineKind::Words(event) => self.prompted(event.message.clone()),
            LineKind::Prompt(item) => match user_text(item).filter(|words| !words.trim().is_empty()) {
                Some(words) if !self.events => self.prompted(words),
                Some(_) | None => self.end_answer(),
            },
            // What the model was told: its next item belongs to another answer.
            LineKind::Told(_) | LineKind::TurnAborted => self.end_answer(),
            LineKind::Compacted(_) => self.compacted = true,
            LineKind::RolledBack(turns) => self.rolled_back |= turns > 0,
            LineKind::Meta(_)
            | LineKind::Settings(_)
            | LineKind::Beside(_)
            | LineKind::TurnStarted
            | LineKind::TurnCompleted
            | LineKind::Request(_)
            | LineKind::Started(_)
            | LineKind::Progress(_)
            | LineKind::Finished(_)
            | LineKind::Other => {}
        }
    }

    fn prompted(&mut self, words: String) {
        self.end_answer();
        self.prompt = Some(words);
    }

    fn end_answer(&mut self) {
        if self.items.is_empty() {
            return;
        }
        let speech = Speech::Items(std::mem::take(&mut self.items));
        self.answers.push(Answer { prompt: self.prompt.take(), speech });
    }
}
