//! Pictures in the outputs of tools, looked at before they are written down. A provider refuses a request with a picture
//! that it cannot read, and with it every later request of the session.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use tenon_protocol::{
    FunctionCallOutputBody, FunctionCallOutputContentItem, ImageDetail, ResponseInputItem, ResponseItem,
};
use tenon_tools::FunctionCallError;
use tokio_util::sync::CancellationToken;

use super::DecodingMemory;
use super::picture::{NO_IMAGE, memory_needed_for, url_of};
use crate::history::{payload, payload_mut};

/// What stands in the place of a picture that nobody waited for.
const NOT_LOOKED_AT: &str = "unable to process image: aborted by user";

/// Takes what others write as base64, with or without padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Whether an output holds pictures.
pub(crate) fn has_pictures(item: &ResponseInputItem) -> bool {
    body(item).is_some_and(shows_pictures)
}

fn shows_pictures(body: &FunctionCallOutputBody) -> bool {
    match body {
        FunctionCallOutputBody::ContentItems(entries) => {
            entries.iter().any(|entry| matches!(entry, FunctionCallOutputContentItem::InputImage { .. }))
        }
        FunctionCallOutputBody::Text(_) => false,
    }
}

/// Looks at the pictures of an output that are in it as `data:` URLs. One that a model would not take whole is shrunk as
/// `view_image` does it, one with the wrong label gets the right one, and in the place of what is no picture there is
/// the text of `view_image` for that. All others stay byte for byte.
pub(crate) async fn check_pictures(item: &mut ResponseInputItem, cancellation: &CancellationToken) {
    if let Some(body) = body_mut(item) {
        check(body, cancellation).await;
    }
}

/// As [`check_pictures`], of an output as it is written down. One whose pictures are all in order stays byte for byte.
pub(crate) async fn with_checked_pictures(item: ResponseItem) -> ResponseItem {
    if !payload(item.kind()).is_some_and(|payload| shows_pictures(&payload.body)) {
        return item;
    }
    let mut kind = item.kind().clone();
    if let Some(payload) = payload_mut(&mut kind) {
        check(&mut payload.body, &CancellationToken::new()).await;
    }
    if kind == *item.kind() { item } else { ResponseItem::new(kind) }
}

async fn check(body: &mut FunctionCallOutputBody, cancellation: &CancellationToken) {
    let FunctionCallOutputBody::ContentItems(entries) = body else { return };
    for entry in entries {
        let FunctionCallOutputContentItem::InputImage { image_url: Some(url), detail, .. } = entry else {
            continue;
        };
        if !is_data(url) {
            continue;
        }
        let original = *detail != Some(ImageDetail::High);
        let checked = cancellation.run_until_cancelled(checked(std::mem::take(url), original)).await;
        match checked {
            Some(Ok(checked)) => *url = checked,
            Some(Err(error)) => *entry = FunctionCallOutputContentItem::text(error.text()),
            None => *entry = FunctionCallOutputContentItem::text(NOT_LOOKED_AT),
        }
    }
}

/// The URL of the same picture as a model takes it.
///
/// # Errors
/// When it is no picture.
async fn checked(url: String, original: bool) -> Result<String, FunctionCallError> {
    let failed = |error| FunctionCallError::respond(format!("unable to process image: {error}"));
    let read = tokio::task::spawn_blocking(move || {
        let bytes = decoded(&url)?;
        let needed = memory_needed_for(&bytes, original);
        Some((bytes, needed))
    });
    let read = read.await.map_err(failed)?;
    let (bytes, needed) = read.ok_or_else(|| FunctionCallError::respond(NO_IMAGE))?;
    let taken = DecodingMemory::shared().take(needed).await;
    let url = tokio::task::spawn_blocking(move || {
        // Held as long as the work goes on, even where nobody waits for it any more.
        let _taken = taken;
        url_of(&bytes, original)
    });
    url.await.map_err(failed)?
}

fn is_data(url: &str) -> bool {
    url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// The bytes of a `data:` URL in base64.
fn decoded(url: &str) -> Option<Vec<u8>> {
    let (label, data) = url.split_once(',')?;
    let (_, encoding) = label.rsplit_once(';')?;
    if !encoding.eq_ignore_ascii_case("base64") {
        return None;
    }
    if let Ok(bytes) = LENIENT.decode(data) {
        return Some(bytes);
    }
    // Some break it into lines.
    let data: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    LENIENT.decode(data).ok()
}

fn body(item: &ResponseInputItem) -> Option<&FunctionCallOutputBody> {
    match item {
        ResponseInputItem::FunctionCallOutput { output, .. }
        | ResponseInputItem::CustomToolCallOutput { output, .. } => Some(&output.body),
        ResponseInputItem::Message { .. }
        | ResponseInputItem::McpToolCallOutput { .. }
        | ResponseInputItem::ToolSearchOutput { .. } => None,
    }
}

fn body_mut(item: &mut ResponseInputItem) -> Option<&mut FunctionCallOutputBody> {
    match item {
        ResponseInputItem::FunctionCallOutput { output, .. }
        | ResponseInputItem::CustomToolCallOutput { output, .. } => Some(&mut output.body),
        ResponseInputItem::Message { .. }
        | ResponseInputItem::McpToolCallOutput { .. }
        | ResponseInputItem::ToolSearchOutput { .. } => None,
    }
}

#[cfg(test)]
#[path = "outputs_tests.rs"]
mod tests;
