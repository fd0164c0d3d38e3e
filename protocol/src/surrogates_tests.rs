use super::*;

#[test]
fn replaces_lone_ones_only() {
    for (json, replaced) in [
        (r#""\ud83d""#, r#""\ufffd""#),
        (r#""\uDE00 \uD83D""#, r#""\ufffd \ufffd""#),
        (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
        (r#""\ud83d\n""#, r#""\ufffd\n""#),
        (r#""\ud83dé""#, r#""\ufffdé""#),
        (r#""\\\ud83d""#, r#""\\\ufffd""#),
        (r#""a\ude00"}"#, r#""a\ufffd"}"#),
    ] {
        assert_eq!(replace_lone_surrogates(json).as_deref(), Some(replaced), "{json}");
    }
}

#[test]
fn leaves_all_else() {
    for json in [
        "",
        r#""plain é""#,
        r#""\ud83d\ude00""#,
        // The backslash is escaped: the text speaks of a surrogate.
        r#""\\ud83d""#,
        r#""\u00e9\"\/""#,
        r#""\u12""#,
        "\"\\",
        "\"\\é",
        "\"\\ué123",
    ] {
        assert_eq!(replace_lone_surrogates(json), None, "{json}");
    }
}
