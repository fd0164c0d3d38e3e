use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn bytes_that_are_no_utf8_are_spelled() {
    assert_eq!(backslashed(b"a\xff\xc3\xe2\x82b\xf0\x9f\x98"), r"a\xff\xc3\xe2\x82b\xf0\x9f\x98");
    assert_eq!(backslashed("é😀".as_bytes()), "é😀");
}

#[test]
fn json_is_compared_by_value() {
    for (name, text, expected) in [
        ("a.json", r#"{"b":1,"a":[1.0,"é"]}"#, r#"{"a": [1.0, "\u00e9"], "b": 1}"#),
        ("a.jsonl", "{\"b\":1,\"a\":2}\n\n[]\n", "{\"a\": 2, \"b\": 1}\n[]"),
        ("a.jsonl", "\"a\u{2028}b\"", "\"a\u{2028}b\""),
        ("a.json", "{", "{"),
        ("a.txt", r#"{"b":1, "a":2}"#, r#"{"b":1, "a":2}"#),
    ] {
        assert_eq!(canonical(name, text), expected);
    }
}

#[test]
fn a_snapshot_has_every_file_and_no_folder() {
    let root = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    std::fs::create_dir_all(path("deep/empty")).unwrap();
    std::fs::write(path("deep/a.json"), r#"{"b":1,"a":2}"#).unwrap();
    std::fs::write(path("b"), b"\xff").unwrap();
    std::fs::write(elsewhere.path().join("unseen"), "x").unwrap();
    symlink(elsewhere.path(), path("folder")).unwrap();
    symlink("b", path("link")).unwrap();
    symlink("nowhere", path("broken")).unwrap();
    let files = snapshot(root.path()).unwrap();
    let expected = [
        ("b", r"\xff"),
        ("broken", "not a regular file"),
        ("deep/a.json", r#"{"a": 2, "b": 1}"#),
        ("link", r"\xff"),
    ];
    let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
    assert_eq!(files, BTreeMap::from(expected));
}
