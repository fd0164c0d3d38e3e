use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::stdio::lines::Line;

fn pending(methods: &[(i64, &str)]) -> Pending {
    let mut pending = Pending::default();
    for (id, method) in methods {
        pending.sent(RequestId::Number(*id), method);
    }
    pending
}

/// What a line brings, as JSON.
fn read(line: &str, pending: &mut Pending) -> Vec<Value> {
    let received = crate::stdio::wire::receive(Line::Whole(line.into()), pending).into_iter();
    received
        .map(|received| match received {
            Received::Message(message) => serde_json::to_value(message).expect("JSON"),
            Received::Answer(answer) => json!({ "answer": answer }),
        })
        .collect()
}

fn deep(levels: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
}

fn failed(id: i64, why: &str) -> Value {
    let message = format!("the answer cannot be read: {why}");
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": message}})
}

#[test]
fn the_call_is_told_what_is_wrong_with_its_answer() {
    let rows = [
        ("NaN", r#"expected value at line 1 column 60, in `tructuredContent":{"n":NaN}}}`"#),
        ("1e999", r#"number out of range at line 1 column 64, in `turedContent":{"n":1e999}}}`"#),
    ];
    for (number, why) in rows {
        let line = format!(r#"{{"jsonrpc":"2.0","id":4,"result":{{"structuredContent":{{"n":{number}}}}}}}"#);
        let mut two = pending(&[(3, "tools/call"), (4, "tools/call")]);
        assert_eq!(read(&line, &mut two), [failed(4, why)]);
        assert!(two.forget(&RequestId::Number(3)), "the other one goes on");
    }
}

#[test]
fn depth_hides_no_id_wherever_it_stands() {
    for line in [
        format!(r#"{{"jsonrpc":"2.0","id":4,"result":{}}}"#, deep(200)),
        format!(r#"{{"result":{},"jsonrpc":"2.0","id":"4"}}"#, deep(100_000)),
    ] {
        let found = read(&line, &mut pending(&[(3, "tools/call"), (4, "tools/call")]));
        assert_eq!(found[0]["id"], 4, "{found:?}");
        let message = found[0]["error"]["message"].as_str().expect("a text");
        assert!(message.starts_with("the answer cannot be read: recursion limit exceeded at"), "{message}");
    }
}

#[test]
fn without_an_id_it_is_that_of_the_only_request() {
    let line = r#"{"jsonrpc":"2.0","id":NaN,"result":{}}"#;
    assert_eq!(read(line, &mut pending(&[(3, "tools/call")]))[0]["id"], 3);
    let mut two = pending(&[(3, "tools/call"), (4, "tools/call")]);
    assert_eq!(read(line, &mut two), Vec::<Value>::new());
    assert_eq!(read(r#"{"id":9,"result":NaN}"#, &mut two), Vec::<Value>::new(), "nobody asked");
}

#[test]
fn what_only_looks_like_json_ends_nothing() {
    let mut one = pending(&[(3, "tools/call")]);
    for noise in [r#"{"id":3,"level":NaN}"#, "{id: 3}", r#"result {"id":3"#, "[info] started", "{"] {
        assert_eq!(read(noise, &mut one), Vec::<Value>::new(), "{noise}");
    }
    assert!(one.forget(&RequestId::Number(3)), "nobody has answered");
}

#[test]
fn an_answer_that_is_cut_off_ends_its_call() {
    let found = read(r#"{"jsonrpc":"2.0","id":3,"result":{"tools":["#, &mut pending(&[(3, "tools/list")]));
    let message = found[0]["error"]["message"].as_str().expect("a text");
    assert!(message.starts_with("the answer cannot be read: EOF while parsing a list"), "{message}");
}

#[test]
fn a_list_loses_what_cannot_be_read_and_nothing_else() {
    let schema = deep(200);
    let line = format!(
        r#"{{"id":1,"result":{{"tools":[{{"name":"a"}},{{"name":"b","inputSchema":{schema}}},NaN],"x":1}}}}"#
    );
    let found = read(&line, &mut pending(&[(1, "tools/list")]));
    let tools = json!([{"name": "a"}, {"name": "b", "inputSchema": false}, false]);
    assert_eq!(found, [json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools, "x": 1}})]);
}

#[test]
fn a_batch_loses_one_message() {
    let line = r#"[{"id":1,"result":{}},{"id":2,"result":NaN}]"#;
    let found = read(line, &mut pending(&[(1, "tools/call"), (2, "tools/call")]));
    assert_eq!(found[0], json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert_eq!(found[1], failed(2, r#"expected value at line 1 column 18, in `{"id":2,"result":NaN}`"#));
}

#[test]
fn a_request_of_the_server_is_answered_and_a_notice_is_not() {
    let found = read(r#"{"id":"s1","method":"roots/list","params":NaN}"#, &mut pending(&[(1, "tools/call")]));
    assert_eq!(found[0]["answer"]["id"], "s1");
    assert_eq!(found[0]["answer"]["error"]["code"], -32602);
    let notice = r#"{"method":"notifications/progress","params":NaN}"#;
    let mut one = pending(&[(1, "tools/call")]);
    assert_eq!(read(notice, &mut one), Vec::<Value>::new());
    assert!(one.forget(&RequestId::Number(1)), "a notice answers nothing");
}

#[test]
fn the_place_is_found_between_characters() {
    assert_eq!(place("éé", 1), ", in `éé`");
    assert_eq!(place("", 5), ", in ``");
    let long = format!("{}|{}", "b".repeat(40), "c".repeat(40));
    assert_eq!(place(&long, 40), format!(", in `{}|{}`", "b".repeat(24), "c".repeat(7)));
}
