use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;

fn pairs(text: &str) -> Vec<(String, &str)> {
    Members::of(text).expect("an object").into_pairs().collect()
}

#[test]
fn members_are_found_around_what_cannot_be_parsed() {
    let deep = format!("{}1{}", "[".repeat(1000), "]".repeat(1000));
    let text = format!(r#" {{"a, }} \" b" : {deep} ,"n":NaN,"id":1e999}} "#);
    let expected = [("a, } \" b", deep.as_str()), ("n", "NaN"), ("id", "1e999")];
    assert_eq!(pairs(&text), expected.map(|(key, value)| (key.to_owned(), value)));
    assert!(Members::of(&text).expect("an object").is_whole());
}

#[test]
fn of_what_is_cut_off_there_is_what_came() {
    let cut = Members::of(r#"{"id":4,"result":{"text":"a, b"#).expect("an object");
    assert!(!cut.is_whole());
    assert_eq!((cut.get("id"), cut.get("result")), (Some("4"), Some(r#"{"text":"a, b"#)));
    let more = Members::of(r#"{"id":4} and more"#).expect("an object");
    assert!(!more.is_whole());
    assert_eq!(pairs(r#"{"id":4,"res"#), [("id".to_owned(), "4")]);
}

#[test]
fn the_last_of_two_counts_and_other_things_have_no_members() {
    assert_eq!(Members::of(r#"{"id":1,"id":2}"#).expect("an object").get("id"), Some("2"));
    assert_eq!(Members::of("[1]"), None);
    assert_eq!(elements("{}"), None);
    assert_eq!(elements(r#"[{"a":[1,2]}, "x,]", 3 ]"#), Some(vec![r#"{"a":[1,2]}"#, r#""x,]""#, "3"]));
    assert_eq!(elements("[]"), Some(Vec::new()));
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![any::<i64>().prop_map(Value::from), any::<String>().prop_map(Value::from)];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_can_be_parsed_is_taken_apart_as_the_parser_does(value in json()) {
        let text = value.to_string();
        let parsed = |raw: &str| serde_json::from_str::<Value>(raw).expect("a value");
        if let Some(members) = Members::of(&text) {
            prop_assert!(members.is_whole());
            let members = members.into_pairs().map(|(key, raw)| (key, parsed(raw)));
            prop_assert_eq!(Value::Object(members.collect::<Map<_, _>>()), value);
        } else if let Some(elements) = elements(&text) {
            prop_assert_eq!(Value::Array(elements.into_iter().map(parsed).collect()), value);
        }
    }

    #[test]
    fn no_text_is_too_odd(text in "[\\[{][\"\\\\{}\\[\\],:a1é ]{0,40}") {
        let _ = (Members::of(&text), elements(&text));
    }
}
