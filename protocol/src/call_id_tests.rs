use std::collections::HashMap;

use super::*;

#[test]
fn is_a_bare_string_in_json() {
    let id = CallId::from("call_1");
    assert_eq!(serde_json::to_string(&id).unwrap(), r#""call_1""#);
    assert_eq!(serde_json::from_str::<CallId>(r#""call_1""#).unwrap(), id);
    assert!(serde_json::from_str::<CallId>("1").is_err());
}

#[test]
fn is_found_by_its_text() {
    let ids = HashMap::from([(CallId::from("a".to_owned()), 1)]);
    assert_eq!(ids.get("a"), Some(&1));
    assert_eq!(ids.get(&CallId::from("a")), Some(&1));
}

#[test]
fn shows_orders_and_compares_as_its_text() {
    let id = CallId::from("b");
    assert_eq!(id.to_string(), "b");
    assert_eq!(id, "b");
    assert_eq!(id.as_ref(), id.as_str());
    let mut ids = [id.clone(), "a".into()];
    ids.sort();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(String::from(id), "b");
    assert_eq!(CallId::default().as_str(), "");
}
