use std::sync::Arc;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tenon_tools::{FnTool, NoArguments, ToolExecutor, ToolExposure, ToolInvocation};

use super::{SearchCatalogue, SearchCatalogues};

fn tool(namespace: &str, name: &str, description: &str) -> Arc<dyn ToolExecutor> {
    let answer = |_: NoArguments, _: ToolInvocation| async { Ok::<_, String>("done") };
    Arc::new(
        FnTool::new(name, description, answer).in_namespace(namespace, "").exposure(ToolExposure::Deferred),
    )
}

fn names(catalogue: &SearchCatalogue, query: &str, limit: usize) -> Vec<(String, Vec<String>)> {
    let found = serde_json::to_value(catalogue.search(query, limit)).unwrap();
    let text = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let spaces = found.as_array().unwrap().iter();
    spaces.map(|space| (text(space), space["tools"].as_array().unwrap().iter().map(text).collect())).collect()
}

fn row(namespace: &str, tools: &[&str]) -> (String, Vec<String>) {
    (namespace.to_owned(), tools.iter().map(|name| (*name).to_owned()).collect())
}

#[test]
fn tools_of_a_namespace_stand_together_where_the_best_of_them_stands() {
    let catalogue = SearchCatalogue::new(vec![
        tool("mcp__a", "one", "rain"),
        tool("mcp__b", "two", "rain and wind"),
        tool("mcp__a", "three", "rain, snow, ice, fog"),
    ]);
    assert_eq!(names(&catalogue, "rain", 8), [row("mcp__a", &["one", "three"]), row("mcp__b", &["two"])]);
    assert_eq!(names(&catalogue, "wind rain", 1), [row("mcp__b", &["two"])]);
    assert_eq!(names(&catalogue, "zzzzqqq", 8), []);
}

#[test]
fn what_is_returned_is_marked_as_deferred_and_described() {
    let catalogue = SearchCatalogue::new(vec![tool("mcp__a", "one", "rain")]);
    assert_eq!(
        serde_json::to_value(catalogue.search("rain", 8)).unwrap(),
        json!([{"type": "namespace", "name": "mcp__a", "description": "Tools in the mcp__a namespace.", "tools": [
            {"type": "function", "name": "one", "description": "rain", "strict": false, "defer_loading": true,
             "parameters": {"type": "object", "properties": {}, "additionalProperties": false}},
        ]}])
    );
}

#[test]
fn the_order_of_registration_decides_nothing() {
    let tools =
        [tool("mcp__a", "blue", "rain"), tool("mcp__b", "blue", "rain"), tool("mcp__a", "green", "rain")];
    let forth = SearchCatalogue::new(tools.to_vec());
    let back = SearchCatalogue::new(tools.iter().rev().cloned().collect());
    assert_eq!(names(&forth, "rain", 2), names(&back, "rain", 2));
    assert_eq!(names(&forth, "rain", 8), [row("mcp__a", &["blue", "green"]), row("mcp__b", &["blue"])]);
}

#[test]
fn a_catalogue_is_made_anew_only_where_the_tools_are_other_ones() {
    let (a, b) = (tool("n", "a", "rain"), tool("n", "b", "rain"));
    let catalogues = SearchCatalogues::default();
    let first = catalogues.of(vec![Arc::clone(&a), Arc::clone(&b)]);
    assert!(Arc::ptr_eq(&first, &catalogues.of(vec![Arc::clone(&a), Arc::clone(&b)])));
    let fewer = catalogues.of(vec![Arc::clone(&a)]);
    assert_eq!((first.len(), fewer.len()), (2, 1));
    // The same names, but a tool that is another one now.
    let changed = catalogues.of(vec![tool("n", "a", "wind")]);
    assert_eq!(names(&changed, "wind", 8), [row("n", &["a"])]);
    assert!(catalogues.of(Vec::new()).is_empty());
}

#[test]
fn a_long_list_is_searched_to_its_end() {
    let verbs = ["create", "list", "delete", "update", "fetch"];
    let things = ["invoice", "ticket", "branch", "playlist", "meeting", "sensor", "voucher"];
    let tools = (0..2_100).map(|n| {
        let (verb, thing) = (verbs[n % verbs.len()], things[n % things.len()]);
        tool(&format!("mcp__s{}", n % 60), &format!("{verb}_{thing}_{n}"), &format!("{verb} one {thing}"))
    });
    let catalogue = SearchCatalogue::new(tools.collect());
    let hits: Vec<_> =
        names(&catalogue, "delete vouchers", 60).into_iter().flat_map(|(_, tools)| tools).collect();
    assert_eq!(hits.len(), 60);
    assert!(hits.iter().all(|name| name.starts_with("delete_voucher_")), "{hits:?}");
    assert_eq!(names(&catalogue, "sensor 2099", 1).len(), 1);
}
