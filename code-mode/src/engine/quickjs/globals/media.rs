//! `image`, `audio` and `generatedImage` (runtime.md C5.4 to C5.6).

use std::rc::Rc;

use rquickjs::{Ctx, Object, Value};
use tenon_protocol::{AUDIO_OMITTED, FunctionCallOutputContentItem, IMAGE_DETAIL_META, ImageDetail};

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

/// Why a helper throws: in its own words, or because the script's own code did.
enum Refused {
    Text(String),
    Thrown(rquickjs::Error),
}

impl From<&str> for Refused {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<rquickjs::Error> for Refused {
    fn from(error: rquickjs::Error) -> Self {
        Self::Thrown(error)
    }
}

/// Puts out an image.
pub(super) fn image<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    arguments: &Arguments<'js>,
) -> rquickjs::Result<Value<'js>> {
    let item = image_item(ctx, shared, arguments).map_err(|refused| refused.thrown(ctx))?;
    shared.host.put_out(item);
    Ok(Value::new_undefined(ctx.clone()))
}

/// Puts out a sound, or says that the model could not hear it.
pub(super) fn audio<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    arguments: &Arguments<'js>,
) -> rquickjs::Result<Value<'js>> {
    let audio_url = audio_url(ctx, shared, arguments).map_err(|refused| refused.thrown(ctx))?;
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
    let (image, hint) = generated(ctx, shared, arguments).map_err(|refused| refused.thrown(ctx))?;
    shared.host.put_out(image);
    if let Some(text) = hint {
        shared.host.put_out(FunctionCallOutputContentItem::InputText { text });
    }
    Ok(Value::new_undefined(ctx.clone()))
}

impl Refused {
    fn thrown(self, ctx: &Ctx<'_>) -> rquickjs::Error {
        match self {
            Self::Text(text) => throw(ctx, &text),
            Self::Thrown(error) => error,
        }
    }
}

fn image_item<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared<'js>,
    arguments: &Arguments<'js>,
) -> Result<FunctionCallOutputContentItem, Refused> {
    let (url, own_detail) = image_source(shared, &arguments.first_or_undefined(ctx))?;
    let detail = match arguments.second_if_given() {
        Some(detail) => Some(detail_of(shared, detail)?),
        None => own_detail,
    };
    Ok(FunctionCallOutputContentItem::InputImage { image_url: Some(image_url(url)?), file_id: None, detail })
}

/// An image's URL and the detail that comes with it.
fn image_source<'js>(
    shared: &Shared<'js>,
    value: &Value<'js>,
) -> Result<(String, Option<ImageDetail>), Refused> {
    if let Some(url) = value.as_string() {
        return Ok((non_empty(text_of(shared, url)?, NO_IMAGE)?, None));
    }
    let object = plain_object(value, NO_IMAGE)?;
    if let Some(url) = given(object, "image_url")? {
        let url = string(shared, &url, NO_IMAGE)?;
        let detail = given(object, "detail")?.map(|detail| detail_of(shared, &detail)).transpose()?;
        return Ok((non_empty(url, NO_IMAGE)?, detail));
    }
    let block = Block { kind: "image", expects: NO_IMAGE };
    let url = block.url(shared, object)?;
    Ok((url, block_detail(shared, object)?))
}

/// The detail that a server wishes for its image; one that is none is passed over (C5.6).
fn block_detail<'js>(shared: &Shared<'js>, block: &Object<'js>) -> Result<Option<ImageDetail>, Refused> {
    let Some(meta) = given(block, "_meta")? else { return Ok(None) };
    let Some(meta) = meta.as_object() else { return Ok(None) };
    let Some(detail) = given(meta, IMAGE_DETAIL_META)? else { return Ok(None) };
    let Some(detail) = detail.as_string() else { return Ok(None) };
    Ok(ImageDetail::from_name(&text_of(shared, detail)?.to_ascii_lowercase()))
}

fn detail_of<'js>(shared: &Shared<'js>, value: &Value<'js>) -> Result<ImageDetail, Refused> {
    let name = string(shared, value, DETAIL_NO_STRING)?;
    ImageDetail::from_name(&name.to_ascii_lowercase()).ok_or_else(|| BAD_DETAIL.into())
}

/// An URL that holds the image itself.
fn image_url(url: String) -> Result<String, Refused> {
    if is_data(&url) {
        Ok(url)
    } else if has_scheme(&url, "http://") || has_scheme(&url, "https://") {
        Err(REMOTE_IMAGE.into())
    } else {
        Err(BAD_IMAGE.into())
    }
}

fn audio_url<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared<'js>,
    arguments: &Arguments<'js>,
) -> Result<String, Refused> {
    let value = arguments.first_or_undefined(ctx);
    let url = match value.as_string() {
        Some(url) => non_empty(text_of(shared, url)?, NO_AUDIO)?,
        None => {
            let object = plain_object(&value, NO_AUDIO)?;
            match given(object, "audio_url")? {
                Some(url) => non_empty(string(shared, &url, NO_AUDIO)?, NO_AUDIO)?,
                None => Block { kind: "audio", expects: NO_AUDIO }.url(shared, object)?,
            }
        }
    };
    if is_data(&url) { Ok(url) } else { Err(BAD_AUDIO.into()) }
}

fn generated<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared<'js>,
    arguments: &Arguments<'js>,
) -> Result<(FunctionCallOutputContentItem, Option<String>), Refused> {
    let value = arguments.first_or_undefined(ctx);
    let object = plain_object(&value, NO_GENERATED_IMAGE)?;
    let url = given(object, "image_url")?.ok_or(NO_GENERATED_IMAGE)?;
    let url = image_url(string(shared, &url, NO_GENERATED_IMAGE)?)?;
    let hint = given(object, "output_hint")?.map(|hint| string(shared, &hint, HINT_NO_STRING)).transpose()?;
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
    fn url<'js>(&self, shared: &Shared<'js>, block: &Object<'js>) -> Result<String, Refused> {
        let kind = given(block, "type")?.ok_or(self.expects)?;
        let kind = string(shared, &kind, self.expects)?;
        if kind != self.kind {
            return Err(Refused::Text(format!(
                "{} only accepts MCP {} blocks, got \"{kind}\"",
                self.kind, self.kind
            )));
        }
        let no_data = || Refused::Text(format!("{} expected MCP {} data", self.kind, self.kind));
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

fn plain_object<'a, 'js>(value: &'a Value<'js>, complaint: &str) -> Result<&'a Object<'js>, Refused> {
    value.as_object().filter(|_| !value.is_array() && !value.is_function()).ok_or_else(|| complaint.into())
}

/// A member that is neither missing nor `undefined` nor `null`.
fn given<'js>(object: &Object<'js>, name: &str) -> Result<Option<Value<'js>>, Refused> {
    let value = object.get::<_, Value<'js>>(name)?;
    Ok(Some(value).filter(|value| !value.is_undefined() && !value.is_null()))
}

fn string<'js>(shared: &Shared<'js>, value: &Value<'js>, complaint: &str) -> Result<String, Refused> {
    let string = value.as_string().ok_or(complaint)?;
    Ok(text_of(shared, string)?)
}

fn non_empty(text: String, complaint: &str) -> Result<String, Refused> {
    if text.is_empty() { Err(complaint.into()) } else { Ok(text) }
}

fn is_data(url: &str) -> bool {
    has_scheme(url, "data:")
}

fn has_scheme(url: &str, scheme: &str) -> bool {
    url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}
