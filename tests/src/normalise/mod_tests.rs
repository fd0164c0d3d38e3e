use serde_json::json;

use super::*;

#[test]
fn the_same_is_said_in_any_order_of_members_and_with_any_form_of_a_number() {
    assert!(same(&json!({"a": 1, "b": [2.0]}), &json!({"b": [2], "a": 1.0})));
}

#[test]
fn something_else_is_not_the_same() {
    for (a, b) in [
        (json!(1), json!("1")),
        (json!([1, 2]), json!([1])),
        (json!({"a": 1}), json!({"b": 1})),
        (json!({"a": 1}), json!({"a": 1, "b": null})),
        (json!(null), json!(false)),
        (json!("x"), json!("y")),
    ] {
        assert!(!same(&a, &b), "{a} {b}");
    }
}

#[test]
fn a_mark_reaches_every_depth_and_keeps_the_form() {
    let places = Places { cwd: "/c".into(), home: "/h".into(), fixture: "/f".into() };
    let value = json!({"a": [{"b": "in /c/x", "n": 1.5}], "é": null});
    assert_eq!(scrub(&value, &places).unwrap(), json!({"a": [{"b": "in <cwd>/x", "n": 1.5}], "é": null}));
}
