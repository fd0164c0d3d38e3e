//! A rollout: what the model said in a session, answer by answer; what it was told comes from the calls that run now.

use tenon_protocol::{
    ContentItem, EventMsg, ItemKind, Message, ResponseItem, RolloutItem, parse_line_mended,
};

use super::input::{Answer, Recording, Speech, numbered};

/// Reads a rollout. Lines that are none are counted and skipped, as on resume (runtime.md D11.11).
pub(crate) fn parse(text: &str) -> Recording {
    let mut broken = 0usize;
    let lines: Vec<RolloutItem> = numbered(text)
        .filter_map(|(_, line)| match parse_line_mended(line) {
            Ok((line, _)) => Some(line.item),
            Err(_) => {
                broken += 1;
                None
            }
        })
        .collect();
    // Files with events hold every prompt twice: the event has the user's own words.
    let events = lines.iter().any(|line| matches!(line, RolloutItem::EventMsg(EventMsg::UserMessage(_))));
    let mut reader = Reader { events, ..Reader::default() };
    for line in lines {
        reader.take(line);
    }
    reader.end_answer();
    let mut notes = Vec::new();
    if broken > 0 {
        notes.push(format!("lines of the rollout that could not be read and were skipped: {broken}"));
    }
    if reader.compacted {
        notes.push("the rollout was compacted: what was said before is played all the same".to_owned());
    }
    Recording { answers: reader.answers, notes, ..Recording::default() }
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
}

impl Reader {
    fn take(&mut self, line: RolloutItem) {
        match line {
            RolloutItem::ResponseItem(item) => self.item(item),
            RolloutItem::EventMsg(EventMsg::UserMessage(event)) => self.prompted(event.message),
            RolloutItem::EventMsg(EventMsg::TurnAborted(_)) => self.end_answer(),
            RolloutItem::Compacted(_) => self.compacted = true,
            RolloutItem::SessionMeta(_)
            | RolloutItem::TurnContext(_)
            | RolloutItem::WorldState(_)
            | RolloutItem::EventMsg(
                EventMsg::TokenCount(_)
                | EventMsg::TurnStarted(_)
                | EventMsg::TurnComplete(_)
                | EventMsg::AgentMessage(_)
                | EventMsg::AgentReasoning(_)
                | EventMsg::Unknown(_),
            )
            | RolloutItem::CallStarted(_)
            | RolloutItem::CallProgress(_)
            | RolloutItem::CallFinished(_)
            | RolloutItem::ModelRequest(_)
            | RolloutItem::Unknown { .. } => {}
        }
    }

    fn item(&mut self, item: ResponseItem) {
        match item.kind() {
            ItemKind::Message(message) if message.role != "assistant" => match words(message) {
                Some(words) if message.role == "user" && !self.events => self.prompted(words),
                Some(_) | None => self.end_answer(),
            },
            // What the model was told: its next item belongs to another answer.
            ItemKind::FunctionCallOutput(_) | ItemKind::CustomToolCallOutput(_) => self.end_answer(),
            ItemKind::ToolSearchOutput(output) if output.execution == "client" => self.end_answer(),
            ItemKind::AdditionalTools(_)
            | ItemKind::CompactionTrigger(_)
            | ItemKind::ConfigurationUpdate(_)
            | ItemKind::GhostSnapshot(_) => {}
            ItemKind::Message(_)
            | ItemKind::AgentMessage(_)
            | ItemKind::Reasoning(_)
            | ItemKind::LocalShellCall(_)
            | ItemKind::FunctionCall(_)
            | ItemKind::ToolSearchCall(_)
            | ItemKind::CustomToolCall(_)
            | ItemKind::ToolSearchOutput(_)
            | ItemKind::WebSearchCall(_)
            | ItemKind::ImageGenerationCall(_)
            | ItemKind::Compaction(_)
            | ItemKind::ContextCompaction(_)
            | ItemKind::Unknown(_) => self.items.push(item),
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

/// A message's text, unless it is one that the runtime makes.
fn words(message: &Message) -> Option<String> {
    const MADE: [&str; 5] = [
        "<environment_context>",
        "<user_instructions>",
        "<turn_aborted>",
        "<user_shell_command>",
        "# AGENTS.md",
    ];
    let texts: Vec<&str> = message
        .content
        .iter()
        .filter_map(|part| match part {
            ContentItem::InputText { text } | ContentItem::OutputText { text } => Some(text.as_str()),
            ContentItem::InputImage { .. } | ContentItem::InputAudio { .. } => None,
        })
        .collect();
    let text = texts.join("\n");
    let made = MADE.iter().any(|tag| text.trim_start().starts_with(tag));
    (!made && !text.trim().is_empty()).then_some(text)
}
