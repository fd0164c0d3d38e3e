use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn places() -> Places {
    Places { cwd: "/c".into(), home: "/h".into(), fixture: "/f".into() }
}

#[test]
fn a_follow_up_is_what_the_next_request_adds() {
    let first = vec![json!({"type": "message", "role": "user", "content": []})];
    let mut second = first.clone();
    second.extend([
        json!({"type": "message", "role": "assistant", "content": []}),
        json!({"type": "additional_tools", "tools": []}),
        json!({"type": "function_call", "call_id": "c1", "id": "fc_1", "namespace": null}),
        json!({"type": "function_call_output", "call_id": "c1", "output": "in /c",
            "internal_chat_message_metadata_passthrough": {"turn_id": "t"}}),
        json!({"type": "message", "role": "developer", "content": "x"}),
    ]);
    let follow_ups = follow_ups(&[first, second], &places()).unwrap();
    assert_eq!(
        follow_ups,
        [vec![
            json!({"type": "function_call", "call_id": "c1"}),
            json!({"type": "function_call_output", "call_id": "c1", "output": "in <cwd>"}),
            json!({"type": "message", "role": "developer", "content": "x"}),
        ]]
    );
    assert_eq!(outputs(&follow_ups), [follow_ups[0][1..].to_vec()]);
}

#[test]
fn items_of_an_unknown_kind_count_as_outputs() {
    let turn = vec![json!({"type": "brand_new_item"}), json!({"type": "reasoning"})];
    assert_eq!(outputs(&[turn]), [vec![json!({"type": "brand_new_item"})]]);
}

#[test]
fn one_request_has_no_follow_up() {
    assert!(follow_ups(&[vec![json!({"type": "message", "role": "user"})]], &places()).unwrap().is_empty());
}

#[test]
fn a_call_is_lost_when_the_last_request_has_it_too_seldom_or_too_often() {
    let call = |id: &str| json!({"type": "function_call", "call_id": id});
    let turns = [vec![call("a"), call("b"), call("b"), call("c")], vec![call("later")]];
    let inputs = [vec![], vec![call("a"), call("b"), call("c"), call("c")]];
    assert_eq!(calls_lost(&turns, &inputs), ["b", "c"]);
    assert!(calls_lost(&turns, &inputs[..1]).is_empty());
}

#[test]
fn calls_of_another_kind_with_the_same_id_and_calls_without_id_do_not_count() {
    let turns = [vec![
        json!({"type": "function_call", "call_id": "a"}),
        json!({"type": "custom_tool_call", "call_id": "a"}),
        json!({"type": "function_call"}),
        json!({"type": "function_call", "call_id": ""}),
        json!({"type": "function_call_output", "call_id": "z"}),
    ]];
    let inputs = [vec![], turns[0][..2].to_vec()];
    assert!(calls_lost(&turns, &inputs).is_empty());
}

#[test]
fn a_surface_has_no_prose() {
    let request = json!({"tools": [
        {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object", "properties": {
            "description": {"type": "string", "description": "d"}}}},
        {"type": "custom", "name": "p", "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"}},
        {"type": "web_search"},
    ]});
    let surface = surface(&request);
    assert_eq!(
        Value::Object(surface.clone()),
        json!({
            "f": {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {
                "description": {"type": "string"}}}},
            "p": {"type": "custom", "name": "p", "format": {"type": "grammar", "syntax": "lark"}},
            "web_search": {"type": "web_search"},
        })
    );
    let expected = json!({"p": {}, "absent": {}});
    assert_eq!(
        expected_of(&surface, expected.as_object().unwrap()),
        json!({"p": {"type": "custom", "name": "p", "format": {"type": "grammar", "syntax": "lark"}}, "absent": null})
    );
}
