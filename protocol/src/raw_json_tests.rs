use serde_json::json;

use super::*;

#[test]
fn keeps_digits_order_nulls_and_spaces() {
    let text = r#"{ "b":1e400,"a":12345678901234567890123, "n":null,"z":1.0 ,"s":"\u00e9\/" }"#;
    let raw = RawJson::parse(text).unwrap();
    assert_eq!(raw.get(), text);
    assert_eq!(serde_json::to_string(&raw).unwrap(), text);
    assert_eq!(serde_json::from_str::<RawJson>(text).unwrap().get(), text);
    assert_eq!(raw.to_string(), text);
    assert_eq!(format!("{raw:?}"), text);
}

#[test]
fn lies_on_one_line() {
    let raw = RawJson::parse("{\r\n\"a\":\n[1,\r2]}").unwrap();
    assert_eq!(raw.get(), r#"{  "a": [1, 2]}"#);
}

#[test]
fn refuses_what_is_not_one_value() {
    for text in ["", "{", "1 2", "{'a':1}", "\"\n\"", "nul"] {
        assert!(RawJson::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn holds_lone_surrogates() {
    let text = r#"["\ud83d"]"#;
    assert_eq!(RawJson::parse(text).unwrap().get(), text);
    assert!(RawJson::parse(text).unwrap().to::<Value>().is_err());
}

#[test]
fn equal_by_meaning_or_by_text() {
    let raw = |text| RawJson::parse(text).unwrap();
    assert_eq!(raw(r#"{"a":1,"b":2}"#), raw(r#"{ "b":2, "a":1 }"#));
    assert_ne!(raw("[1,2]"), raw("[2,1]"));
    // A Value cannot hold it: the text decides.
    assert_eq!(raw("1e400"), raw("1e400"));
    assert_ne!(raw("1e400"), raw("1e0400"));
}

#[test]
fn made_of_values() {
    assert_eq!(RawJson::default().get(), "null");
    assert_eq!(RawJson::from(json!({"z": 1, "a": [true]})).get(), r#"{"z":1,"a":[true]}"#);
    assert_eq!(RawJson::of(&"x").unwrap().to::<String>().unwrap(), "x");
    let boxed: Box<RawValue> = RawJson::of(&1).unwrap().into();
    assert_eq!(boxed.get(), "1");
}
