use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::output::{FunctionCallOutputContentItem, FunctionCallOutputPayload};

/// One of each kind as we make it, with nothing optional, and how it is written (core.md 1.1).
fn bare() -> Vec<(ItemKind, &'static str)> {
    let action = LocalShellAction::Exec(LocalShellExec { command: vec!["ls".into()], ..Default::default() });
    vec![
        (
            ItemKind::Message(Message { role: "user".into(), ..Default::default() }),
            r#"{"type":"message","role":"user","content":[]}"#,
        ),
        (
            ItemKind::AgentMessage(AgentMessage {
                author: "a".into(),
                recipient: "b".into(),
                content: vec![AgentMessageContent::InputText { text: "t".into() }],
                ..Default::default()
            }),
            r#"{"type":"agent_message","author":"a","recipient":"b","content":[{"type":"input_text","text":"t"}]}"#,
        ),
        (
            ItemKind::AdditionalTools(AdditionalTools { role: "developer".into(), ..Default::default() }),
            r#"{"type":"additional_tools","role":"developer","tools":[]}"#,
        ),
        (
            ItemKind::Reasoning(Reasoning::default()),
            r#"{"type":"reasoning","summary":[],"content":null,"encrypted_content":null}"#,
        ),
        (
            ItemKind::LocalShellCall(LocalShellCall {
                id: None,
                call_id: None,
                status: "completed".into(),
                action,
                passthrough: None,
            }),
            r#"{"type":"local_shell_call","call_id":null,"status":"completed","action":{"type":"exec","command":["ls"],"timeout_ms":null,"working_directory":null,"env":null,"user":null}}"#,
        ),
        (
            ItemKind::FunctionCall(FunctionCall {
                name: "f".into(),
                arguments: "{}".into(),
                call_id: Some("c".into()),
                ..Default::default()
            }),
            r#"{"type":"function_call","name":"f","arguments":"{}","call_id":"c"}"#,
        ),
        (
            ItemKind::ToolSearchCall(ToolSearchCall { execution: "client".into(), ..Default::default() }),
            r#"{"type":"tool_search_call","call_id":null,"execution":"client","arguments":null}"#,
        ),
        (
            ItemKind::FunctionCallOutput(FunctionCallOutput::default()),
            r#"{"type":"function_call_output","output":""}"#,
        ),
        (
            ItemKind::CustomToolCall(CustomToolCall {
                name: "f".into(),
                input: "x".into(),
                call_id: Some("c".into()),
                ..Default::default()
            }),
            r#"{"type":"custom_tool_call","call_id":"c","name":"f","input":"x"}"#,
        ),
        (
            ItemKind::CustomToolCallOutput(CustomToolCallOutput {
                call_id: "c".into(),
                ..Default::default()
            }),
            r#"{"type":"custom_tool_call_output","call_id":"c","output":""}"#,
        ),
        (
            ItemKind::ToolSearchOutput(ToolSearchOutputItem {
                status: "completed".into(),
                execution: "client".into(),
                ..Default::default()
            }),
            r#"{"type":"tool_search_output","call_id":null,"status":"completed","execution":"client","tools":[]}"#,
        ),
        (ItemKind::WebSearchCall(WebSearchCall::default()), r#"{"type":"web_search_call"}"#),
        (
            ItemKind::ImageGenerationCall(ImageGenerationCall {
                status: "completed".into(),
                result: Some("QQ==".into()),
                ..Default::default()
            }),
            r#"{"type":"image_generation_call","status":"completed","result":"QQ=="}"#,
        ),
        (
            ItemKind::Compaction(Compaction { encrypted_content: "g".into(), ..Default::default() }),
            r#"{"type":"compaction","encrypted_content":"g"}"#,
        ),
        (ItemKind::ContextCompaction(ContextCompaction::default()), r#"{"type":"context_compaction"}"#),
        (ItemKind::CompactionTrigger(CompactionTrigger::default()), r#"{"type":"compaction_trigger"}"#),
        (
            ItemKind::ConfigurationUpdate(ConfigurationUpdate::default()),
            r#"{"type":"configuration_update","reasoning":null}"#,
        ),
        (
            ItemKind::GhostSnapshot(GhostSnapshot::default()),
            r#"{"type":"ghost_snapshot","ghost_commit":null}"#,
        ),
    ]
}

#[test]
fn ours_are_written_by_null_and_skip_rules() {
    for (kind, json) in bare() {
        let item = ResponseItem::new(kind.clone());
        assert_eq!(serde_json::to_string(&item).unwrap(), json);
        assert_eq!(item.raw_json(), json);
        assert!(json.starts_with(&format!(r#"{{"type":"{}""#, item.tag())));
        let read = ResponseItem::parse(json).unwrap();
        assert_eq!(read.kind(), &kind);
        assert_eq!(read, item);
        assert_eq!(read.warning(), None);
    }
}

/// One of each kind as the API might write it: every member, unknown ones, nulls, odd numbers and spaces.
const AS_THEY_CAME: [&str; 21] = [
    r#"{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[{"title":"\ud83d"}],"logprobs":[1e400],"text":"t"}],"phase":"final_answer","role":"assistant","end_turn":null}"#,
    r#"{"type":"message","role":"assistant","content":[],"phase":"some_new_phase"}"#,
    r#"{"type":"agent_message","author":"a","recipient":"b","content":[{"type":"encrypted_content","encrypted_content":"g"}],"x":12345678901234567890123}"#,
    r#"{"type":"additional_tools","role":"r","tools":[{"type":"function","n":1.0}]}"#,
    r#"{ "type" : "reasoning", "summary" : [ {"type":"summary_text","text":"s"} ], "content":[{"type":"reasoning_text","text":"r","n":1e400},{"type":"text","text":"t"}] }"#,
    r#"{"type":"local_shell_call","call_id":"c","status":"in_progress","action":{"type":"exec","command":["a"],"timeout_ms":1,"env":{"A":"b"},"new":1e400},"id":null}"#,
    r#"{"type":"function_call","name":"f","arguments":"{\"a\": 1e400}","call_id":"c","namespace":null,"encrypted_function_args":[],"caller":{"type":"program"}}"#,
    r#"{"type":"function_call","name":"f","arguments":"not json"}"#,
    r#"{"type":"tool_search_call","call_id":"c","status":"completed","execution":"client","arguments":{"query":"q","limit":12345678901234567890123}}"#,
    r#"{"type":"function_call_output","call_id":"c","name":"n","namespace":"ns","output":[{"type":"input_image","image_url":"u","detail":null,"n":1e400}]}"#,
    r#"{"type":"custom_tool_call","status":"completed","call_id":"c","name":"f","namespace":"ns","input":"*** Begin Patch"}"#,
    r#"{"type":"custom_tool_call_output","call_id":"c","name":null,"output":"t"}"#,
    r#"{"type":"tool_search_output","status":"completed","call_id":null,"execution":"server","tools":[{"type":"function"}]}"#,
    r#"{"type":"web_search_call","status":"searching","action":{"type":"search","query":"","sources":[1e400]},"call_id":""}"#,
    r#"{"type":"web_search_call","action":{"type":"levitate","n":1E400}}"#,
    r#"{"type":"image_generation_call","status":"generating","revised_prompt":"p","result":null,"quality":"low"}"#,
    r#"{"type":"compaction_summary","encrypted_content":"g"}"#,
    r#"{"type":"context_compaction","encrypted_content":null}"#,
    r#"{"type":"compaction_trigger","x":null}"#,
    r#"{"type":"configuration_update","reasoning":{"effort":"high"},"internal_chat_message_metadata_passthrough":{"turn_id":"t","create_time":1.50}}"#,
    r#"{"type":"ghost_snapshot","ghost_commit":{"id":"x"}}"#,
];

#[test]
fn theirs_go_back_byte_for_byte() {
    for json in AS_THEY_CAME {
        let item = ResponseItem::parse(json).unwrap();
        assert_eq!(item.warning(), None, "{json}");
        assert!(!matches!(item.kind(), ItemKind::Unknown(_)), "{json}");
        assert_eq!(item.raw_json(), json);
        assert_eq!(serde_json::to_string(&item).unwrap(), json);
        assert_eq!(serde_json::to_string(std::slice::from_ref(&item)).unwrap(), format!("[{json}]"));
        let read: ResponseItem = serde_json::from_str(json).unwrap();
        assert_eq!(read, item);
        assert_eq!(serde_json::to_string(&read).unwrap(), json);
    }
}

#[test]
fn members_are_read() {
    let kind = |json: &str| ResponseItem::parse(json).unwrap().into_kind();
    let ItemKind::Message(message) = kind(AS_THEY_CAME[0]) else { panic!() };
    assert_eq!((message.role.as_str(), message.text().as_str()), ("assistant", "t"));
    assert_eq!((message.id.as_deref(), message.phase), (Some("msg_1"), Some(MessagePhase::FinalAnswer)));
    let ItemKind::Message(message) = kind(AS_THEY_CAME[1]) else { panic!() };
    assert_eq!(message.phase, Some(MessagePhase::Other("some_new_phase".into())));
    let ItemKind::FunctionCall(call) = kind(AS_THEY_CAME[6]) else { panic!() };
    assert_eq!(call.arguments, r#"{"a": 1e400}"#);
    assert_eq!(call.encrypted_function_args, Some(Vec::new()), "empty is not absent");
    assert_eq!(call.namespace, None);
    let ItemKind::FunctionCall(call) = kind(AS_THEY_CAME[7]) else { panic!() };
    assert_eq!((call.call_id, call.encrypted_function_args), (None, None));
    let ItemKind::ToolSearchCall(call) = kind(AS_THEY_CAME[8]) else { panic!() };
    assert_eq!(call.arguments.get(), r#"{"query":"q","limit":12345678901234567890123}"#);
    let ItemKind::FunctionCallOutput(output) = kind(AS_THEY_CAME[9]) else { panic!() };
    assert_eq!(
        output.output,
        FunctionCallOutputPayload::items(vec![FunctionCallOutputContentItem::InputImage {
            image_url: Some("u".into()),
            file_id: None,
            detail: None,
        }])
    );
    let ItemKind::WebSearchCall(call) = kind(AS_THEY_CAME[13]) else { panic!() };
    assert_eq!(call.action, Some(WebSearchAction::Search { query: Some(String::new()), queries: None }));
    let ItemKind::ConfigurationUpdate(update) = kind(AS_THEY_CAME[19]) else { panic!() };
    assert_eq!(update.passthrough.unwrap().get(), r#"{"turn_id":"t","create_time":1.50}"#);
}

#[test]
fn web_search_actions_go_there_and_back() {
    let action = |json: &str| serde_json::from_str::<WebSearchAction>(json).unwrap();
    for (json, expected) in [
        (r#"{"type":"search"}"#, WebSearchAction::Search { query: None, queries: None }),
        (
            r#"{"type":"search","query":"q","queries":["a"]}"#,
            WebSearchAction::Search { query: Some("q".into()), queries: Some(vec!["a".into()]) },
        ),
        (r#"{"type":"open_page","url":"u"}"#, WebSearchAction::OpenPage { url: Some("u".into()) }),
        (
            r#"{"type":"find_in_page","url":"u","pattern":"p"}"#,
            WebSearchAction::FindInPage { url: Some("u".into()), pattern: Some("p".into()) },
        ),
        (
            r#"{"type":"x","n":1e400}"#,
            WebSearchAction::Other(RawJson::parse(r#"{"type":"x","n":1e400}"#).unwrap()),
        ),
        (
            r#"{"type":"search","query":5}"#,
            WebSearchAction::Other(json!({"type": "search", "query": 5}).into()),
        ),
    ] {
        assert_eq!(action(json), expected);
        assert_eq!(serde_json::to_string(&expected).unwrap(), json);
    }
}

#[test]
fn reasoning_content_is_left_out_only_when_it_holds_reasoning_text() {
    let text = || ReasoningContent::Text { text: "t".into() };
    let thought = || ReasoningContent::ReasoningText { text: "r".into() };
    for (content, written) in [
        (None, Some(json!(null))),
        (Some(vec![]), Some(json!([]))),
        (Some(vec![text()]), Some(json!([{"type": "text", "text": "t"}]))),
        (Some(vec![thought()]), None),
        (Some(vec![text(), thought()]), None),
    ] {
        let item = ResponseItem::new(ItemKind::Reasoning(Reasoning { content, ..Default::default() }));
        let json = serde_json::to_value(&item).unwrap();
        assert_eq!(json.get("content"), written.as_ref());
        assert_eq!(json["encrypted_content"], Value::Null);
    }
}

#[test]
fn unknown_kinds_are_kept() {
    let json = r#"{"type":"brand_new_item","id":"x_1","call_id":"c","foo":[1e400,"\ud83d"]}"#;
    let item = ResponseItem::parse(json).unwrap();
    let ItemKind::Unknown(unknown) = item.kind() else { panic!("known: {item:?}") };
    assert_eq!((unknown.tag.as_str(), unknown.reason.as_deref()), ("brand_new_item", None));
    assert_eq!((item.id(), item.call_id(), item.tag()), (Some("x_1"), Some("c"), "brand_new_item"));
    assert_eq!(item.warning(), None);
    assert_eq!(serde_json::to_string(&item).unwrap(), json);
    let again = ResponseItem::new(item.clone().into_kind());
    assert_eq!(serde_json::to_string(&again).unwrap(), json);
    assert_eq!(again, item);
}

#[test]
fn misfits_are_kept_with_a_warning() {
    for (json, tag, reason) in [
        (
            r#"{"type":"function_call","id":"fc_1","call_id":"c","arguments":"{}"}"#,
            "function_call",
            "missing field `name`",
        ),
        (
            r#"{"type":"function_call","name":"f","arguments":{"a":1},"call_id":"c","id":"fc_1"}"#,
            "function_call",
            "invalid type: map, expected a string",
        ),
        (
            r#"{"type":"message","role":"assistant","content":[{"type":"hologram"}],"id":"fc_1","call_id":"c"}"#,
            "message",
            "unknown variant `hologram`",
        ),
        (
            r#"{"type":"custom_tool_call_output","output":5,"call_id":"c","id":"fc_1"}"#,
            "custom_tool_call_output",
            "expected a string or a list of content items",
        ),
        // Legal JSON, but no text: the item goes back as it came, and is not acted on.
        (
            r#"{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"\ud83d"}"#,
            "function_call",
            "unexpected end of hex escape",
        ),
    ] {
        let item = ResponseItem::parse(json).unwrap();
        assert!(matches!(item.kind(), ItemKind::Unknown(_)), "{json}");
        let warning = item.warning().unwrap();
        assert!(warning.starts_with(&format!("a `{tag}` item whose members don't fit: ")), "{warning}");
        assert!(warning.contains(reason), "{warning}");
        assert_eq!((item.tag(), item.call_id(), item.id()), (tag, Some("c"), Some("fc_1")));
        assert_eq!(serde_json::to_string(&item).unwrap(), json);
    }
}

#[test]
fn ids_that_are_no_strings_are_none() {
    let item = ResponseItem::parse(r#"{"type":"x","id":5,"call_id":{}}"#).unwrap();
    assert_eq!((item.id(), item.call_id()), (None, None));
}

#[test]
fn what_has_no_type_is_no_item() {
    for json in ["5", "[]", "{}", r#"{"type":5}"#, r#"{"type":""}"#] {
        assert!(matches!(ResponseItem::parse(json), Err(ItemError::NoType)), "{json}");
        let item = ResponseItem::from_raw(RawValue::from_string(json.into()).unwrap());
        assert_eq!((item.tag(), item.raw_json().as_ref()), ("", json));
        assert!(item.warning().is_some() || json.contains("\"\""));
    }
    assert!(matches!(ResponseItem::parse("{"), Err(ItemError::NotJson(_))));
}

#[test]
fn an_item_lies_on_one_line() {
    let item = ResponseItem::parse("{\"type\":\"x\",\n\"a\":\r\n1}").unwrap();
    assert_eq!(item.raw_json(), r#"{"type":"x", "a":  1}"#);
}

#[test]
fn messages_are_made_of_one_text() {
    let json = |role| serde_json::to_value(ResponseItem::message(role, "t")).unwrap()["content"].take();
    assert_eq!(json("assistant"), json!([{"type": "output_text", "text": "t"}]));
    for role in ["user", "developer", "system"] {
        assert_eq!(json(role), json!([{"type": "input_text", "text": "t"}]));
    }
}

#[test]
fn a_changed_item_is_ours() {
    let item = ResponseItem::parse(r#"{"type":"message","role":"user","content":[],"x":1}"#).unwrap();
    let again = ResponseItem::new(item.clone().into_kind());
    assert_eq!(again.raw_json(), r#"{"type":"message","role":"user","content":[]}"#);
    assert_ne!(again, item, "the JSON differs");
}

#[test]
fn equality_is_by_meaning() {
    let item = |json| ResponseItem::parse(json).unwrap();
    assert_eq!(
        item(r#"{"type":"message","role":"user","content":[]}"#),
        item(r#"{"role":"user", "content":[], "type":"message"}"#)
    );
    assert_eq!(ResponseItem::message("user", "t"), ResponseItem::message("user", "t"));
    assert_ne!(ResponseItem::message("user", "t"), ResponseItem::message("user", "u"));
}

#[test]
fn call_ids_are_found() {
    for (kind, json) in bare() {
        let expected = if json.contains(r#""call_id":"c""#) { Some("c") } else { None };
        assert_eq!(ResponseItem::new(kind).call_id(), expected, "{json}");
    }
}

#[test]
fn two_kinds_stay_out_of_the_rollout() {
    for (kind, _) in bare() {
        let item = ResponseItem::new(kind);
        let left_out = matches!(item.tag(), "additional_tools" | "compaction_trigger");
        assert_eq!(item.is_recorded(), !left_out, "{}", item.tag());
    }
    assert!(ResponseItem::parse(r#"{"type":"new"}"#).unwrap().is_recorded());
}

#[test]
fn values_hold_items_too() {
    let json = json!({"type": "message", "role": "user", "content": [], "x": null});
    let item: ResponseItem = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(item.raw_json(), json.to_string());
    assert_eq!(serde_json::to_value(&item).unwrap(), json);
}
