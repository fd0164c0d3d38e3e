use pretty_assertions::assert_eq;

use super::{Looked, Members};

#[test]
fn a_line_tells_what_it_is() {
    let object = |members: Members| Looked::Object(members);
    let tagged = |tag: &str| Members { tag: Some(tag.to_owned()), ..Members::default() };
    let deep = format!("{{\"type\":\"x\",\"a\":{}{}}}", "[".repeat(400), "]".repeat(400));
    let cases = [
        ("{}", object(Members::default())),
        (r#"{"type":"message"}"#, object(tagged("message"))),
        (r#"{"type":"a","type":"b"}"#, object(tagged("b"))),
        (r#"{"type":7}"#, object(Members::default())),
        (r#"{"text":"\ud83d","type":"x"}"#, object(tagged("x"))),
        (deep.as_str(), object(tagged("x"))),
        (
            r#"{"object":"chat.completion.chunk"}"#,
            object(Members { foreign: Some("chat.completion.chunk".to_owned()), ..Members::default() }),
        ),
        (r#"{"object":"response","type":"x"}"#, object(tagged("x"))),
        ("[1]", Looked::Other("an array")),
        ("7", Looked::Other("a number")),
        ("\"x\"", Looked::Other("a string")),
        ("null", Looked::Other("null")),
        ("true", Looked::Other("a boolean")),
    ];
    for (line, expected) in cases {
        assert_eq!(Looked::at(line), expected, "{line}");
    }
    assert!(matches!(Looked::at("{\"a\":"), Looked::NoJson(error) if error.starts_with("EOF")));
}

#[test]
fn events_are_told_from_items_and_rollout_lines() {
    for line in
        [r#"{"type":"response.created"}"#, r#"{"type":"error"}"#, r#"{"type":"x","sequence_number":1}"#]
    {
        assert!(Looked::at(line).is_event(), "{line}");
    }
    for line in [r#"{"type":"message"}"#, r#"{"type":"error","payload":{}}"#, "7", "{", r#"{"object":"x"}"#] {
        assert!(!Looked::at(line).is_event(), "{line}");
    }
}
