use serde_json::json;

use super::*;

#[test]
fn every_entry_goes_there_and_back() {
    let cases = [
        (ContentItem::InputText { text: "a".into() }, json!({"type": "input_text", "text": "a"})),
        (ContentItem::OutputText { text: "a".into() }, json!({"type": "output_text", "text": "a"})),
        (
            ContentItem::InputImage { image_url: Some("u".into()), file_id: None, detail: None },
            json!({"type": "input_image", "image_url": "u"}),
        ),
        (
            ContentItem::InputImage {
                image_url: None,
                file_id: Some("file_1".into()),
                detail: Some(ImageDetail::Auto),
            },
            json!({"type": "input_image", "file_id": "file_1", "detail": "auto"}),
        ),
        (ContentItem::InputAudio { audio_url: "u".into() }, json!({"type": "input_audio", "audio_url": "u"})),
    ];
    for (item, json) in cases {
        assert_eq!(serde_json::to_value(&item).unwrap(), json);
        assert_eq!(serde_json::from_value::<ContentItem>(json).unwrap(), item);
    }
}

#[test]
fn only_text_has_text() {
    assert_eq!(ContentItem::InputText { text: "a".into() }.as_text(), Some("a"));
    assert_eq!(ContentItem::OutputText { text: "b".into() }.as_text(), Some("b"));
    assert_eq!(ContentItem::InputAudio { audio_url: "u".into() }.as_text(), None);
}

#[test]
fn details_have_their_names() {
    assert_eq!(ImageDetail::default(), ImageDetail::High);
    for (detail, name) in [
        (ImageDetail::Auto, "auto"),
        (ImageDetail::Low, "low"),
        (ImageDetail::High, "high"),
        (ImageDetail::Original, "original"),
    ] {
        assert_eq!(serde_json::to_value(detail).unwrap(), json!(name));
        assert_eq!(ImageDetail::from_name(name), Some(detail));
    }
    assert_eq!(ImageDetail::from_name("High"), None);
}
