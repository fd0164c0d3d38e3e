use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

#[test]
fn an_entry_names_its_server_first_and_keeps_meta_from_the_model() {
    let entries = entries_of("s", vec![json!({"uri": "u", "_meta": {"x": 1}, "server": "other"})]);
    assert_eq!(Value::Array(entries).to_string(), r#"[{"server":"s","uri":"u"}]"#);
}
