use super::*;

#[test]
fn finds_the_member_wherever_it_stands() {
    for json in [
        r#"{"type":"t"}"#,
        r#" { "type" : "t" } "#,
        r#"{"sequence_number":12,"type":"t","rest":1}"#,
        r#"{"a":-1.5e3,"b":true,"c":null,"d":"x,\"}","e":[],"type":"t"}"#,
        r#"{"a":{"type":"inner"},"type":"t"}"#,
        r#"{"a":[{"type":"inner"},2],"b":"","type":"t"}"#,
        r#"{"type":"\u0074"}"#,
        r#"{"t\u0079pe":"t"}"#,
        r#"{"a":"\ud83d","type":"t"}"#,
    ] {
        assert_eq!(peek_text(json, "type").as_deref(), Some("t"), "{json}");
    }
}

#[test]
fn borrows_where_it_can() {
    assert!(matches!(peek_text(r#"{"type":"t"}"#, "type"), Some(Cow::Borrowed("t"))));
    assert!(matches!(peek_text(r#"{ "type":"t"}"#, "type"), Some(Cow::Borrowed("t"))));
    assert!(matches!(peek_text(r#"{"type":"\n"}"#, "type"), Some(Cow::Owned(text)) if text == "\n"));
}

#[test]
fn finds_nothing_where_nothing_is() {
    for json in [
        "",
        "{}",
        "[]",
        r#""type""#,
        r#"{"type":1}"#,
        r#"{"type":null,"type":"t"}"#,
        r#"{"type":{"type":"t"}}"#,
        r#"{"kind":"t"}"#,
        r#"{"a":"type"}"#,
        r#"{"type":"t"#,
        r#"{"type""#,
        r#"{"a":"b\"#,
        r#"{"a":12"#,
        "{\"type\":\"t\\",
    ] {
        assert_eq!(peek_text(json, "type"), None, "{json}");
    }
}

#[test]
fn does_not_read_behind_the_member() {
    assert_eq!(peek_text(r#"{"type":"t",,,"#, "type").as_deref(), Some("t"));
    assert_eq!(peek_text(r#"{ "type":"t",,,"#, "type").as_deref(), Some("t"));
}
