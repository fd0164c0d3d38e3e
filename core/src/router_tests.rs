use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tenon_protocol::{CallId, ResponseItem, SearchToolCallParams, ToolName};
use tenon_tools::{FunctionCallError, ToolCall, ToolCallSource, ToolPayload, direct_source};

use super::{Route, ToolRouter, tool_log_payload};

fn item(value: &Value) -> ResponseItem {
    ResponseItem::parse(&value.to_string()).expect("an item")
}

fn call(value: &Value) -> ToolCall {
    ToolRouter::build_tool_call(&item(value)).expect("no error").expect("a call")
}

#[test]
fn build_tool_call_normalizes_default_function_and_custom_namespaces() {
    let expected = ToolName::new(Some("functions"), "f");
    for namespace in [Value::Null, json!(""), json!("functions")] {
        let mut function = json!({"type": "function_call", "name": "f", "call_id": "c", "arguments": "{}"});
        let mut custom = json!({"type": "custom_tool_call", "name": "f", "call_id": "c", "input": "x"});
        if !namespace.is_null() {
            function["namespace"] = namespace.clone();
            custom["namespace"] = namespace.clone();
        }
        assert_eq!(call(&function).tool_name, expected);
        assert_eq!(call(&custom).tool_name, expected);
        assert_eq!(call(&custom).tool_name.to_string(), "f");
    }
}

#[test]
fn build_custom_tool_call_uses_namespace_for_registry_name() {
    let built = call(&json!({
        "type": "custom_tool_call", "name": "render", "namespace": "mcp__draw", "call_id": "c", "input": "a\nb"
    }));
    let expected = ToolCall {
        tool_name: ToolName::new(Some("mcp__draw"), "render"),
        call_id: CallId::from("c"),
        payload: ToolPayload::Custom { input: "a\nb".to_owned() },
        encrypted_function_args: None,
    };
    assert_eq!(built, expected);
    assert_eq!(built.tool_name.to_string(), "mcp__draw.render");
}

#[test]
fn tool_log_payload_redacts_plaintext_multi_agent_messages() {
    let private = call(&json!({
        "type": "function_call", "name": "send_message", "namespace": "collaboration", "call_id": "c",
        "arguments": "{\"message\":\"secret\"}", "encrypted_function_args": []
    }));
    let source = direct_source(&private);
    assert_eq!(source, ToolCallSource::DirectPlaintextMessage);
    assert_eq!(tool_log_payload(&private.payload, &source), "[plaintext arguments]");
    assert_eq!(private.payload, ToolPayload::Function { arguments: "{\"message\":\"secret\"}".to_owned() });

    let open = call(&json!({
        "type": "function_call", "name": "send_message", "namespace": "collaboration", "call_id": "c",
        "arguments": "{\"message\":\"open\"}"
    }));
    let source = direct_source(&open);
    assert_eq!(source, ToolCallSource::Direct);
    assert_eq!(tool_log_payload(&open.payload, &source), "{\"message\":\"open\"}");
}

#[test]
fn arguments_stay_the_raw_text() {
    let raw = "{ \"n\": 12345678901234567890,  \"n\": 1e400 ";
    let built = call(&json!({"type": "function_call", "name": "f", "call_id": "c", "arguments": raw}));
    assert_eq!(built.payload, ToolPayload::Function { arguments: raw.to_owned() });
}

#[test]
fn searches_are_ours_only_when_the_client_executes_them() {
    let search = |execution: &str, arguments: Value| {
        item(
            &json!({"type": "tool_search_call", "call_id": "s", "execution": execution, "arguments": arguments}),
        )
    };
    let ours =
        ToolRouter::build_tool_call(&search("client", json!({"query": "q", "limit": 3}))).expect("no error");
    let payload =
        ToolPayload::ToolSearch { arguments: SearchToolCallParams { query: "q".to_owned(), limit: Some(3) } };
    assert_eq!(ours.as_ref().map(|call| &call.payload), Some(&payload));
    assert_eq!(ours.map(|call| call.tool_name.namespace().map(str::to_owned)), Some(None));
    assert_eq!(ToolRouter::build_tool_call(&search("server", json!({"query": "q"}))), Ok(None));
    assert_eq!(
        ToolRouter::build_tool_call(&search("client", json!({"limit": 3}))),
        Err(FunctionCallError::respond(
            "failed to parse tool_search arguments: missing field `query` at line 1 column 11"
        ))
    );
    assert_eq!(
        ToolRouter::build_tool_call(&search("client", json!(["q", 3]))),
        Err(FunctionCallError::respond(
            "failed to parse tool_search arguments: expected a JSON object, got an array"
        ))
    );
}

#[test]
fn every_other_item_has_its_route() {
    let rows = [
        (
            json!({"type": "local_shell_call", "call_id": "c", "status": "completed", "action": {"type": "exec", "command": ["ls"]}}),
            Route::Answered { call_id: CallId::from("c"), text: "unsupported call: local_shell".to_owned() },
        ),
        (
            json!({"type": "function_call", "name": "f", "arguments": "{}"}),
            Route::WithoutCallId { message: "a function_call item without call_id was ignored".to_owned() },
        ),
        (
            json!({"type": "custom_tool_call", "name": "f", "input": "x"}),
            Route::WithoutCallId {
                message: "a custom_tool_call item without call_id was ignored".to_owned(),
            },
        ),
        (
            json!({"type": "tool_search_call", "execution": "client", "arguments": {"query": "q"}}),
            Route::NotACall,
        ),
        (
            json!({"type": "tool_search_call", "execution": "server", "arguments": {"query": "q"}}),
            Route::NotACall,
        ),
        (json!({"type": "shell_call", "call_id": "c"}), Route::Unanswered { kind: "shell_call".to_owned() }),
        (
            json!({"type": "apply_patch_call", "call_id": "c"}),
            Route::Unanswered { kind: "apply_patch_call".to_owned() },
        ),
        (json!({"type": "web_search_call", "status": "completed"}), Route::NotACall),
        (json!({"type": "function_call_output", "call_id": "c", "output": "x"}), Route::NotACall),
        (json!({"type": "something_new", "call_id": "c"}), Route::NotACall),
    ];
    for (value, expected) in rows {
        assert_eq!(ToolRouter::route(&item(&value)), Ok(expected), "{value}");
    }
}
