use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::output::FunctionCallOutputBody;

const BLIND: MediaAbilities =
    MediaAbilities { image_input: false, audio_input: false, original_image_detail: false };
/// The model of the recorded scenarios (core.md 0.2).
const RECORDED: MediaAbilities =
    MediaAbilities { image_input: true, audio_input: false, original_image_detail: true };

fn result(content: Value, structured: Option<Value>) -> CallToolResult {
    let Value::Array(content) = content else { panic!("content is a list") };
    CallToolResult { content, structured_content: structured, ..Default::default() }
}

/// The JSON of what one block becomes.
fn one(block: &Value, abilities: MediaAbilities) -> Value {
    let payload = result(json!([block]), None).to_payload(abilities);
    serde_json::to_value(payload).unwrap()[0].take()
}

#[test]
fn is_camel_case_without_absent_members() {
    let full = json!({
        "content": [{"type": "text", "text": "t"}], "structuredContent": {"a": 1}, "isError": false,
        "_meta": {"k": 1},
    });
    let read: CallToolResult = serde_json::from_value(full.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), full);
    assert_eq!(
        read.without_meta_json(),
        json!({"content": [{"type": "text", "text": "t"}], "structuredContent": {"a": 1}, "isError": false})
    );
    let bare: CallToolResult =
        serde_json::from_value(json!({"content": [], "structuredContent": null, "isError": null})).unwrap();
    assert_eq!(bare, CallToolResult::default());
    assert_eq!(serde_json::to_value(&bare).unwrap(), json!({"content": []}));
    assert_eq!(bare.without_meta_json(), json!({"content": []}));
    assert!(serde_json::from_value::<CallToolResult>(json!({})).is_err());
}

#[test]
fn fails_only_when_it_says_so() {
    for (is_error, success) in [(None, true), (Some(false), true), (Some(true), false)] {
        let result = CallToolResult { is_error, ..Default::default() };
        assert_eq!(result.success(), success);
        assert_eq!(result.to_payload(RECORDED).success, Some(success));
    }
}

#[test]
fn errors_become_failed_results() {
    let failed = CallToolResult::from_result(Err("no".into()));
    assert_eq!(
        serde_json::to_value(&failed).unwrap(),
        json!({"content": [{"type": "text", "text": "no"}], "isError": true})
    );
    assert_eq!(failed, CallToolResult::from_error_text("no"));
    assert_eq!(CallToolResult::from_result(Ok(CallToolResult::default())), CallToolResult::default());
}

#[test]
fn text_alone_stays_a_list() {
    let payload = result(json!([{"type": "text", "text": "t"}]), None).to_payload(RECORDED);
    assert_eq!(serde_json::to_value(&payload).unwrap(), json!([{"type": "input_text", "text": "t"}]));
    assert_eq!(result(json!([]), None).to_payload(RECORDED).to_string(), "[]");
}

#[test]
fn structured_content_replaces_text() {
    let payload = result(json!([{"type": "text", "text": "t"}]), Some(json!({"b": 1, "a": [null]})))
        .to_payload(RECORDED);
    assert_eq!(payload, FunctionCallOutputPayload::text(r#"{"b":1,"a":[null]}"#).with_success(true));
    for scalar in [json!(false), json!(0), json!("")] {
        let payload = result(json!([]), Some(scalar.clone())).to_payload(RECORDED);
        assert_eq!(payload.body, FunctionCallOutputBody::Text(scalar.to_string()));
    }
}

#[test]
fn a_null_is_no_structured_content() {
    let payload = result(json!([{"type": "text", "text": "t"}]), Some(Value::Null)).to_payload(RECORDED);
    assert_eq!(serde_json::to_value(payload).unwrap(), json!([{"type": "input_text", "text": "t"}]));
}

#[test]
fn media_and_resources_win_over_structured_content() {
    for block in [
        json!({"type": "image", "data": "QQ=="}),
        json!({"type": "audio", "data": "QQ=="}),
        json!({"type": "resource", "resource": {"uri": "file:///a", "text": "t"}}),
    ] {
        let payload =
            result(json!([{"type": "text", "text": "t"}, block]), Some(json!(1))).to_payload(RECORDED);
        let FunctionCallOutputBody::ContentItems(items) = payload.body else { panic!("{block} lost") };
        assert_eq!(items.len(), 2);
    }
    let link = json!({"type": "resource_link", "uri": "file:///a"});
    assert_eq!(result(json!([link]), Some(json!(1))).to_payload(RECORDED).to_string(), "1");
}

#[test]
fn encrypted_text_wins_over_all() {
    let secret = json!({"type": "text", "text": "gAAA", "_meta": {"codex/encryptedContent": true}});
    let payload =
        result(json!([{"type": "text", "text": "t"}, secret]), Some(json!({"a": 1}))).to_payload(RECORDED);
    assert_eq!(
        serde_json::to_value(payload).unwrap(),
        json!([
            {"type": "input_text", "text": "t"},
            {"type": "encrypted_content", "encrypted_content": "gAAA"},
        ])
    );
    for not_true in [json!(false), json!("true"), json!(1)] {
        let block = json!({"type": "text", "text": "t", "_meta": {"codex/encryptedContent": not_true}});
        assert_eq!(one(&block, RECORDED), json!({"type": "input_text", "text": "t"}));
    }
}

#[test]
fn images_become_urls() {
    let url = |block: Value| one(&block, RECORDED)["image_url"].take();
    assert_eq!(
        url(json!({"type": "image", "data": "QQ==", "mimeType": "image/png"})),
        "data:image/png;base64,QQ=="
    );
    assert_eq!(
        url(json!({"type": "image", "data": "QQ==", "mime_type": "image/gif"})),
        "data:image/gif;base64,QQ=="
    );
    assert_eq!(url(json!({"type": "image", "data": "QQ=="})), "data:application/octet-stream;base64,QQ==");
    assert_eq!(url(json!({"type": "image", "data": "data:x,y", "mimeType": "image/png"})), "data:x,y");
}

#[test]
fn image_detail_is_the_servers_or_the_best() {
    let detail = |meta: Value, abilities| {
        one(&json!({"type": "image", "data": "QQ==", "_meta": meta}), abilities)["detail"].take()
    };
    let coarse = MediaAbilities { original_image_detail: false, ..RECORDED };
    for asked in ["auto", "low", "high", "original"] {
        let meta = json!({"codex/imageDetail": asked});
        assert_eq!(detail(meta.clone(), RECORDED), asked);
        assert_eq!(detail(meta, coarse), asked, "what the server asks is the tool's to weigh");
    }
    for meta in
        [Value::Null, json!({}), json!({"codex/imageDetail": "huge"}), json!({"codex/imageDetail": 1})]
    {
        assert_eq!(detail(meta.clone(), RECORDED), "original");
        assert_eq!(detail(meta, coarse), "high");
    }
}

#[test]
fn media_that_a_model_cannot_take_become_text() {
    let image = json!({"type": "image", "data": "QQ==", "mimeType": "image/png"});
    let audio = json!({"type": "audio", "data": "QQ==", "mimeType": "audio/wav"});
    assert_eq!(
        one(&image, BLIND),
        json!({
            "type": "input_text",
            "text": "<image content omitted because you do not support image input>",
        })
    );
    assert_eq!(
        one(&audio, BLIND),
        json!({
            "type": "input_text",
            "text": "<audio content omitted because you do not support audio input>",
        })
    );
    assert_eq!(
        one(&audio, MediaAbilities::ALL),
        json!({"type": "input_audio", "audio_url": "data:audio/wav;base64,QQ=="})
    );
}

#[test]
fn what_is_unknown_or_malformed_is_shown_as_json() {
    for block in [
        json!({"type": "resource_link", "uri": "u", "name": "n"}),
        json!({"type": "text"}),
        json!({"type": "text", "text": 1}),
        json!({"type": "image", "mimeType": "image/png"}),
        json!({"type": "audio", "data": null}),
        json!({"text": "t"}),
        json!("bare"),
        Value::Null,
    ] {
        assert_eq!(one(&block, RECORDED), json!({"type": "input_text", "text": block.to_string()}));
        assert_eq!(one(&block, BLIND), json!({"type": "input_text", "text": block.to_string()}));
    }
}
