use pretty_assertions::assert_eq;
use tenon_protocol::SearchToolCallParams;

use super::*;

fn function(arguments: &str) -> ToolPayload {
    ToolPayload::Function { arguments: arguments.to_owned() }
}

fn custom(input: &str) -> ToolPayload {
    ToolPayload::Custom { input: input.to_owned() }
}

fn search() -> ToolPayload {
    ToolPayload::ToolSearch { arguments: SearchToolCallParams { query: "q".to_owned(), limit: None } }
}

fn plain() -> HookIdentity {
    HookIdentity::function(&ToolName::new(Some("functions"), "view_image"))
}

fn bash() -> HookIdentity {
    HookIdentity::named("Bash".into(), HookInputForm::CommandMember { member: "cmd" })
}

fn mcp() -> HookIdentity {
    HookIdentity::named("mcp__fixture__add".into(), HookInputForm::McpArguments)
}

fn patch() -> HookIdentity {
    HookIdentity::named("apply_patch".into(), HookInputForm::CommandText).with_aliases(&["Write", "Edit"])
}

#[test]
fn a_function_is_known_by_its_flat_name() {
    assert_eq!(plain().tool_name, "view_image");
    assert_eq!(
        HookIdentity::function(&ToolName::new(Some("mcp__cal"), "create")).tool_name,
        "mcp__calcreate"
    );
    assert_eq!((plain().pre, plain().post, plain().aliases), (true, true, &[] as &[&str]));
    assert_eq!(patch().aliases, ["Write", "Edit"]);
}

#[test]
fn input_and_coverage_of_every_form_and_payload() {
    let object = function(r#"{"cmd":"ls","n":1}"#);
    let (blank, broken, list) = (function(" \n"), function("{bad"), function("[1]"));
    let table = [
        (plain(), &object, true, Some(json!({"cmd": "ls", "n": 1}))),
        (plain(), &blank, true, Some(json!({}))),
        (plain(), &broken, true, Some(json!("{bad"))),
        (plain(), &list, true, Some(json!([1]))),
        (mcp(), &object, true, Some(json!({"cmd": "ls", "n": 1}))),
        (mcp(), &blank, true, Some(json!({}))),
        (mcp(), &broken, true, Some(json!("{bad"))),
        (bash(), &object, true, Some(json!({"command": "ls"}))),
        (bash(), &blank, true, None),
        (bash(), &broken, true, None),
        (bash(), &list, true, None),
        (bash(), &function(r#"{"cmd":5}"#), true, None),
        (patch(), &custom("*** Begin"), true, Some(json!({"command": "*** Begin"}))),
        (patch(), &object, false, None),
        (plain(), &custom("x"), false, None),
        (bash(), &custom("x"), false, None),
        (mcp(), &search(), false, None),
        (patch(), &search(), false, None),
    ];
    for (identity, payload, covered, input) in table {
        assert_eq!(identity.covers(payload), covered, "{identity:?} {payload:?}");
        assert_eq!(identity.input(payload), input, "{identity:?} {payload:?}");
    }
}

#[test]
fn a_rewrite_replaces_what_the_form_says() {
    let old = function(r#"{"cmd":"rm -rf /","workdir":"/tmp","n":1}"#);
    let updated = json!({"command": "ls", "x": 2});
    let table = [
        (plain(), &old, function(r#"{"command":"ls","x":2}"#)),
        (mcp(), &old, function(r#"{"command":"ls","x":2}"#)),
        (bash(), &old, function(r#"{"cmd":"ls","workdir":"/tmp","n":1}"#)),
        (patch(), &custom("old"), custom("ls")),
    ];
    for (identity, payload, expected) in table {
        assert_eq!(identity.rewrite(payload, &updated), Ok(expected), "{identity:?}");
    }
}

#[test]
fn a_rewrite_that_cannot_be_made_is_told() {
    let object = function(r#"{"cmd":"ls"}"#);
    let no_command = json!({"cmd": "ls"});
    let command = json!({"command": "ls"});
    let table = [
        (plain(), custom("x"), &command, "hook input rewrite received unsupported function tool payload"),
        (mcp(), search(), &command, "hook input rewrite received unsupported function tool payload"),
        (bash(), custom("x"), &command, "hook input rewrite received unsupported exec_command payload"),
        (patch(), object.clone(), &command, "hook input rewrite received unsupported apply_patch payload"),
        (bash(), object.clone(), &no_command, "hook returned updatedInput without string field `command`"),
        (patch(), custom("x"), &no_command, "hook returned updatedInput without string field `command`"),
        (bash(), function("[1]"), &command, "exec_command arguments must be an object"),
        (
            bash(),
            function("{bad"),
            &command,
            "failed to parse function arguments: key must be a string at line 1 column 2",
        ),
    ];
    for (identity, payload, updated, expected) in table {
        let refused = identity.rewrite(&payload, updated).expect_err(expected);
        assert_eq!(refused, FunctionCallError::respond(expected));
    }
}
