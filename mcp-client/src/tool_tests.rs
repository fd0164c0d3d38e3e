use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

#[test]
fn blank_arguments_are_an_empty_object() {
    assert_eq!(parse("  \n"), Ok(json!({})));
    assert_eq!(
        parse("{bad"),
        Err("failed to parse function arguments: key must be a string at line 1 column 2".to_owned())
    );
}

#[test]
fn a_search_finds_a_tool_by_all_its_names() {
    let schema = json!({"type": "object", "properties": {"zip": {}, "city": {}}});
    let mut remote = RemoteTool::new("wea.ther", "Rain.", schema);
    remote.title = Some("Weather".to_owned());
    let callable = CallableName { namespace: "mcp__s".to_owned(), name: "wea_ther".to_owned() };
    let text = search_text("s", Some("Tools."), &remote, &callable);
    assert_eq!(text, "mcp__swea_ther wea_ther wea.ther s Weather Rain. Tools. city zip");
}

#[test]
fn an_item_ends_with_its_result_or_with_why_there_is_none() {
    let item = TurnItem::McpToolCall {
        id: "c".to_owned(),
        server: "s".to_owned(),
        tool: "t".to_owned(),
        arguments: json!({}),
        result: None,
        error: None,
        status: ItemStatus::InProgress,
        duration: None,
    };
    let ends = |answered: Result<CallToolResult, String>| {
        let TurnItem::McpToolCall { result, error, status, duration, .. } =
            completed(item.clone(), &answered, Duration::from_secs(2))
        else {
            panic!("it is another item")
        };
        assert_eq!(duration, Some(Duration::from_secs(2)));
        (result.is_some(), error, status)
    };
    assert_eq!(ends(Ok(CallToolResult::default())), (true, None, ItemStatus::Completed));
    assert_eq!(ends(Ok(CallToolResult::from_error_text("no"))), (true, None, ItemStatus::Failed));
    assert_eq!(ends(Err("gone".to_owned())), (false, Some("gone".to_owned()), ItemStatus::Failed));
}
