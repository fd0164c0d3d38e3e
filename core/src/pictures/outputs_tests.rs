use std::io::Cursor;

use base64::engine::general_purpose::STANDARD;
use image::{DynamicImage, ImageFormat};
use pretty_assertions::assert_eq;
use tenon_protocol::{CallId, FunctionCallOutputPayload};

use super::*;

fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::new_luma8(width, height).write_to(&mut bytes, format).expect("a picture");
    bytes.into_inner()
}

fn png(width: u32, height: u32) -> String {
    STANDARD.encode(picture(width, height, ImageFormat::Png))
}

fn image(url: &str, detail: Option<ImageDetail>) -> FunctionCallOutputContentItem {
    FunctionCallOutputContentItem::InputImage { image_url: Some(url.to_owned()), file_id: None, detail }
}

fn output(entries: Vec<FunctionCallOutputContentItem>) -> ResponseInputItem {
    ResponseInputItem::FunctionCallOutput {
        call_id: CallId::from("c"),
        output: FunctionCallOutputPayload::items(entries),
    }
}

/// What is left of one picture.
async fn checked_entry(url: &str, detail: Option<ImageDetail>) -> FunctionCallOutputContentItem {
    let mut item = output(vec![image(url, detail)]);
    check_pictures(&mut item, &CancellationToken::new()).await;
    let Some(FunctionCallOutputBody::ContentItems(mut entries)) = body(&item).cloned() else {
        panic!("{item:?}")
    };
    entries.remove(0)
}

async fn size_of(url: &str, detail: Option<ImageDetail>) -> (u32, u32) {
    match checked_entry(url, detail).await {
        FunctionCallOutputContentItem::InputImage { image_url: Some(url), .. } => {
            let picture = image::load_from_memory(&decoded(&url).expect("bytes")).expect("a picture");
            (picture.width(), picture.height())
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_picture_that_fits_stays_as_it_is() {
    let url = format!("data:image/png;base64,{}", png(6000, 30));
    for detail in [None, Some(ImageDetail::Original), Some(ImageDetail::Auto), Some(ImageDetail::Low)] {
        assert_eq!(checked_entry(&url, detail).await, image(&url, detail));
    }
    let small = format!("data:image/png;base64,{}", png(2048, 2));
    let high = Some(ImageDetail::High);
    assert_eq!(checked_entry(&small, high).await, image(&small, high));
}

#[tokio::test]
async fn a_large_picture_is_shrunk_as_view_image_does() {
    let wide = format!("data:image/png;base64,{}", png(6001, 30));
    assert_eq!(size_of(&wide, None).await, (6000, 30));
    assert_eq!(size_of(&wide, Some(ImageDetail::Original)).await, (6000, 30));
    let high = format!("data:image/png;base64,{}", png(2049, 2));
    assert_eq!(size_of(&high, Some(ImageDetail::High)).await, (2048, 2));
}

#[tokio::test]
async fn what_is_no_picture_becomes_a_text() {
    let whole = png(64, 64);
    let (cut, _) = whole.split_at(whole.len() / 2);
    let rows = [
        "data:image/png;base64,".to_owned(),
        "data:image/png;base64,!!!!".to_owned(),
        format!("data:image/png;base64,{cut}"),
        format!("data:text/html;base64,{}", STANDARD.encode("<html>")),
        format!("data:image/tiff;base64,{}", STANDARD.encode(b"II*\0\x08\0\0\0\0\0")),
        format!("data:image/svg+xml;base64,{}", STANDARD.encode("<svg/>")),
        "data:image/png,raw".to_owned(),
        "data:".to_owned(),
    ];
    for url in rows {
        let text = "unable to process image: invalid or unsupported image data";
        assert_eq!(checked_entry(&url, None).await, FunctionCallOutputContentItem::text(text), "{url}");
    }
}

#[tokio::test]
async fn a_wrong_label_and_odd_base64_are_put_right() {
    let data = png(3, 2);
    let jpeg = STANDARD.encode(picture(3, 2, ImageFormat::Jpeg));
    let right = format!("data:image/png;base64,{data}");
    let (start, end) = data.split_at(20);
    let rows = [
        (format!("data:image/jpeg;base64,{data}"), &right),
        (format!("data:application/octet-stream;base64,{data}"), &right),
        (format!("DATA:image/png;charset=x;BASE64,{data}"), &right),
        (format!("data:image/png;base64,{start}\r\n{end}\n"), &right),
        (format!("data:image/png;base64,{}", data.trim_end_matches('=')), &right),
        (format!("data:image/jpg;base64,{jpeg}"), &format!("data:image/jpeg;base64,{jpeg}")),
    ];
    for (url, expected) in rows {
        assert_eq!(checked_entry(&url, None).await, image(expected, None), "{url}");
    }
}

#[tokio::test]
async fn what_is_not_in_the_output_is_not_looked_at() {
    let url = "https://example.com/p.png";
    assert_eq!(checked_entry(url, None).await, image(url, None));
    let entries = vec![FunctionCallOutputContentItem::text("data:image/png;base64,!!")];
    let mut item = output(entries.clone());
    assert!(!has_pictures(&item));
    check_pictures(&mut item, &CancellationToken::new()).await;
    assert_eq!(item, output(entries));
}

#[tokio::test]
async fn each_picture_is_looked_at_by_itself() {
    let url = format!("data:image/png;base64,{}", png(3, 2));
    let mut item =
        output(vec![image("data:,", None), FunctionCallOutputContentItem::text("t"), image(&url, None)]);
    assert!(has_pictures(&item));
    check_pictures(&mut item, &CancellationToken::new()).await;
    let text = FunctionCallOutputContentItem::text;
    assert_eq!(item, output(vec![text(NO_IMAGE), text("t"), image(&url, None)]));
}

#[tokio::test]
async fn nobody_waits_for_a_picture_that_is_given_up() {
    let url = format!("data:image/png;base64,{}", png(3, 2));
    let mut item = output(vec![image(&url, None)]);
    let cancellation = CancellationToken::new();
    cancellation.cancel();
    check_pictures(&mut item, &cancellation).await;
    assert_eq!(item, output(vec![FunctionCallOutputContentItem::text(NOT_LOOKED_AT)]));
}

#[tokio::test]
async fn an_output_that_was_written_down_stays_byte_for_byte_where_its_pictures_are_in_order() {
    let recorded = |url: &str| {
        let entry = format!(r#"{{"image_url": "{url}", "type": "input_image", "unknown": 1e3}}"#);
        let json = format!(r#"{{"call_id": "c", "output": [{entry}], "type": "function_call_output"}}"#);
        ResponseItem::parse(&json).expect("an item")
    };
    let whole = recorded(&format!("data:image/png;base64,{}", png(3, 2)));
    assert_eq!(with_checked_pictures(whole.clone()).await.raw_json(), whole.raw_json());
    let text = ResponseItem::message("user", "data:image/png;base64,!!");
    assert_eq!(with_checked_pictures(text.clone()).await.raw_json(), text.raw_json());
    let broken = with_checked_pictures(recorded("data:,")).await;
    let entry = format!(r#"{{"type":"input_text","text":"{NO_IMAGE}"}}"#);
    let expected = format!(r#"{{"type":"function_call_output","call_id":"c","output":[{entry}]}}"#);
    assert_eq!(broken.raw_json(), expected);
}
