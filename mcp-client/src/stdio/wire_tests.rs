use pretty_assertions::assert_eq;

use super::*;

fn pending(methods: &[(i64, &str)]) -> Pending {
    let mut pending = Pending::default();
    for (id, method) in methods {
        pending.sent(RequestId::Number(*id), method);
    }
    pending
}

/// What lines bring, as JSON.
fn read(lines: &[&[u8]], pending: &mut Pending) -> Vec<Value> {
    let received = lines.iter().flat_map(|line| receive(Line::Whole(line.to_vec()), pending));
    received
        .map(|received| match received {
            Received::Message(message) => serde_json::to_value(message).expect("JSON"),
            Received::Answer(answer) => json!({ "answer": answer }),
        })
        .collect()
}

#[test]
fn noise_is_passed_over() {
    let noise: [&[u8]; 6] = [b"starting...", b"\xff\xfe", b"", b"  ", b"{\"a\":", b"true"];
    let mut pending = pending(&[(1, "tools/list")]);
    assert_eq!(read(&noise, &mut pending), Vec::<Value>::new());
    assert!(pending.forget(&RequestId::Number(1)), "nobody has answered");
}

#[test]
fn an_answer_comes_as_it_was_sent() {
    let line =
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":1}],"zz":{"b":1,"a":18446744073709551615}}}"#;
    assert_eq!(
        read(&[line.as_bytes()], &mut pending(&[(1, "tools/list")])).first().map(Value::to_string),
        Some(line.to_owned())
    );
}

#[test]
fn an_id_may_come_back_as_a_text_and_a_byte_order_mark_before_it() {
    let found = read(&[b"\xef\xbb\xbf{\"id\":\"7\",\"result\":{}}\r"], &mut pending(&[(7, "tools/call")]));
    assert_eq!(found, [json!({"jsonrpc": "2.0", "id": 7, "result": {}})]);
}

#[test]
fn wrong_ids_and_second_answers_bring_nothing() {
    let mut pending = pending(&[(1, "tools/call")]);
    let lines: [&[u8]; 4] = [
        br#"{"id":9,"result":{}}"#,
        br#"{"id":1,"result":{"content":[]}}"#,
        br#"{"id":1,"result":{"content":[1]}}"#,
        br#"{"id":{},"result":{}}"#,
    ];
    assert_eq!(read(&lines, &mut pending), [json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}})]);
}

#[test]
fn an_error_without_an_id_is_that_of_the_only_request() {
    let line: &[u8] = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#;
    let error = json!({"code": -32700, "message": "Parse error"});
    let found = read(&[line], &mut pending(&[(3, "tools/call")]));
    assert_eq!(found, [json!({"jsonrpc": "2.0", "id": 3, "error": error})]);
    let mut two = pending(&[(3, "tools/call"), (4, "tools/call")]);
    assert_eq!(read(&[line], &mut two), Vec::<Value>::new());
}

#[test]
fn errors_and_answers_of_no_shape_end_their_request() {
    let found = read(&[br#"{"id":1,"error":"broken"}"#], &mut pending(&[(1, "tools/call")]));
    assert_eq!(found[0]["error"], json!({"code": -32603, "message": "\"broken\""}));
    let found = read(&[br#"{"id":1,"jsonrpc":"2.0"}"#], &mut pending(&[(1, "tools/call")]));
    assert_eq!(found[0]["error"]["message"], "the answer holds neither result nor error");
}

#[test]
fn half_a_character_is_mended() {
    let found = read(&[br#"{"id":1,"result":{"content":["a\ud83d"]}}"#], &mut pending(&[(1, "tools/call")]));
    assert_eq!(found[0]["result"]["content"], json!(["a\u{fffd}"]));
    let found =
        read(&[b"{\"id\":1,\"result\":{\"content\":[\"a\xff\"]}}"], &mut pending(&[(1, "tools/call")]));
    assert_eq!(found[0]["result"]["content"], json!(["a\u{fffd}"]));
}

#[test]
fn a_batch_is_taken_apart() {
    let line =
        br#"[{"id":1,"result":{}},{"id":2,"result":{}},{"method":"notifications/tools/list_changed"}]"#;
    let found = read(&[line], &mut pending(&[(1, "tools/call"), (2, "tools/call")]));
    assert_eq!(found.len(), 3, "two answers and a notice: {found:?}");
}

#[test]
fn a_request_that_cannot_be_read_is_answered() {
    let line = br#"{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":7}"#;
    let found = read(&[line], &mut pending(&[]));
    let answered = found[0].get("answer").unwrap_or(&found[0]);
    assert_eq!(answered["id"], 5, "it is passed on or answered, with its id: {found:?}");
}

#[test]
fn what_is_too_long_ends_its_request_and_says_so() {
    let too_long = |head: &str, tail: &str, pending: &mut Pending| {
        let line = Line::TooLong { head: head.into(), tail: tail.into(), bytes: 20_000_000 };
        receive(line, pending)
            .into_iter()
            .map(|received| match received {
                Received::Message(message) => serde_json::to_value(message).expect("JSON"),
                Received::Answer(answer) => panic!("{answer}"),
            })
            .collect::<Vec<_>>()
    };
    let two = || pending(&[(3, "tools/call"), (4, "tools/call")]);
    let text = "the answer has 20000000 bytes and may have 16777216 at most: it was dropped";
    let error = |id: i64| json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": text}});
    let head = r#"{"jsonrpc":"2.0","id":4,"result":{"content":[{"id":3"#;
    assert_eq!(too_long(head, "xxx", &mut two()), [error(4)]);
    let tail = r#""x"}]},"jsonrpc":"2.0","id":3}"#;
    assert_eq!(too_long(r#"{"result":{"content":[{"id":4"#, tail, &mut two()), [error(3)]);
    assert_eq!(too_long("{}", r#"{"id":4}]}}"#, &mut two()), Vec::<Value>::new());
    assert_eq!(too_long("xxx", "xxx", &mut pending(&[(3, "tools/call")])), [error(3)]);
}
