use pretty_assertions::assert_eq;

use super::*;

#[test]
fn blocks_stay_as_they_came() {
    let answer = json!({
        "content": [{"type": "holo", "x": 1}, {"type": "image", "data": "AA=="}, 7],
        "structuredContent": {"n": 18_446_744_073_709_551_615_u64},
        "isError": true,
        "_meta": {"a": 1},
        "resultType": "complete",
    });
    let result = read_result(answer.clone());
    assert_eq!(Value::Array(result.content), answer["content"]);
    assert_eq!(
        result.structured_content.map(|value| value.to_string()),
        Some("{\"n\":18446744073709551615}".to_owned())
    );
    assert_eq!(result.is_error, Some(true));
    assert_eq!(result.meta, Some(json!({"a": 1})));
}

#[test]
fn what_is_no_list_is_one_text() {
    let content = |answer: Value| Value::Array(read_result(answer).content);
    assert_eq!(content(json!({"content": "plain"})), json!([{"type": "text", "text": "plain"}]));
    assert_eq!(
        content(json!({"content": {"type": "text", "text": "t"}})),
        json!([{"type": "text", "text": "t"}])
    );
    assert_eq!(content(json!({"toolResult": {"a": 1}})), json!([{"type": "text", "text": "{\"a\":1}"}]));
    assert_eq!(content(json!(5)), json!([{"type": "text", "text": "5"}]));
    for nothing in [json!({}), json!({"content": null}), json!({"content": []})] {
        assert_eq!(content(nothing), json!([]));
    }
}

#[test]
fn null_is_absent() {
    let result =
        read_result(json!({"content": [], "structuredContent": null, "isError": null, "_meta": null}));
    assert_eq!(result, CallToolResult::default());
}
