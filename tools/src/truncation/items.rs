//! Cutting the items of an output (core.md 3.4, 3.5).

use tenon_protocol::{FunctionCallOutputBody, FunctionCallOutputContentItem, FunctionCallOutputPayload};

use super::{TruncationPolicy, approx_token_count, formatted_truncate_text, truncate_text};

/// Bounds the body of an output; `success` stays (core.md 3.4).
///
/// A text is cut in its middle. Of items, one budget pays for the texts and the audio in order: the text it ends in is
/// cut, what comes after is left out and counted. Images and encrypted content are always kept whole and cost nothing.
/// An audio item costs what its URL would cost as text, and is kept whole or left out.
#[must_use]
pub fn truncate_payload(
    payload: FunctionCallOutputPayload,
    policy: TruncationPolicy,
) -> FunctionCallOutputPayload {
    let FunctionCallOutputPayload { body, success } = payload;
    let body = match body {
        FunctionCallOutputBody::Text(text) => FunctionCallOutputBody::Text(cut(text, policy)),
        FunctionCallOutputBody::ContentItems(items) => {
            FunctionCallOutputBody::ContentItems(truncate_items(items, policy))
        }
    };
    FunctionCallOutputPayload { body, success }
}

/// A text that fits is moved, not copied.
fn cut(text: String, policy: TruncationPolicy) -> String {
    if text.len() <= policy.byte_budget() { text } else { truncate_text(&text, policy) }
}

/// What is left of a budget, and what has fallen out of it.
struct Running {
    policy: TruncationPolicy,
    omitted_texts: usize,
    omitted_audio: usize,
}

fn truncate_items(
    items: Vec<FunctionCallOutputContentItem>,
    policy: TruncationPolicy,
) -> Vec<FunctionCallOutputContentItem> {
    let mut running = Running { policy, omitted_texts: 0, omitted_audio: 0 };
    let mut kept: Vec<_> = items.into_iter().filter_map(|item| running.admit(item)).collect();
    let Running { policy: _, omitted_texts, omitted_audio } = running;
    if omitted_texts > 0 {
        kept.push(FunctionCallOutputContentItem::text(format!("[omitted {omitted_texts} text items ...]")));
    }
    if omitted_audio > 0 {
        kept.push(FunctionCallOutputContentItem::text(format!("[omitted {omitted_audio} audio items ...]")));
    }
    kept
}

impl Running {
    fn admit(&mut self, item: FunctionCallOutputContentItem) -> Option<FunctionCallOutputContentItem> {
        match item {
            FunctionCallOutputContentItem::InputText { text } => self.admit_text(text),
            FunctionCallOutputContentItem::InputAudio { audio_url } => self.admit_audio(audio_url),
            FunctionCallOutputContentItem::InputImage { .. }
            | FunctionCallOutputContentItem::EncryptedContent { .. } => Some(item),
        }
    }

    fn admit_text(&mut self, text: String) -> Option<FunctionCallOutputContentItem> {
        if text.is_empty() {
            return None;
        }
        if self.policy.amount() == 0 {
            self.omitted_texts += 1;
            return None;
        }
        if self.pay(&text) {
            return Some(FunctionCallOutputContentItem::InputText { text });
        }
        let snippet = truncate_text(&text, self.policy);
        self.policy = self.policy.with_amount(0);
        Some(FunctionCallOutputContentItem::InputText { text: snippet })
    }

    fn admit_audio(&mut self, audio_url: String) -> Option<FunctionCallOutputContentItem> {
        if self.pay(&audio_url) {
            return Some(FunctionCallOutputContentItem::InputAudio { audio_url });
        }
        self.omitted_audio += 1;
        None
    }

    /// Takes the cost of `text` from what remains, if it can.
    fn pay(&mut self, text: &str) -> bool {
        match self.policy.amount().checked_sub(self.policy.cost(text)) {
            Some(remaining) => {
                self.policy = self.policy.with_amount(remaining);
                true
            }
            None => false,
        }
    }
}

/// Bounds a list of items as one text: where the joined texts exceed the budget, one text with a header takes the
/// place of them all, and every other item follows in order (core.md 3.5). Also tells how many tokens there were;
/// none where nothing was cut.
#[must_use]
pub fn formatted_truncate_items(
    items: Vec<FunctionCallOutputContentItem>,
    policy: TruncationPolicy,
) -> (Vec<FunctionCallOutputContentItem>, Option<usize>) {
    let joined = items.iter().filter_map(|item| item.as_text()).collect::<Vec<_>>().join("\n");
    if joined.len() <= policy.byte_budget() {
        return (items, None);
    }
    let text = formatted_truncate_text(&joined, policy);
    let media = items.into_iter().filter(|item| item.as_text().is_none());
    let cut = std::iter::once(FunctionCallOutputContentItem::InputText { text }).chain(media).collect();
    (cut, Some(approx_token_count(&joined)))
}

#[cfg(test)]
#[path = "items_tests.rs"]
mod tests;
