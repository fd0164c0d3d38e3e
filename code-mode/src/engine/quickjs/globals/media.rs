//! `image`, `audio` and `generatedImage` (runtime.md C5.4 to C5.6).

use std::rc::Rc;

use rquickjs::{Ctx, Object, Value};
use tenon_protocol::{AUDIO_OMITTED, FunctionCallOutputContentItem, IMAGE_DETAIL_META, ImageDetail};

use super::is_given;
use crate::engine::quickjs::shared::{Arguments, Shared};
use crate::engine::quickjs::strings::{text_of, throw};

const NO_IMAGE: &str = "image expects a non-empty image URL string, an object with image_url and optional detail, or \
     a raw MCP image block";
const REMOTE_IMAGE: &str = "Tool call failed: remote image URLs are not supported in tool outputs. Pass a base64 data \
     URI instead";
const BAD_IMAGE: &str = "Tool call failed: invalid image output. Pass a base64 data URI instead";
const BAD_DETAIL: &str = "image detail must be one of: auto, low, high, original";
const DETAIL_NO_STRING: &str = "image detail must be a string when provided";
const NO_AUDIO: &str =
    "audio expects a non-empty audio URL string, an object with audio_url, or a raw MCP audio block";
const BAD_AUDIO: &str = "Tool call failed: invalid audio output. Pass a base64 data URI instead";
const NO_GENERATED_IMAGE: &str = "generatedImage expects an image generation result object";
const HINT_NO_STRING: &str = "generatedImage output_hint must be a string when provided";

/// Puts out an image.
pub(super) fn image<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    arguments: &Arguments<'js>,
) -> rquickjs::Result<Value<'js>> {
    let item = image_item(ctx, shared, arguments)?;
    shared.host.put_out(item);
    Ok(Value::new_undefined(ctx.clone()))
}

/// Puts out a sound, or says that the model could not hear it.
pub(super) fn audio<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    arguments: &Arguments<'js>,
) -> rquickjs::Result<Value<'js>> {
    let audio_url = audio_url(ctx, shared, arguments)?;
    shared.host.put_out(if shared.script.audio_input {
        FunctionCallOutputContentItem::InputAudio { audio_url }
    } else {
        FunctionCallOutputContentItem::text(AUDIO_OMITTED)
    });
    Ok(Value::new_undefined(ctx.clone()))
}

/// Puts out what an image generation gave: the image, then what it says of it.
pub(super) fn generated_image<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    arguments: &Arguments<'js>,
) -> rquickjs::Result<Value<'js>> {
    let (image, hint) = generated(ctx, shared, arguments)?;
    shared.host.put_out(image);
    if let Some(text) = hint {
        shared.host.put_out(FunctionCallOutputContentItem::InputText { text });
    }
    Ok(Value::new_undefined(ctx.clone()))
}

fn image_item<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared<'js>,
    arguments: &Arguments<'js>,
) -> rquickjs::Result<FunctionCallOutputContentItem> {
    let (url, own_detail) = image_source(ctx, shared, &arguments.first)?;
    let detail = if is_given(&arguments.second) {
        Some(detail_of(ctx, shared, &arguments.second)?)
    } else {
        own_detail
    };
    Ok(FunctionCallOutputContentItem::InputImage {
        image_url: Some(image_url(ctx, url)?),
        file_id: None,
        detail,
    })
}

/// An image's URL and the detail that comes with it.
fn image_source<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared<'js>,
    value: &Value<'js>,
) -> rquickjs::Result<(String, Option<ImageDetail>)> {
    if let Some(url) = value.as_string() {
        return Ok((non_empty(ctx, text_of(shared, url)?, NO_IMAGE)?, None));
    }
    let object = plain_object(ctx, value, NO_IMAGE)?;
    if let Some(url) = given(object, "image_url")? {
        let url = string(ctx, shared, &url, NO_IMAGE)?;
        let detail = given(object, "detail")?.map(|detail| detail_of(ctx, shared, &detail)).transpose()?;
        return Ok((non_empty(ctx, url, NO_IMAGE)?, detail));
    }
    let block = Block { kind: "image", expects: NO_IMAGE };
    let url = block.url(ctx, shared, object)?;
    Ok((url, block_detail(shared, object)?))
}

/// The detail that a server wishes for its image; one that is none is passed over (C5.6).
fn block_detail<'js>(shared: &Shared<'js>, block: &Object<'js>) -> rquickjs::Result<Option<ImageDetail>> {
    let Some(meta) = given(block, "_meta")? else { return Ok(None) };
    let Some(meta) = meta.as_object() else { return Ok(None) };
    let Some(detail) = given(meta, IMAGE_DETAIL_META)? else { return Ok(None) };
    let Some(detail) = detail.as_string() else { return Ok(None) };
    Ok(ImageDetail::from_name(&text_of(shared, detail)?.to_ascii_lowercase()))
}

fn detail_of<'js>(ctx: &Ctx<'js>, shared: &Shared<'js>, value: &Value<'js>) -> rquickjs::Result<ImageDetail> {
    let name = string(ctx, shared, value, DETAIL_NO_STRING)?;
    ImageDetail::from_name(&name.to_ascii_lowercase()).ok_or_else(|| throw(ctx, BAD_DETAIL))
}

/// An URL that holds the image itself.
fn image_url(ctx: &Ctx<'_>, url: String) -> rquickjs::Result<String> {
    if is_data(&url) {
        Ok(url)
    } else if has_scheme(&url, "http://") || has_scheme(&url, "https://") {
        Err(throw(ctx, REMOTE_IMAGE))
    } else {
        Err(throw(ctx, BAD_IMAGE))
    }
}

fn audio_url<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared<'js>,
    arguments: &Arguments<'js>,
) -> rquickjs::Result<String> {
    let value = &arguments.first;
    let url = match value.as_string() {
        Some(url) => non_empty(ctx, text_of(shared, url)?, NO_AUDIO)?,
        None => {
            let object = plain_object(ctx, value, NO_AUDIO)?;
            match given(object, "audio_url")? {
                Some(url) => non_empty(ctx, string(ctx, shared, &url, NO_AUDIO)?, NO_AUDIO)?,
                None => Block { kind: "audio", expects: NO_AUDIO }.url(ctx, shared, object)?,
            }
        }
    };
    if is_data(&url) { Ok(url) } else { Err(throw(ctx, BAD_AUDIO)) }
}

fn generated<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared<'js>,
    arguments: &Arguments<'js>,
) -> rquickjs::Result<(FunctionCallOutputContentItem, Option<String>)> {
    let value = &arguments.first;
    let object = plain_object(ctx, value, NO_GENERATED_IMAGE)?;
    let url = given(object, "image_url")?.ok_or_else(|| throw(ctx, NO_GENERATED_IMAGE))?;
    let url = image_url(ctx, string(ctx, shared, &url, NO_GENERATED_IMAGE)?)?;
    let hint =
        given(object, "output_hint")?.map(|hint| string(ctx, shared, &hint, HINT_NO_STRING)).transpose()?;
    let image =
        FunctionCallOutputContentItem::InputImage { image_url: Some(url), file_id: None, detail: None };
    Ok((image, hint))
}

/// A content block as MCP servers give it.
struct Block {
    kind: &'static str,
    /// What is said of an object that is no block at all.
    expects: &'static str,
}

impl Block {
    fn url<'js>(
        &self,
        ctx: &Ctx<'js>,
        shared: &Shared<'js>,
        block: &Object<'js>,
    ) -> rquickjs::Result<String> {
        let Self { kind, expects } = *self;
        let of = given(block, "type")?.ok_or_else(|| throw(ctx, expects))?;
        let of = string(ctx, shared, &of, expects)?;
        if of != kind {
            return Err(throw(ctx, &format!("{kind} only accepts MCP {kind} blocks, got \"{of}\"")));
        }
        let no_data = || throw(ctx, &format!("{kind} expected MCP {kind} data"));
        let data = given(block, "data")?.ok_or_else(no_data)?;
        let data = text_of(shared, data.as_string().ok_or_else(no_data)?)?;
        if data.is_empty() {
            return Err(no_data());
        }
        if is_data(&data) {
            return Ok(data);
        }
        let mime = match given(block, "mimeType")? {
            Some(mime) => Some(mime),
            None => given(block, "mime_type")?,
        };
        let mime = mime.as_ref().and_then(Value::as_string).map(|mime| text_of(shared, mime)).transpose()?;
        let mime =
            mime.filter(|mime| !mime.is_empty()).unwrap_or_else(|| "application/octet-stream".to_owned());
        Ok(format!("data:{mime};base64,{data}"))
    }
}

fn plain_object<'a, 'js>(
    ctx: &Ctx<'js>,
    value: &'a Value<'js>,
    complaint: &str,
) -> rquickjs::Result<&'a Object<'js>> {
    let object = value.as_object().filter(|_| !value.is_array() && !value.is_function());
    object.ok_or_else(|| throw(ctx, complaint))
}

/// A member that is neither missing nor `undefined` nor `null`.
fn given<'js>(object: &Object<'js>, name: &str) -> rquickjs::Result<Option<Value<'js>>> {
    let value = object.get::<_, Value<'js>>(name)?;
    Ok(Some(value).filter(is_given))
}

/// The text of a value that is a string; `complaint` is thrown for any other.
fn string<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared<'js>,
    value: &Value<'js>,
    complaint: &str,
) -> rquickjs::Result<String> {
    text_of(shared, value.as_string().ok_or_else(|| throw(ctx, complaint))?)
}

fn non_empty(ctx: &Ctx<'_>, text: String, complaint: &str) -> rquickjs::Result<String> {
    if text.is_empty() { Err(throw(ctx, complaint)) } else { Ok(text) }
}

fn is_data(url: &str) -> bool {
    has_scheme(url, "data:")
}

fn has_scheme(url: &str, scheme: &str) -> bool {
    url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}
