use serde_json::json;

use super::*;

fn items() -> Vec<(TurnItem, Option<ItemStatus>)> {
    let id = || "i".to_owned();
    let (text, status) = (String::new, ItemStatus::InProgress);
    vec![
        (TurnItem::UserMessage { id: id(), text: text() }, None),
        (TurnItem::AgentMessage { id: id(), text: text() }, None),
        (TurnItem::Reasoning { id: id(), text: text() }, None),
        (TurnItem::WebSearch { id: id(), query: text(), action: Value::Null }, None),
        (TurnItem::ImageGeneration { id: id(), status: text(), revised_prompt: None, result: None }, None),
        (
            TurnItem::CommandExecution {
                id: id(),
                command: Vec::new(),
                aggregated_output: text(),
                exit_code: None,
                status,
            },
            Some(status),
        ),
        (TurnItem::FileChange { id: id(), changes: Vec::new(), status }, Some(status)),
        (
            TurnItem::McpToolCall {
                id: id(),
                server: text(),
                tool: text(),
                arguments: Value::Null,
                result: None,
                error: None,
                status,
                duration: None,
            },
            Some(status),
        ),
        (TurnItem::TodoList { id: id(), items: Vec::new() }, None),
        (
            TurnItem::ToolCall { id: id(), name: text(), arguments: text(), output: None, status },
            Some(status),
        ),
        (TurnItem::Error { id: id(), message: text() }, None),
    ]
}

#[test]
fn every_item_has_an_id_and_some_a_status() {
    for (item, status) in items() {
        assert_eq!(item.id(), "i");
        assert_eq!(item.status(), status);
        let ended = item.clone().with_status(ItemStatus::Declined);
        assert_eq!(ended.status(), status.map(|_| ItemStatus::Declined));
        assert_eq!(ended.with_status(ItemStatus::InProgress), item);
    }
}

#[test]
fn small_parts_have_the_names_of_the_client() {
    let statuses = [ItemStatus::InProgress, ItemStatus::Completed, ItemStatus::Failed, ItemStatus::Declined];
    assert_eq!(
        serde_json::to_value(statuses).unwrap(),
        json!(["in_progress", "completed", "failed", "declined"])
    );
    let change = |path: &str, kind| FileChangeEntry { path: path.into(), kind };
    assert_eq!(
        serde_json::to_value([
            change("/a", FileChangeKind::Add),
            change("/b", FileChangeKind::Delete),
            change("/c", FileChangeKind::Update),
        ])
        .unwrap(),
        json!([
            {"path": "/a", "kind": "add"}, {"path": "/b", "kind": "delete"}, {"path": "/c", "kind": "update"},
        ])
    );
    assert!(change("/a", FileChangeKind::Update) < change("/b", FileChangeKind::Add));
    assert_eq!(
        serde_json::to_value(TodoItem { text: "t".into(), completed: true }).unwrap(),
        json!({"text": "t", "completed": true})
    );
}

#[cfg(unix)]
#[test]
fn a_path_that_is_no_text_is_still_written() {
    use std::os::unix::ffi::OsStringExt;
    let path = PathBuf::from(std::ffi::OsString::from_vec(b"/a\xff".to_vec()));
    let entry = FileChangeEntry { path, kind: FileChangeKind::Add };
    assert_eq!(serde_json::to_value(entry).unwrap()["path"], "/a\u{fffd}");
}
