//! What the model reads of a cell (runtime.md C7.1 to C7.4, C7.6).

use std::time::Duration;

use tenon_protocol::{
    AUDIO_OMITTED, FunctionCallOutputBody, FunctionCallOutputContentItem, FunctionCallOutputPayload,
    ImageDetail,
};
use tenon_tools::{
    FunctionToolOutput, ModelAbilities, TruncationPolicy, approx_token_count, formatted_truncate_items,
    truncate_payload,
};

use crate::reply::{CellReply, CellStatus};

/// How many approximate tokens of a cell's output the model is shown where it does not say how many it wants.
pub(crate) const DEFAULT_MAX_OUTPUT_TOKENS: usize = 10_000;

/// A cell's reply as the output of `exec` or `wait`, with at most about `max_tokens` of what the script and its error
/// say. A script that said nothing leaves the header alone, which goes as a plain string; anything else goes as a list.
pub(crate) fn reply_output(
    reply: CellReply,
    max_tokens: Option<usize>,
    abilities: ModelAbilities,
) -> FunctionToolOutput {
    let CellReply { status, items, error, wall_time } = reply;
    let success = match status {
        CellStatus::Completed | CellStatus::Terminated | CellStatus::Running { .. } => true,
        CellStatus::Failed => false,
    };
    let items: Vec<_> = items.into_iter().map(|item| as_the_model_takes_it(item, abilities)).collect();
    let error = error.map(|error| format!("Script error:\n{error}"));
    let items = bounded(items, error, max_tokens.unwrap_or(DEFAULT_MAX_OUTPUT_TOKENS));
    let header = std::iter::once(FunctionCallOutputContentItem::text(header(&status, wall_time)));
    FunctionToolOutput::from_items(header.chain(items).collect(), Some(success))
}

fn header(status: &CellStatus, wall_time: Duration) -> String {
    let status = match status {
        CellStatus::Completed => "Script completed".to_owned(),
        CellStatus::Failed => "Script failed".to_owned(),
        CellStatus::Terminated => "Script terminated".to_owned(),
        CellStatus::Running { cell_id } => format!("Script running with cell ID {cell_id}"),
    };
    format!("{status}\nWall time {:.1} seconds\nOutput:\n", wall_time.as_secs_f64())
}

/// An item that the model can take: a smaller picture, or a word in the place of sound.
fn as_the_model_takes_it(
    item: FunctionCallOutputContentItem,
    abilities: ModelAbilities,
) -> FunctionCallOutputContentItem {
    match item {
        FunctionCallOutputContentItem::InputImage {
            image_url,
            file_id,
            detail: Some(ImageDetail::Original),
        } if !abilities.original_image_detail => {
            FunctionCallOutputContentItem::InputImage { image_url, file_id, detail: Some(ImageDetail::High) }
        }
        FunctionCallOutputContentItem::InputAudio { .. } if !abilities.audio_input => {
            FunctionCallOutputContentItem::text(AUDIO_OMITTED)
        }
        FunctionCallOutputContentItem::InputImage { .. }
        | FunctionCallOutputContentItem::InputAudio { .. }
        | FunctionCallOutputContentItem::InputText { .. }
        | FunctionCallOutputContentItem::EncryptedContent { .. } => item,
    }
}

/// Texts alone are cut as one, in the middle, so that the end of the error is always seen. Where there are pictures or
/// sound, items are paid for in order; so that the error is not left out as the last of them, up to half of the budget
/// is put aside for it.
fn bounded(
    mut items: Vec<FunctionCallOutputContentItem>,
    error: Option<String>,
    max_tokens: usize,
) -> Vec<FunctionCallOutputContentItem> {
    let policy = TruncationPolicy::Tokens(max_tokens);
    if items.iter().all(|item| item.as_text().is_some()) {
        items.extend(error.map(FunctionCallOutputContentItem::text));
        return formatted_truncate_items(items, policy).0;
    }
    let Some(error) = error else {
        return paid(items, max_tokens);
    };
    let aside = approx_token_count(&error).min(max_tokens.div_ceil(2));
    let mut items = paid(items, max_tokens - aside);
    items.extend(paid(vec![FunctionCallOutputContentItem::text(error)], aside));
    items
}

fn paid(items: Vec<FunctionCallOutputContentItem>, tokens: usize) -> Vec<FunctionCallOutputContentItem> {
    let payload = truncate_payload(FunctionCallOutputPayload::items(items), TruncationPolicy::Tokens(tokens));
    match payload.body {
        FunctionCallOutputBody::ContentItems(items) => items,
        FunctionCallOutputBody::Text(text) => vec![FunctionCallOutputContentItem::text(text)],
    }
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
