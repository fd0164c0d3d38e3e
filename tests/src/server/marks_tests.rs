use serde_json::json;

use super::*;

#[test]
fn the_newest_id_is_taken() {
    let input = [json!({"output": "running with session ID 7\nthen session ID 12\nsession ID of none"})];
    let items = [json!({"arguments": "{\"session_id\": $SESSION}"})];
    assert_eq!(replace(&items, &input).unwrap(), [json!({"arguments": "{\"session_id\": 12}"})]);
}

#[test]
fn a_cell_id_ends_where_its_characters_end() {
    let input = [json!({"output": "Script running with cell ID a-1_b\nWall time"})];
    assert_eq!(replace(&[json!("$CELL")], &input).unwrap(), [json!("a-1_b")]);
}

#[test]
fn without_an_id_the_mark_becomes_zero() {
    assert_eq!(replace(&[json!("$CELL $SESSION")], &[]).unwrap(), [json!("0 0")]);
}

#[test]
fn other_text_stays() {
    let items = [json!({"b": 1, "a": "$HOME"})];
    assert_eq!(replace(&items, &[]).unwrap(), items);
}
