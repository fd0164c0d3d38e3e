use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn parse(members: Value) -> serde_json::Result<Scenario> {
    let mut whole = json!({"name": "s", "turns": [], "expected": {"outputs": [], "files": {}, "exit": 0}});
    let Value::Object(members) = members else { panic!("an object of members") };
    whole.as_object_mut().unwrap().extend(members);
    serde_json::from_value(whole)
}

fn needs(members: Value) -> Vec<Need> {
    parse(members).unwrap().needs().into_iter().collect()
}

#[test]
fn a_bare_scenario_is_direct_and_needs_nothing() {
    let scenario = parse(json!({})).unwrap();
    assert_eq!(scenario.mode, Mode::Direct);
    assert_eq!(scenario.compare, None);
    assert!(scenario.needs().is_empty());
}

#[test]
fn an_unknown_member_is_an_error_and_named() {
    assert!(parse(json!({"fles": {}})).unwrap_err().to_string().contains("unknown field `fles`"));
    let expected = json!({"expected": {"outputs": [], "files": {}, "exit": 0, "evnts": []}});
    assert!(parse(expected).unwrap_err().to_string().contains("unknown field `evnts`"));
}

#[test]
fn what_it_needs_shows_in_its_members() {
    let call = |arguments: &str| json!({"turns": [[{"type": "function_call", "arguments": arguments}]]});
    assert_eq!(needs(json!({"hooks": {}})), [Need::Hooks]);
    assert_eq!(needs(json!({"mcp": true})), [Need::Mcp]);
    assert_eq!(needs(json!({"config": "[mcp_servers.x]\ncommand = \"y\"\n"})), [Need::Mcp]);
    assert_eq!(needs(json!({"mode": "code_mode", "mcp": true})), [Need::Mcp, Need::CodeMode]);
    assert_eq!(needs(call(r#"{"cmd": "x", "tty": true}"#)), [Need::Terminal]);
    assert_eq!(needs(call(r#"{"cmd": "tty", "session_id": $SESSION}"#)), []);
    let script = json!({"turns": [[{"type": "custom_tool_call", "input": "f({tty: true})"}]]});
    assert_eq!(needs(script), [Need::Terminal]);
    assert_eq!(needs(json!({"turns": [[{"type": "tool_search_call"}]]})), [Need::ToolSearch]);
}

#[test]
fn a_file_must_be_named_like_its_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.json");
    let text = json!({"name": "s", "turns": [], "expected": {"outputs": [], "files": {}, "exit": 0}});
    std::fs::write(&path, text.to_string()).unwrap();
    let error = Scenario::load(&path).unwrap_err().to_string();
    assert!(error.ends_with(r#"other.json calls itself "s"; a scenario is named like its file"#), "{error}");
    std::fs::rename(&path, folder.path().join("s.json")).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "").unwrap();
    let names: Vec<String> =
        Scenario::load_folder(folder.path()).unwrap().into_iter().map(|scenario| scenario.name).collect();
    assert_eq!(names, ["s"]);
}
