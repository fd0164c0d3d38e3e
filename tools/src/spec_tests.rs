use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_protocol::ToolName;

use super::*;

fn text<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

fn function(name: &str) -> FunctionSpec {
    FunctionSpec::new(name, format!("does {name}"), JsonSchema::object([], &[]))
}

fn namespace(name: &str, description: &str, functions: &[&str]) -> NamespaceSpec {
    NamespaceSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        tools: functions.iter().map(|name| NamespaceTool::Function(function(name))).collect(),
    }
}

fn names(namespace: &NamespaceSpec) -> Vec<&str> {
    namespace.tools.iter().map(NamespaceTool::name).collect()
}

const EMPTY: &str = r#"{"type":"object","properties":{},"additionalProperties":false}"#;

#[test]
fn a_function_writes_strict_always_and_defer_loading_only_when_true() {
    let spec = ToolSpec::function("f", "does f", JsonSchema::object([], &[]))
        .with_output_schema(JsonSchema::string(""));
    assert_eq!(
        text(&spec),
        format!(
            r#"{{"type":"function","name":"f","description":"does f","strict":false,"parameters":{EMPTY}}}"#
        )
    );
    let deferred = ToolSpec::Function(function("f").with_output_schema(JsonSchema::string("")).deferred());
    assert_eq!(
        text(&deferred),
        format!(
            r#"{{"type":"function","name":"f","description":"does f","strict":false,"defer_loading":true,"parameters":{EMPTY}}}"#
        )
    );
    let ToolSpec::Function(deferred) = deferred else { unreachable!() };
    assert_eq!(deferred.output_schema, None);
}

#[test]
fn the_other_kinds_on_the_wire() {
    let lark = ToolSpec::lark("apply_patch", "edits", "start: x");
    assert_eq!(
        text(&lark),
        r#"{"type":"custom","name":"apply_patch","description":"edits","format":{"type":"grammar","syntax":"lark","definition":"start: x"}}"#
    );
    let search = ToolSpec::ToolSearch(ToolSearchSpec::client("finds", JsonSchema::object([], &[])));
    assert_eq!(
        text(&search),
        format!(
            r#"{{"type":"tool_search","execution":"client","description":"finds","parameters":{EMPTY}}}"#
        )
    );
    let ToolSpec::Custom(custom) = lark.clone() else { unreachable!() };
    let mut whole = namespace("ns", "d", &["f"]);
    whole.tools.push(NamespaceTool::Custom(custom));
    assert_eq!(
        text(&ToolSpec::Namespace(whole)),
        format!(
            r#"{{"type":"namespace","name":"ns","description":"d","tools":[{{"type":"function","name":"f","description":"does f","strict":false,"parameters":{EMPTY}}},{}]}}"#,
            text(&lark)
        )
    );
}

#[test]
fn names_for_lookup() {
    let table = [
        (ToolSpec::Function(function("f")), "f"),
        (ToolSpec::lark("c", "", ""), "c"),
        (ToolSpec::Namespace(namespace("ns", "", &[])), "ns"),
        (ToolSpec::ToolSearch(ToolSearchSpec::client("", JsonSchema::default())), "tool_search"),
        (ToolSpec::WebSearch(WebSearchSpec::default()), "web_search"),
    ];
    for (spec, name) in table {
        assert_eq!(spec.name(), name);
    }
}

#[test]
fn web_search_by_mode() {
    use WebSearchContent::{Text, TextAndImage};
    let wire =
        |mode, content| WebSearchSpec::for_mode(mode, content).map(|spec| text(&ToolSpec::WebSearch(spec)));
    assert_eq!(wire(WebSearchMode::Disabled, Text), None);
    assert_eq!(wire(WebSearchMode::default(), TextAndImage), None);
    assert_eq!(
        wire(WebSearchMode::Cached, Text).as_deref(),
        Some(r#"{"type":"web_search","external_web_access":false}"#)
    );
    assert_eq!(
        wire(WebSearchMode::Live, TextAndImage).as_deref(),
        Some(r#"{"type":"web_search","external_web_access":true,"search_content_types":["text","image"]}"#)
    );
}

#[test]
fn a_whole_web_search() {
    let spec = WebSearchSpec {
        external_web_access: Some(true),
        index_gated_web_access: Some(false),
        filters: Some(WebSearchFilters { allowed_domains: Some(vec!["a.example".to_owned()]) }),
        user_location: Some(WebSearchLocation {
            country: Some("AT".to_owned()),
            timezone: Some("Europe/Vienna".to_owned()),
            ..WebSearchLocation::default()
        }),
        search_context_size: Some("low".to_owned()),
        search_content_types: None,
    };
    assert_eq!(
        text(&ToolSpec::WebSearch(spec)),
        r#"{"type":"web_search","external_web_access":true,"index_gated_web_access":false,"filters":{"allowed_domains":["a.example"]},"user_location":{"type":"approximate","country":"AT","timezone":"Europe/Vienna"},"search_context_size":"low"}"#
    );
}

#[test]
fn namespaces_of_one_name_are_merged_sorted_and_described() {
    let specs = vec![
        ToolSpec::Namespace(namespace("ns", " ", &["z", "b"])),
        ToolSpec::Function(function("f")),
        ToolSpec::Namespace(namespace("other", "", &["x"])),
        ToolSpec::Namespace(namespace("ns", "first words", &["a"])),
        ToolSpec::Namespace(namespace("ns", "later words", &["m"])),
    ];
    let merged = merge_namespaces(specs);
    let [ToolSpec::Namespace(ns), ToolSpec::Function(f), ToolSpec::Namespace(other)] = merged.as_slice()
    else {
        panic!("{merged:?}")
    };
    assert_eq!((ns.description.as_str(), names(ns)), ("first words", vec!["a", "b", "m", "z"]));
    assert_eq!(f.name, "f");
    assert_eq!(other.description, "Tools in the other namespace.");
}

#[test]
fn loadable_specs_are_coalesced_in_order_of_appearance() {
    let found = vec![
        LoadableToolSpec::Namespace(namespace("b", "first", &["z"])),
        LoadableToolSpec::Function(function("f")),
        LoadableToolSpec::Namespace(namespace("a", "", &["x"])),
        LoadableToolSpec::Namespace(namespace("b", "second", &["a"])),
        LoadableToolSpec::Function(function("f")),
    ];
    let coalesced = coalesce_loadable(found);
    let [
        LoadableToolSpec::Namespace(b),
        LoadableToolSpec::Function(_),
        LoadableToolSpec::Namespace(a),
        LoadableToolSpec::Function(_),
    ] = coalesced.as_slice()
    else {
        panic!("{coalesced:?}")
    };
    assert_eq!((b.description.as_str(), names(b)), ("first", vec!["z", "a"]));
    assert_eq!((a.description.as_str(), names(a)), ("", vec!["x"]));
    assert_eq!(text(&coalesced[1]), text(&ToolSpec::from(coalesced[1].clone())));
    assert_eq!(text(&coalesced[0]), text(&ToolSpec::from(coalesced[0].clone())));
}

#[test]
fn the_lite_form_has_one_namespace_for_what_has_none() {
    let search = ToolSpec::ToolSearch(ToolSearchSpec::client("", JsonSchema::default()));
    let other = ToolSpec::Namespace(namespace("ns", "d", &["x"]));
    let lite = responses_lite(vec![
        search.clone(),
        ToolSpec::Function(function("f")),
        other.clone(),
        ToolSpec::lark("patch", "", ""),
    ]);
    let [ToolSpec::Namespace(functions), rest @ ..] = lite.as_slice() else { panic!("{lite:?}") };
    assert_eq!(functions.name, "functions");
    assert_eq!(functions.description, "Tools in the functions namespace.");
    assert_eq!(names(functions), ["f", "patch"]);
    assert_eq!(rest, [search.clone(), other]);
    assert_eq!(responses_lite(vec![search.clone()]), [search]);
}

#[test]
fn a_function_is_found_by_its_names_and_words() {
    let parameters = JsonSchema::object(
        [
            ("start_time", JsonSchema::string("When it begins.")),
            (
                "guests",
                JsonSchema::array(
                    JsonSchema::object([("mail", JsonSchema::string("An address."))], &[]),
                    "Who comes.",
                ),
            ),
            (
                "end",
                JsonSchema::from_value(
                    &json!({"anyOf": [{"type": "null"}, {"type": "string", "description": "When it ends."}]}),
                ),
            ),
        ],
        &[],
    );
    let spec = ToolSpec::function("create_event", "Makes an event.", parameters)
        .with_output_schema(JsonSchema::default());
    let found = SearchInfo::from_spec(&ToolName::plain("create_event"), &spec).unwrap();
    assert_eq!(
        found.text,
        "create_event create event create_event create event Makes an event. end When it ends. guests Who comes. mail \
         An address. start_time When it begins."
    );
    let LoadableToolSpec::Function(function) = found.spec else { panic!("{found:?}") };
    assert_eq!((function.defer_loading, function.output_schema), (true, None));
}

#[test]
fn a_namespaced_function_is_found_by_its_namespace_too() {
    let spec = ToolSpec::in_namespace("mcp__cal", " ", function("list_events"));
    let found = SearchInfo::from_spec(&ToolName::new(Some("mcp__cal"), "list_events"), &spec).unwrap();
    assert_eq!(
        found.text,
        "mcp__callist_events mcp  callist events mcp__cal Tools in the mcp__cal namespace. list_events list events \
         does list_events"
    );
    let LoadableToolSpec::Namespace(namespace) = found.clone().spec else { panic!("{found:?}") };
    assert_eq!(namespace.description, "Tools in the mcp__cal namespace.");
    assert_eq!(namespace.tools, [NamespaceTool::Function(function("list_events").deferred())]);
    assert_eq!(found.with_text("own words").text, "own words");
}

#[test]
fn only_functions_and_namespaces_are_found() {
    let name = ToolName::plain("x");
    for spec in [
        ToolSpec::lark("x", "", ""),
        ToolSpec::WebSearch(WebSearchSpec::default()),
        ToolSpec::ToolSearch(ToolSearchSpec::client("", JsonSchema::default())),
    ] {
        assert_eq!(SearchInfo::from_spec(&name, &spec), None);
    }
}
