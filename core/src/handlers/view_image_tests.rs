use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::{DynamicImage, ImageFormat};
use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_protocol::ToolName;
use tenon_tools::{FunctionCallError, StepContext, ToolExecutor, ToolInvocation, ToolPayload};

use super::ViewImage;
use crate::pictures::{MAX_SIDE_HIGH, fit_original, memory_needed};

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::new_luma8(width, height).write_to(&mut bytes, ImageFormat::Png).expect("a picture");
    bytes.into_inner()
}

fn call(dir: &std::path::Path, arguments: &serde_json::Value) -> ToolInvocation {
    let payload = ToolPayload::Function { arguments: arguments.to_string() };
    let mut call = ToolInvocation::detached(ToolName::plain("view_image"), payload);
    call.step = std::sync::Arc::new(StepContext { cwd: dir.to_owned(), ..StepContext::default() });
    call
}

async fn view(call: &ToolInvocation) -> Result<serde_json::Value, FunctionCallError> {
    let tool = ViewImage::default();
    let prepared = tool.prepare(call).await?;
    assert!(prepared.effects().is_none());
    let output = prepared.run(call).await?;
    Ok(output.code_mode_result(&call.payload))
}

#[test]
fn a_picture_is_shrunk_only_beyond_the_recorded_limits() {
    let rows = [
        ((6000, 1000), (6000, 1000)),
        ((6001, 1000), (6000, 1000)),
        ((1000, 6001), (1000, 6000)),
        ((3200, 3200), (3200, 3200)),
        ((3201, 3200), (3200, 3199)),
        ((7000, 7000), (3200, 3200)),
        ((1, 6001), (1, 6000)),
        ((1, 1), (1, 1)),
    ];
    for (size, expected) in rows {
        assert_eq!(fit_original(size), expected, "{size:?}");
    }
}

#[tokio::test]
async fn a_picture_that_fits_is_shown_byte_for_byte() {
    let dir = tempfile::tempdir().expect("a folder");
    let bytes = png(3, 2);
    std::fs::write(dir.path().join("p.png"), &bytes).expect("written");
    let expected = format!("data:image/png;base64,{}", STANDARD.encode(&bytes));
    for arguments in [json!({"path": "p.png"}), json!({"path": "p.png", "detail": "original"})] {
        let shown = view(&call(dir.path(), &arguments)).await.expect("shown");
        assert_eq!(shown, json!({"image_url": expected, "detail": "original"}));
    }
    let high = view(&call(dir.path(), &json!({"path": "p.png", "detail": "high"}))).await.expect("shown");
    assert_eq!(high, json!({"image_url": expected, "detail": "high"}));
}

#[tokio::test]
async fn a_large_picture_is_shrunk_to_fit_detail_high() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("p.png"), png(MAX_SIDE_HIGH * 2, 8)).expect("written");
    let shown = view(&call(dir.path(), &json!({"path": "p.png", "detail": "high"}))).await.expect("shown");
    let url = shown["image_url"].as_str().expect("a url");
    let bytes = STANDARD.decode(url.strip_prefix("data:image/png;base64,").expect("a png")).expect("base64");
    let picture = image::load_from_memory(&bytes).expect("a picture");
    assert_eq!((picture.width(), picture.height()), (MAX_SIDE_HIGH, 4));
}

#[tokio::test]
async fn what_cannot_be_shown_says_why() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(dir.path().join("d")).expect("made");
    std::fs::write(dir.path().join("t.txt"), "text").expect("written");
    let whole = png(64, 64);
    std::fs::write(dir.path().join("cut.png"), &whole[..whole.len() / 2]).expect("written");
    let at = |name: &str| dir.path().join(name).display().to_string();
    let rows = [
        (json!({"path": "nope.png"}), format!("unable to locate image at `{}`: No such file or directory (os error 2)", at("nope.png"))),
        (json!({"path": "d"}), format!("image path `{}` is not a file", at("d"))),
        (json!({"path": "t.txt"}), "unable to process image: invalid or unsupported image data".to_owned()),
        (json!({"path": "cut.png"}), "unable to process image: invalid or unsupported image data".to_owned()),
        (json!({"path": "t.txt", "detail": "low"}), "view_image.detail only supports `high` or `original`; omit `detail` for default high resized behavior, got `low`".to_owned()),
    ];
    for (arguments, expected) in rows {
        assert_eq!(view(&call(dir.path(), &arguments)).await, Err(FunctionCallError::respond(expected)));
    }
}

#[tokio::test]
async fn a_model_without_image_input_is_refused_before_anything_is_read() {
    let mut call = call(std::path::Path::new("/"), &json!("no object"));
    let mut step = StepContext::default();
    step.abilities.image_input = false;
    call.step = std::sync::Arc::new(step);
    let expected = "view_image is not allowed because you do not support image inputs";
    assert_eq!(view(&call).await, Err(FunctionCallError::respond(expected)));
}

#[test]
fn the_header_tells_what_a_picture_takes() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("p.png");
    let of = |bytes: &[u8], original: bool| {
        std::fs::write(&file, bytes).expect("written");
        memory_needed(&file, original)
    };
    let whole = png(MAX_SIDE_HIGH * 2, 8);
    let in_file = whole.len() as u64 + (whole.len() as u64).div_ceil(3) * 4;
    let pixels = u64::from(MAX_SIDE_HIGH) * 2 * 8;
    assert_eq!(of(&whole, true), in_file + pixels, "one byte a pixel, and nothing is shrunk");
    // 4096 x 4 on the way, 2048 x 4 in the end, sixteen bytes each.
    assert_eq!(of(&whole, false), in_file + pixels + (4096 * 4 + 2048 * 4) * 16);
    assert_eq!(of(b"text", false), 4 + 8, "what is no picture is not decoded");
    assert_eq!(memory_needed(&dir.path().join("nope"), true), 0);
}
