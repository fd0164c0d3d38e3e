use pretty_assertions::assert_eq;
use tenon_protocol::SearchToolCallParams;

use super::*;

fn call(namespace: Option<&str>, name: &str, encrypted: Option<&[&str]>) -> ToolCall {
    ToolCall {
        tool_name: ToolName::new(namespace, name),
        call_id: "c".into(),
        payload: ToolPayload::Function { arguments: "{}".to_owned() },
        encrypted_function_args: encrypted.map(|names| names.iter().map(|&name| name.to_owned()).collect()),
    }
}

#[test]
fn only_an_empty_list_of_an_agent_message_is_plaintext() {
    let empty: Option<&[&str]> = Some(&[]);
    let one: Option<&[&str]> = Some(&["message"]);
    let table = [
        (Some("collaboration"), "send_message", empty, ToolCallSource::DirectPlaintextMessage),
        (Some("collaboration"), "spawn_agent", empty, ToolCallSource::DirectPlaintextMessage),
        (Some("collaboration"), "followup_task", empty, ToolCallSource::DirectPlaintextMessage),
        (Some("collaboration"), "send_message", None, ToolCallSource::Direct),
        (Some("collaboration"), "send_message", one, ToolCallSource::Direct),
        (Some("collaboration"), "wait_agent", empty, ToolCallSource::Direct),
        (Some("functions"), "send_message", empty, ToolCallSource::Direct),
        (None, "send_message", empty, ToolCallSource::Direct),
    ];
    for (namespace, name, encrypted, expected) in table {
        assert_eq!(
            direct_source(&call(namespace, name, encrypted)),
            expected,
            "{namespace:?} {name} {encrypted:?}"
        );
    }
}

#[test]
fn tool_log_payload_redacts_plaintext_multi_agent_messages() {
    let payload = ToolPayload::Function { arguments: r#"{"message":"secret"}"#.to_owned() };
    assert_eq!(ToolCallSource::DirectPlaintextMessage.log_text(&payload), "[plaintext arguments]");
    assert_eq!(ToolCallSource::Direct.log_text(&payload), r#"{"message":"secret"}"#);
    // Only the log's text is masked: the payload is what it was.
    assert_eq!(payload, ToolPayload::Function { arguments: r#"{"message":"secret"}"#.to_owned() });
}

#[test]
fn the_log_shows_the_text_of_each_payload() {
    let search = SearchToolCallParams { query: "calendar".to_owned(), limit: Some(3) };
    let nested = ToolCallSource::CodeMode { cell_id: "1".to_owned(), runtime_tool_call_id: "2".to_owned() };
    let table = [
        (ToolPayload::Function { arguments: "{bad".to_owned() }, "{bad"),
        (ToolPayload::ToolSearch { arguments: search }, "calendar"),
        (ToolPayload::Custom { input: "*** Begin".to_owned() }, "*** Begin"),
    ];
    for (payload, expected) in table {
        assert_eq!(nested.log_text(&payload), expected);
        assert_eq!(payload.log_payload(), expected);
    }
    assert_eq!((nested.is_nested(), ToolCallSource::DirectPlaintextMessage.is_nested()), (true, false));
    assert_eq!((nested.label(), ToolCallSource::DirectPlaintextMessage.label()), ("code_mode", "direct"));
}
