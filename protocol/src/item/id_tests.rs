use super::*;

/// runtime.md D1.4.
const PREFIXES: [(&str, &str); 14] = [
    ("msg", r#"{"type":"message","role":"user","content":[]}"#),
    ("amsg", r#"{"type":"agent_message","author":"a","recipient":"b","content":[]}"#),
    ("rs", r#"{"type":"reasoning","summary":[]}"#),
    ("lsh", r#"{"type":"local_shell_call","status":"completed","action":{"type":"exec","command":[]}}"#),
    ("fc", r#"{"type":"function_call","name":"f","arguments":"","call_id":"c"}"#),
    ("fco", r#"{"type":"function_call_output","call_id":"c","output":""}"#),
    ("ctc", r#"{"type":"custom_tool_call","name":"f","input":"","call_id":"c"}"#),
    ("ctco", r#"{"type":"custom_tool_call_output","call_id":"c","output":""}"#),
    ("tsc", r#"{"type":"tool_search_call","execution":"client","arguments":{}}"#),
    ("tso", r#"{"type":"tool_search_output","status":"completed","execution":"client","tools":[]}"#),
    ("ws", r#"{"type":"web_search_call"}"#),
    ("ig", r#"{"type":"image_generation_call","status":"completed","result":""}"#),
    ("cmp", r#"{"type":"compaction","encrypted_content":""}"#),
    ("at", r#"{"type":"additional_tools","role":"r","tools":[]}"#),
];

fn assert_fresh(id: &str, prefix: &str) {
    let uuid = id.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_')).unwrap();
    assert_eq!(Uuid::parse_str(uuid).unwrap().get_version_num(), 7);
    assert_eq!(uuid, Uuid::parse_str(uuid).unwrap().to_string());
}

#[test]
fn an_item_that_came_gets_its_id_in_front() {
    for (prefix, json) in PREFIXES {
        let item = ResponseItem::parse(json).unwrap().with_id_if_absent();
        let id = item.id().unwrap().to_owned();
        assert_fresh(&id, prefix);
        assert_eq!(item.raw_json(), format!(r#"{{"id":"{id}",{}"#, json.strip_prefix('{').unwrap()));
        assert_eq!(ResponseItem::parse(&item.raw_json()).unwrap(), item);
    }
}

#[test]
fn an_item_of_ours_gets_one_too() {
    for (prefix, json) in PREFIXES {
        let item = ResponseItem::new(ResponseItem::parse(json).unwrap().into_kind()).with_id_if_absent();
        let id = item.id().unwrap().to_owned();
        assert_fresh(&id, prefix);
        let written: serde_json::Value = serde_json::from_str(&item.raw_json()).unwrap();
        assert_eq!(written["id"], id);
    }
}

#[test]
fn all_else_in_the_text_is_untouched() {
    let json = r#"{ "type":"message", "role":"user","content":[ ],"x":1e400,"y":null }"#;
    let item = ResponseItem::parse(json).unwrap().with_id_if_absent();
    let id = item.id().unwrap().to_owned();
    assert_eq!(
        item.raw_json(),
        format!(r#"{{"id":"{id}", "type":"message", "role":"user","content":[ ],"x":1e400,"y":null }}"#)
    );
}

#[test]
fn a_null_gives_its_place() {
    let json = r#"{"type":"message","n":null, "id" : null ,"role":"user","content":[]}"#;
    let item = ResponseItem::parse(json).unwrap().with_id_if_absent();
    let id = item.id().unwrap().to_owned();
    assert_eq!(
        item.raw_json(),
        format!(r#"{{"type":"message","n":null, "id" : "{id}" ,"role":"user","content":[]}}"#)
    );
}

#[test]
fn an_id_stays() {
    let json = r#"{"type":"message","id":"mine","role":"user","content":[]}"#;
    assert_eq!(ResponseItem::parse(json).unwrap().with_id_if_absent().raw_json(), json);
}

#[test]
fn some_kinds_get_none() {
    for json in [
        r#"{"type":"brand_new_item"}"#,
        r#"{"type":"function_call"}"#,
        r#"{"type":"context_compaction"}"#,
        r#"{"type":"compaction_trigger"}"#,
        r#"{"type":"configuration_update","reasoning":{}}"#,
        r#"{"type":"ghost_snapshot","ghost_commit":{}}"#,
    ] {
        let item = ResponseItem::parse(json).unwrap().with_id_if_absent();
        assert_eq!((item.id(), item.raw_json().as_ref()), (None, json));
    }
}

#[test]
fn other_clones_keep_their_own() {
    let item = ResponseItem::message("user", "t");
    let with_id = item.clone().with_id_if_absent();
    assert_eq!(item.id(), None);
    assert!(with_id.id().is_some());
}
