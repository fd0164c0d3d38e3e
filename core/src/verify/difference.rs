//! Where a request is not what it was.

use std::fmt;

use tenon_protocol::{EventMsg, ResponseItem, RolloutItem, ToolHash};
use tenon_tools::{Prompt, TruncationPolicy};

use super::fingerprint::{Fingerprint, item_text};
use crate::hash::sha256;
use crate::history::History;
use crate::rollout::LoadedRollout;

/// Bytes of a text that are shown from the first difference on.
const SHOWN_BYTES: usize = 48;

/// The first difference between a session and its recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Which request of the file, from 1.
    pub request: usize,
    /// The number of its line in the file, from 1.
    pub line: u64,
    /// What of it differs.
    pub part: DifferentPart,
}

/// The part of a request that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DifferentPart {
    /// The model.
    Model {
        /// Its name in the recording.
        recorded: String,
        /// Its name now.
        now: String,
    },
    /// The base instructions.
    Instructions {
        /// Where, if the recorded text is known.
        at: Option<DifferentText>,
    },
    /// A tool of the list.
    Tool {
        /// Its place in the list, from 0; none where the recording does not name the tools.
        index: Option<usize>,
        /// Its name in the recording; none where the list was shorter.
        recorded: Option<String>,
        /// Its name now; none where the list is shorter.
        now: Option<String>,
    },
    /// An item of the input.
    Item {
        /// Its place in the input, from 0; none where the recording does not name the items.
        index: Option<usize>,
        /// What it is now, e.g. `function_call_output c1`; none where the input ends before it.
        now: Option<String>,
        /// Where in the item's text without its id, if the recorded text is known.
        at: Option<DifferentText>,
    },
}

/// Where two texts part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferentText {
    /// The first byte that differs, from 0.
    pub byte: usize,
    /// What the recorded text goes on with, cut.
    pub recorded: String,
    /// What the text now goes on with, cut.
    pub now: String,
}

/// What of `prompt`, whose hashes are `now`, is not what was asked; none where it is the same.
pub(super) fn difference(
    asked: &Fingerprint,
    now: Fingerprint,
    prompt: &Prompt,
    rollout: &LoadedRollout,
    policy: TruncationPolicy,
) -> Option<DifferentPart> {
    if asked.body == now.body {
        return None;
    }
    if asked.model != now.model {
        return Some(DifferentPart::Model { recorded: asked.model.clone(), now: now.model });
    }
    if asked.instructions != now.instructions {
        let recorded = rollout.meta.base_instructions.as_ref().and_then(|value| value["text"].as_str());
        let recorded = recorded.filter(|text| sha256(text) == asked.instructions);
        let at = recorded.map(|recorded| DifferentText::between(recorded, &prompt.instructions));
        return Some(DifferentPart::Instructions { at });
    }
    if asked.tools != now.tools {
        return Some(different_tool(asked.each_tool.as_deref(), now.each_tool.as_deref()));
    }
    Some(different_item(asked, &now, prompt, rollout, policy))
}

fn different_tool(recorded: Option<&[ToolHash]>, now: Option<&[ToolHash]>) -> DifferentPart {
    let (Some(recorded), Some(now)) = (recorded, now) else {
        return DifferentPart::Tool { index: None, recorded: None, now: None };
    };
    let index = first_difference(recorded, now);
    let name = |tools: &[ToolHash]| tools.get(index).map(|tool| tool.name.clone());
    DifferentPart::Tool { index: Some(index), recorded: name(recorded), now: name(now) }
}

fn different_item(
    asked: &Fingerprint,
    now: &Fingerprint,
    prompt: &Prompt,
    rollout: &LoadedRollout,
    policy: TruncationPolicy,
) -> DifferentPart {
    let (Some(recorded), Some(hashes)) = (&asked.items, &now.items) else {
        return DifferentPart::Item { index: None, now: None, at: None };
    };
    let index = first_difference(recorded, hashes);
    let item = prompt.input.get(index);
    let text = recorded.get(index).and_then(|hash| text_of(hash, rollout, policy));
    let at = item.zip(text).map(|(item, text)| DifferentText::between(&text, &item_text(item)));
    DifferentPart::Item { index: Some(index), now: item.map(|item| named(item)), at }
}

fn first_difference<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn named(item: &ResponseItem) -> String {
    item.call_id().map_or_else(|| item.tag().to_owned(), |id| format!("{} {id}", item.tag()))
}

/// The text of an item that has this hash, from wherever the file holds it: in its own line, in that of the call's
/// end, in the words of the user.
fn text_of(hash: &str, rollout: &LoadedRollout, policy: TruncationPolicy) -> Option<String> {
    let items = rollout.lines.iter().filter_map(|line| match &line.line.item {
        RolloutItem::ResponseItem(item) => Some(item.clone()),
        RolloutItem::CallFinished(finished) => Some(rollout.output_of(finished)),
        RolloutItem::EventMsg(EventMsg::UserMessage(event)) => {
            Some(ResponseItem::message("user", &event.message))
        }
        RolloutItem::EventMsg(_)
        | RolloutItem::SessionMeta(_)
        | RolloutItem::TurnContext(_)
        | RolloutItem::WorldState(_)
        | RolloutItem::Compacted(_)
        | RolloutItem::CallStarted(_)
        | RolloutItem::CallProgress(_)
        | RolloutItem::ModelRequest(_)
        | RolloutItem::Unknown { .. } => None,
    });
    let texts = items.flat_map(|item| {
        let kept = History::new(policy).record(item.clone());
        kept.map(|kept| item_text(&kept)).into_iter().chain([item_text(&item)])
    });
    texts.into_iter().find(|text| sha256(text) == hash)
}

impl DifferentText {
    fn between(recorded: &str, now: &str) -> Self {
        let byte = recorded.bytes().zip(now.bytes()).take_while(|(a, b)| a == b).count();
        let rest = |text: &str| {
            let rest = text.as_bytes().get(byte..).unwrap_or_default();
            String::from_utf8_lossy(rest.get(..SHOWN_BYTES).unwrap_or(rest)).into_owned()
        };
        Self { byte, recorded: rest(recorded), now: rest(now) }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {} (line {}): {}", self.request, self.line, self.part)
    }
}

impl fmt::Display for DifferentPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model { recorded, now } => write!(f, "the model was {recorded} and is {now}"),
            Self::Instructions { at } => write!(f, "the instructions differ{}", From(at.as_ref())),
            Self::Tool { index: None, .. } => write!(f, "the tool list differs"),
            Self::Tool { index: Some(index), recorded, now } => match (recorded, now) {
                (Some(recorded), Some(now)) if recorded == now => {
                    write!(f, "tool {index} ({now}) differs")
                }
                (Some(recorded), Some(now)) => write!(f, "tool {index} was {recorded} and is {now}"),
                (Some(recorded), None) => write!(f, "tool {index} ({recorded}) is missing"),
                (None, Some(now)) => write!(f, "tool {index} ({now}) is new"),
                (None, None) => write!(f, "the tool list differs"),
            },
            Self::Item { index: None, .. } => write!(f, "the input differs"),
            Self::Item { index: Some(index), now: None, .. } => write!(f, "item {index} is missing"),
            Self::Item { index: Some(index), now: Some(now), at } => {
                write!(f, "item {index} ({now}) differs{}", From(at.as_ref()))
            }
        }
    }
}

/// Where a text differs, as the end of a sentence.
struct From<'a>(Option<&'a DifferentText>);

impl fmt::Display for From<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(DifferentText { byte, recorded, now }) => {
                write!(f, " from byte {byte} on: it was {recorded:?} and is {now:?}")
            }
            None => Ok(()),
        }
    }
}
