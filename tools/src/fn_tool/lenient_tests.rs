use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn schema() -> JsonSchema {
    JsonSchema::object(
        [
            ("n", JsonSchema::integer("")),
            ("x", JsonSchema::number("")),
            ("b", JsonSchema::boolean("")),
            ("s", JsonSchema::string("")),
            ("list", JsonSchema::array(JsonSchema::integer(""), "")),
            ("inner", JsonSchema::object([("n", JsonSchema::integer(""))], &[])),
            ("either", JsonSchema::from_value(&json!({"type": ["string", "integer"]}))),
            ("any", JsonSchema::default()),
        ],
        &[],
    )
}

fn repaired(raw: &str) -> Option<(String, Vec<String>)> {
    repair(raw, &schema()).map(|repaired| (repaired.arguments, repaired.notes))
}

#[test]
fn what_is_asked_for_and_loses_nothing_is_unwrapped() {
    let table = [
        (r#"{"n":"3"}"#, r#"{"n":3}"#),
        (r#"{"n":"-3"}"#, r#"{"n":-3}"#),
        (r#"{"n":"18446744073709551615"}"#, r#"{"n":18446744073709551615}"#),
        (r#"{"x":"2.5"}"#, r#"{"x":2.5}"#),
        (r#"{"x":"2"}"#, r#"{"x":2}"#),
        (r#"{"b":"true"}"#, r#"{"b":true}"#),
        (r#"{"list":"[1,2]"}"#, r#"{"list":[1,2]}"#),
        (r#"{"list":"[\"1\",2]"}"#, r#"{"list":[1,2]}"#),
        (r#"{"list":["1"]}"#, r#"{"list":[1]}"#),
        (r#"{"inner":"{\"n\":1}"}"#, r#"{"inner":{"n":1}}"#),
        (r#""{\"n\":1}""#, r#"{"n":1}"#),
        (r#""{\"n\":\"1\"}""#, r#"{"n":1}"#),
    ];
    for (raw, expected) in table {
        assert_eq!(repaired(raw).map(|(arguments, _)| arguments).as_deref(), Some(expected), "{raw}");
    }
}

#[test]
fn what_is_not_asked_for_or_would_lose_something_is_left() {
    let table = [
        r#"{"s":"1"}"#,
        r#"{"s":"[1]"}"#,
        r#"{"s":"{\"n\":1}"}"#,
        r#"{"n":"3.5"}"#,
        r#"{"n":"3.0"}"#,
        r#"{"n":"03"}"#,
        r#"{"n":"three"}"#,
        r#"{"n":"99999999999999999999"}"#,
        r#"{"x":"0.1000000000000000055511151231257827"}"#,
        r#"{"x":"1e400"}"#,
        r#"{"b":"True"}"#,
        r#"{"b":"1"}"#,
        r#"{"n":"null"}"#,
        r#"{"n":""}"#,
        r#"{"list":"{\"n\":1}"}"#,
        r#"{"either":"3"}"#,
        r#"{"any":"3"}"#,
        r#"{"unknown":"3"}"#,
        r#""text""#,
        r#""[1]""#,
        "[1]",
        "{",
        "",
    ];
    for raw in table {
        assert_eq!(repaired(raw), None, "{raw}");
    }
}

#[test]
fn a_member_that_is_named_twice_is_nothing_to_guess_at() {
    assert_eq!(repaired(r#"{"n":"1","n":"2"}"#), None);
    assert_eq!(
        repaired(r#"{"n":"1","inner":"{\"n\":1,\"n\":2}"}"#).unwrap().0,
        r#"{"n":1,"inner":"{\"n\":1,\"n\":2}"}"#
    );
}

#[test]
fn every_repair_is_told_with_its_place() {
    let (_, notes) = repaired(r#"{"list":"[\"1\"]","inner":{"n":"2"}}"#).unwrap();
    assert_eq!(
        notes,
        [
            "`list` came as a string, read as an array",
            "`list[0]` came as a string, read as a number",
            "`inner.n` came as a string, read as a number",
        ]
    );
    let (_, notes) = repaired(r#""{\"n\":1}""#).unwrap();
    assert_eq!(notes, ["all arguments came as a string, read as an object"]);
}
