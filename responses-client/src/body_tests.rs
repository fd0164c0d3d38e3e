use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;

fn prompt(items: &[&str]) -> Prompt {
    Prompt {
        model: "m".into(),
        instructions: "i".into(),
        input: items.iter().map(|item| Arc::new(serde_json::from_str(item).unwrap())).collect(),
        session_id: "s".into(),
        ..Prompt::default()
    }
}

#[test]
fn a_body_has_these_members_in_this_order() {
    let bytes = body(&prompt(&[r#"{"type":"message","role":"user","content":[]}"#]), true).unwrap();
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        r#"{"model":"m","instructions":"i","input":[{"type":"message","role":"user","content":[]}],"tools":[],"#
            .to_owned()
            + r#""tool_choice":"auto","parallel_tool_calls":true,"store":false,"stream":true,"#
            + r#""include":["reasoning.encrypted_content"],"prompt_cache_key":"s"}"#
    );
}

#[test]
fn items_go_back_byte_for_byte() {
    let items = [
        r#"{ "type": "reasoning", "z": 1.50, "a": null, "big": 123456789012345678901234567890, "u":"\u00e9" }"#,
        r#"{"foo":[ ],"type":"brand_new_item"}"#,
    ];
    let text = String::from_utf8(body(&prompt(&items), true).unwrap()).unwrap();
    assert!(text.contains(&format!(r#""input":[{},{}],"#, items[0], items[1])), "{text}");
}

#[test]
fn a_session_without_id_has_no_cache_key_and_reasoning_can_be_left_out() {
    let mut prompt = prompt(&[]);
    prompt.session_id.clear();
    let written: Value = serde_json::from_slice(&body(&prompt, false).unwrap()).unwrap();
    assert_eq!(written.get("prompt_cache_key"), None);
    assert_eq!(written["include"], json!([]));
}
