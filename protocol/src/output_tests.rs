use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn image(detail: Option<ImageDetail>) -> FunctionCallOutputContentItem {
    FunctionCallOutputContentItem::InputImage { image_url: Some("data:x".into()), file_id: None, detail }
}

#[test]
fn text_is_a_bare_string() {
    let payload = FunctionCallOutputPayload::text("a\nb").with_success(true);
    assert_eq!(serde_json::to_string(&payload).unwrap(), r#""a\nb""#);
    assert_eq!(payload.to_string(), "a\nb");
}

#[test]
fn success_does_not_survive_the_wire() {
    for payload in [
        FunctionCallOutputPayload::text("t").with_success(false),
        FunctionCallOutputPayload::items(vec![FunctionCallOutputContentItem::text("t")]).with_success(true),
    ] {
        let text = serde_json::to_string(&payload).unwrap();
        let read: FunctionCallOutputPayload = serde_json::from_str(&text).unwrap();
        assert_eq!(read, FunctionCallOutputPayload { success: None, ..payload });
    }
}

#[test]
fn items_are_a_list_without_absent_members() {
    let payload = FunctionCallOutputPayload::items(vec![
        FunctionCallOutputContentItem::text("t"),
        image(None),
        image(Some(ImageDetail::Original)),
        FunctionCallOutputContentItem::InputImage {
            image_url: None,
            file_id: Some("file_1".into()),
            detail: Some(ImageDetail::Low),
        },
        FunctionCallOutputContentItem::InputAudio { audio_url: "data:a".into() },
        FunctionCallOutputContentItem::EncryptedContent { encrypted_content: "gAAA".into() },
    ]);
    let json = json!([
        {"type": "input_text", "text": "t"},
        {"type": "input_image", "image_url": "data:x"},
        {"type": "input_image", "image_url": "data:x", "detail": "original"},
        {"type": "input_image", "file_id": "file_1", "detail": "low"},
        {"type": "input_audio", "audio_url": "data:a"},
        {"type": "encrypted_content", "encrypted_content": "gAAA"},
    ]);
    assert_eq!(serde_json::to_value(&payload).unwrap(), json);
    assert_eq!(serde_json::from_value::<FunctionCallOutputPayload>(json.clone()).unwrap(), payload);
    assert_eq!(payload.to_string(), json.to_string());
}

#[test]
fn an_empty_list_stays_one() {
    let payload = FunctionCallOutputPayload::items(Vec::new());
    assert_eq!(serde_json::to_string(&payload).unwrap(), "[]");
    assert_eq!(serde_json::from_str::<FunctionCallOutputPayload>("[]").unwrap(), payload);
    assert_eq!(payload.to_string(), "[]");
    assert_eq!(payload.body.to_text(), None);
}

#[test]
fn default_is_empty_text() {
    let payload = FunctionCallOutputPayload::default();
    assert_eq!(payload.body, FunctionCallOutputBody::Text(String::new()));
    assert_eq!(serde_json::to_string(&payload).unwrap(), r#""""#);
}

#[test]
fn text_of_items_joins_what_is_not_blank() {
    let body = |items| FunctionCallOutputPayload::items(items).body;
    let text = FunctionCallOutputContentItem::text;
    assert_eq!(
        body(vec![text(" a "), image(None), text(" \n"), text("b")]).to_text().as_deref(),
        Some(" a \nb")
    );
    assert_eq!(body(vec![image(None), text("\t")]).to_text(), None);
    assert_eq!(FunctionCallOutputPayload::text("").body.to_text().as_deref(), Some(""));
}

#[test]
fn refusals_say_what_is_wrong() {
    let error = |json: &str| serde_json::from_str::<FunctionCallOutputPayload>(json).unwrap_err().to_string();
    assert!(error("5").contains("expected a string or a list of content items"), "{}", error("5"));
    assert!(error(r#"[{"type":"hologram"}]"#).contains("unknown variant `hologram`"));
    assert!(error(r#"[{"type":"input_text"}]"#).contains("missing field `text`"));
}
