//! What a cell has put out and nobody has read.

use tenon_protocol::FunctionCallOutputContentItem;

use crate::limits::{MAX_OUTPUT_BYTES, MAX_OUTPUT_ITEMS};

/// Keeps items up to a bound, and counts what came after it.
#[derive(Debug, Default)]
pub(super) struct Output {
    items: Vec<FunctionCallOutputContentItem>,
    bytes: usize,
    dropped_items: usize,
    dropped_bytes: usize,
}

impl Output {
    /// Keeps an item. Once one has been dropped, so are all after it until the next reading: a gap in the middle could
    /// not be seen.
    pub(super) fn push(&mut self, item: FunctionCallOutputContentItem) {
        let bytes = bytes_of(&item);
        let fits =
            self.items.len() < MAX_OUTPUT_ITEMS && self.bytes.saturating_add(bytes) <= MAX_OUTPUT_BYTES;
        if fits && self.dropped_items == 0 {
            self.bytes += bytes;
            self.items.push(item);
        } else {
            self.dropped_items += 1;
            self.dropped_bytes = self.dropped_bytes.saturating_add(bytes);
        }
    }

    /// Puts back what was taken and not read.
    pub(super) fn put_back(&mut self, items: Vec<FunctionCallOutputContentItem>) {
        self.bytes += items.iter().map(bytes_of).sum::<usize>();
        self.items.splice(0..0, items);
    }

    /// Takes everything, with a last item that says what was dropped, where something was.
    pub(super) fn take(&mut self) -> Vec<FunctionCallOutputContentItem> {
        let Self { mut items, dropped_items, dropped_bytes, .. } = std::mem::take(self);
        if dropped_items > 0 {
            items.push(FunctionCallOutputContentItem::InputText {
                text: format!(
                    "[dropped {dropped_items} items of {dropped_bytes} bytes: a cell keeps {MAX_OUTPUT_ITEMS} items \
                     and {MAX_OUTPUT_BYTES} bytes until they are read]"
                ),
            });
        }
        items
    }
}

fn bytes_of(item: &FunctionCallOutputContentItem) -> usize {
    match item {
        FunctionCallOutputContentItem::InputText { text } => text.len(),
        FunctionCallOutputContentItem::InputImage { image_url, file_id, detail: _ } => {
            image_url.as_ref().map_or(0, String::len) + file_id.as_ref().map_or(0, String::len)
        }
        FunctionCallOutputContentItem::InputAudio { audio_url } => audio_url.len(),
        FunctionCallOutputContentItem::EncryptedContent { encrypted_content } => encrypted_content.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(bytes: usize) -> FunctionCallOutputContentItem {
        FunctionCallOutputContentItem::InputText { text: "x".repeat(bytes) }
    }

    #[test]
    fn as_many_items_as_there_may_be_are_kept_and_one_more_is_told_of() {
        let mut output = Output::default();
        for _ in 0..MAX_OUTPUT_ITEMS {
            output.push(item(1));
        }
        assert_eq!(output.take().len(), MAX_OUTPUT_ITEMS);
        for _ in 0..=MAX_OUTPUT_ITEMS {
            output.push(item(1));
        }
        let items = output.take();
        let note = format!(
            "[dropped 1 items of 1 bytes: a cell keeps {MAX_OUTPUT_ITEMS} items and {MAX_OUTPUT_BYTES} bytes until \
             they are read]"
        );
        assert_eq!(items.len(), MAX_OUTPUT_ITEMS + 1);
        assert_eq!(items.last(), Some(&FunctionCallOutputContentItem::InputText { text: note }));
        assert_eq!(output.take(), []);
    }

    #[test]
    fn as_many_bytes_as_there_may_be_are_kept_and_nothing_comes_after_a_gap() {
        let mut output = Output::default();
        output.push(item(MAX_OUTPUT_BYTES));
        output.push(item(0));
        assert_eq!(output.take().len(), 2);
        output.push(item(1));
        output.push(item(MAX_OUTPUT_BYTES));
        output.push(item(1));
        let items = output.take();
        assert_eq!(items.len(), 2);
        assert_eq!(items[0], item(1));
    }
}
