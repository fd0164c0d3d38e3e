use std::sync::Arc;

use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_protocol::ResponseItem;
use tenon_tools::{FnTool, NoArguments, ToolExecutor, ToolExposure, ToolInvocation};

use super::{ToolRegistry, Toolbox};
use crate::handlers::ToolSearch;
use crate::search::LoadedTools;

fn tool(namespace: Option<&str>, name: &str, exposure: ToolExposure) -> Arc<dyn ToolExecutor> {
    let answer = |_: NoArguments, _: ToolInvocation| async { Ok::<_, String>("done") };
    let tool = FnTool::new(name, "Does it.", answer).exposure(exposure);
    match namespace {
        Some(namespace) => Arc::new(tool.in_namespace(namespace, "")),
        None => Arc::new(tool),
    }
}

fn tools() -> Vec<Arc<dyn ToolExecutor>> {
    vec![
        tool(None, "direct", ToolExposure::Direct),
        tool(Some("n"), "first", ToolExposure::DirectModelOnly),
        tool(Some("n"), "found", ToolExposure::Deferred),
        tool(Some("m"), "other", ToolExposure::Deferred),
        tool(Some("m"), "another", ToolExposure::Deferred),
        tool(None, "alone", ToolExposure::Deferred),
        tool(None, "hidden", ToolExposure::Hidden),
    ]
}

fn with_search() -> ToolRegistry {
    let toolbox = Arc::new(Toolbox::new(ToolRegistry::new(tools()).unwrap(), Vec::new()));
    let (mut registry, _) = toolbox.registry();
    let search = ToolSearch::over(&toolbox, &Arc::default(), &registry).unwrap();
    registry.add(Arc::new(search)).unwrap();
    registry
}

fn loaded(tools: &serde_json::Value) -> LoadedTools {
    let item = json!({"type": "tool_search_output", "call_id": "c", "status": "completed", "execution": "client",
        "tools": tools});
    let item = ResponseItem::parse(&item.to_string()).unwrap();
    [&item].into_iter().collect()
}

/// The list as names: a namespace as `namespace(tools)`.
fn shown(registry: &ToolRegistry, loaded: &LoadedTools) -> Vec<String> {
    let specs = serde_json::to_value(registry.specs(loaded, &[])).unwrap();
    let name = |spec: &serde_json::Value| {
        let name = spec["name"].as_str().or(spec["type"].as_str()).unwrap().to_owned();
        assert_eq!(spec.get("defer_loading"), None, "{name} is shown as loaded");
        name
    };
    let list = specs.as_array().unwrap().iter().map(|spec| match spec["tools"].as_array() {
        Some(tools) => format!("{}({})", name(spec), tools.iter().map(name).collect::<Vec<_>>().join(",")),
        None => name(spec),
    });
    list.collect()
}

#[test]
fn deferred_tools_are_not_shown_where_they_can_be_searched_for() {
    assert_eq!(shown(&with_search(), &LoadedTools::default()), ["direct", "n(first)", "tool_search"]);
}

#[test]
fn deferred_tools_are_shown_where_there_is_no_search() {
    let registry = ToolRegistry::new(tools()).unwrap();
    let all = ["direct", "n(first,found)", "m(another,other)", "alone"];
    assert_eq!(shown(&registry, &LoadedTools::default()), all);
    assert_eq!(shown(&registry, &loaded(&json!([{"type": "function", "name": "alone"}]))), all);
}

#[test]
fn found_tools_follow_by_name_or_join_their_namespace() {
    let found = loaded(&json!([
        {"type": "namespace", "name": "n", "tools": [{"name": "found"}, {"name": "gone"}]},
        {"type": "function", "name": "hidden"},
        {"type": "function", "name": "direct"},
        {"type": "namespace", "name": "m", "tools": [{"name": "other"}]},
        {"type": "function", "name": "alone"},
    ]));
    assert_eq!(
        shown(&with_search(), &found),
        ["direct", "n(first,found)", "tool_search", "alone", "m(other)"]
    );
}
