use std::collections::BTreeMap;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::*;

#[derive(Debug, Deserialize, PartialEq)]
struct Exec {
    cmd: String,
    workdir: Option<String>,
    max_output_tokens: Option<usize>,
    #[serde(default)]
    tty: bool,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Plan {
    plan: Vec<Step>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Step {
    step: String,
    status: Status,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    Done,
}

fn text<T: DeserializeOwned + std::fmt::Debug>(raw: &str) -> String {
    match parse_arguments::<T>(raw) {
        Err(FunctionCallError::RespondToModel(text)) => text,
        other => panic!("{raw} gave {other:?}"),
    }
}

fn path_text<T: DeserializeOwned + std::fmt::Debug>(raw: &str) -> String {
    parse_arguments_with_paths::<T>(raw).expect_err(raw).text().to_owned()
}

#[test]
fn recorded_texts() {
    let table = [
        (r#"["echo","x"]"#, "expected a JSON object, got an array"),
        ("{bad", "key must be a string at line 1 column 2"),
        (r#"{"cmd":"echo a","cmd":"echo b"}"#, "duplicate field `cmd` at line 1 column 21"),
        (r#""{\"cmd\": \"echo d\"}""#, "expected a JSON object, got a string"),
        (r#"{"cmd": 5}"#, "invalid type: integer `5`, expected a string at line 1 column 9"),
        ("{}", "missing field `cmd` at line 1 column 2"),
    ];
    for (raw, expected) in table {
        assert_eq!(text::<Exec>(raw), format!("failed to parse function arguments: {expected}"));
    }
}

#[test]
fn what_is_no_object_is_named() {
    for (raw, kind) in [
        ("null", "null"),
        ("5", "a number"),
        ("-0.5", "a number"),
        ("true", "a boolean"),
        (" \n[]", "an array"),
        ("\"\"", "a string"),
    ] {
        assert_eq!(
            text::<Exec>(raw),
            format!("failed to parse function arguments: expected a JSON object, got {kind}")
        );
    }
}

#[test]
fn blank_is_serde_jsons_own_text_for_built_in_tools() {
    for (raw, place) in [("", "line 1 column 0"), ("  ", "line 1 column 2"), ("\n", "line 2 column 0")] {
        let expected = format!("failed to parse function arguments: EOF while parsing a value at {place}");
        assert_eq!(text::<Exec>(raw), expected);
    }
}

#[test]
fn null_is_absent_and_unknown_members_are_passed_over() {
    let read: Exec =
        parse_arguments(r#"{"cmd":"n","workdir":null,"max_output_tokens":null,"surprise":[{"a":1}]}"#)
            .expect("arguments");
    assert_eq!(read, Exec { cmd: "n".to_owned(), workdir: None, max_output_tokens: None, tty: false });
}

#[test]
fn what_follows_the_object_is_refused() {
    assert_eq!(
        text::<Exec>(r#"{"cmd":"x"} {"cmd":"y"}"#),
        "failed to parse function arguments: trailing characters at line 1 column 13"
    );
}

#[test]
fn the_list_form_of_a_struct_is_refused_at_any_depth() {
    assert_eq!(
        text::<Plan>(r#"{"plan":[["look","pending"]]}"#),
        "failed to parse function arguments: invalid type: sequence, expected a JSON object at line 1 column 9"
    );
}

#[test]
fn no_name_of_a_type_of_ours_is_told() {
    assert_eq!(
        text::<Plan>(r#"{"plan":["look"]}"#),
        "failed to parse function arguments: invalid type: string \"look\", expected a JSON object at line 1 column 15"
    );
}

#[test]
fn paths_name_the_member() {
    let table = [
        (
            r#"{"plan":[{"step":"a","status":"pending"},{"step":"b","status":7}]}"#,
            "`plan[1].status`: expected one of `pending`, `done` at line 1 column 63",
        ),
        (r#"{"plan":[{"step":"a"}]}"#, "`plan[0]`: missing field `status` at line 1 column 21"),
        (
            r#"{"plan":[{"step":"a","state":1}]}"#,
            "`plan[0]`: unknown field `state`, expected `step` or `status` at line",
        ),
        (r#"{"plan":3}"#, "`plan`: invalid type: integer `3`, expected a sequence at line 1 column 9"),
        (r#"{"steps":[]}"#, "unknown field `steps`, expected `plan` at line 1 column 8"),
        ("", "missing field `plan` at line 1 column 2"),
        (" \t ", "missing field `plan` at line 1 column 2"),
        ("[]", "expected a JSON object, got an array"),
        (
            r#"{"plan":[{"step":"a","status":"later"}]}"#,
            "`plan[0].status`: unknown variant `later`, expected `pending` or `done` at line 1 column 37",
        ),
    ];
    for (raw, expected) in table {
        let found = path_text::<Plan>(raw);
        let expected = format!("failed to parse function arguments: {expected}");
        assert!(found.starts_with(&expected), "{raw}\n found {found}\nwanted {expected}");
    }
}

#[test]
fn every_shape_of_serde_reads_through() {
    #[derive(Debug, Deserialize, PartialEq)]
    enum Shape {
        Unit,
        New(i64),
        Pair(i8, char),
        Named { x: f64 },
    }
    #[derive(Debug, Deserialize)]
    struct All {
        shapes: Vec<Shape>,
        by_number: BTreeMap<u16, Option<bool>>,
        raw: Box<RawValue>,
        any: Value,
        big: u128,
        wrapped: Wrapped,
        unit: (),
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }
    #[derive(Debug, Deserialize, PartialEq)]
    struct Wrapped(String);

    let raw = r#"{"shapes":["Unit",{"New":3},{"Pair":[1,"c"]},{"Named":{"x":1.5}}],"by_number":{"7":null},
        "raw":[ 1 ],"any":{"k":[1,"two",null]},"big":12345678901234567890,"wrapped":"w","unit":null,"more":1}"#;
    let all: All = parse_arguments(raw).expect("arguments");
    assert_eq!(all.shapes, [Shape::Unit, Shape::New(3), Shape::Pair(1, 'c'), Shape::Named { x: 1.5 }]);
    assert_eq!(all.by_number, BTreeMap::from([(7, None)]));
    assert_eq!(all.raw.get(), "[ 1 ]");
    assert_eq!(all.any, serde_json::json!({"k": [1, "two", null]}));
    assert_eq!(all.big, 12_345_678_901_234_567_890);
    assert_eq!(all.unit, ());
    assert_eq!(all.wrapped, Wrapped("w".to_owned()));
    assert_eq!(all.rest, BTreeMap::from([("more".to_owned(), Value::from(1))]));
}

#[test]
fn members_under_a_number_are_named_too() {
    #[derive(Debug, Deserialize)]
    struct ByNumber {
        #[allow(dead_code)]
        table: BTreeMap<u16, bool>,
    }
    assert_eq!(
        path_text::<ByNumber>(r#"{"table":{"7":"x"}}"#),
        "failed to parse function arguments: `table.7`: invalid type: string \"x\", expected a boolean at line 1 column 17"
    );
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    let raw = format!("{{\"plan\":{}", "[".repeat(100_000));
    assert!(text::<Plan>(&raw).starts_with("failed to parse function arguments: "));
    let raw = format!("{{\"other\":{}", "{\"a\":".repeat(100_000));
    assert!(text::<Exec>(&raw).starts_with("failed to parse function arguments: EOF while parsing"));
    let raw = format!("{{\"any\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    assert!(text::<BTreeMap<String, Value>>(&raw).contains("recursion limit exceeded"));
}

proptest! {
    /// For a struct of plain members the text is the one that serde_json gives by itself.
    #[test]
    fn texts_are_serde_jsons_own(raw in r#"\{("cmd"|"tty"|"x"|"workdir"|,|:|1|null|true|"s"|\[|\]|\}|\{| ){0,12}"#) {
        let own = serde_json::from_str::<Exec>(&raw).map_err(|error| error.to_string());
        let ours = read_arguments::<Exec>(&raw).map_err(|error| error.text);
        prop_assert_eq!(ours, own);
    }
}
