use pretty_assertions::assert_eq;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

const REQUEST: &[u8] = b"POST /v1/responses HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";

async fn connect(server: &ScriptedServer) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    stream
}

async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = Vec::new();
    while !text.ends_with(end.as_bytes()) {
        text.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(text).unwrap()
}

async fn rest(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test]
async fn a_turn_is_three_kinds_of_events() {
    let server = ScriptedServer::start([Answer::Turn(vec![json!({"type": "x"})])]).await.unwrap();
    assert_eq!(
        rest(&mut connect(&server).await).await,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
         event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r0\"}}\n\n\
         event: response.output_item.done\n\
         data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"x\"}}\n\n\
         event: response.completed\n\
         data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r0\",\"usage\":{\
         \"input_tokens\":1,\"input_tokens_details\":null,\"output_tokens\":1,\"output_tokens_details\":null,\
         \"total_tokens\":2}}}\n\n"
    );
}

#[tokio::test]
async fn after_its_script_it_says_done() {
    let server = ScriptedServer::start([]).await.unwrap();
    assert!(rest(&mut connect(&server).await).await.contains(r#""text":"done""#));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_gate_holds_until_it_opens() {
    let gate = Gate::new();
    let steps = [Step::Bytes(b"one.".into()), Step::Wait(gate.clone()), Step::Bytes(b"two".into())];
    let server = ScriptedServer::start([Answer::stream(steps)]).await.unwrap();
    let mut stream = connect(&server).await;
    read_until(&mut stream, "one.").await;
    gate.open();
    assert_eq!(rest(&mut stream).await, "two");
}

#[tokio::test]
async fn a_stall_ends_with_the_peer_and_is_counted() {
    let server = ScriptedServer::start([Answer::stream([Step::Stall]), Answer::Silence]).await.unwrap();
    let mut stream = connect(&server).await;
    read_until(&mut stream, "\r\n\r\n").await;
    drop(stream);
    drop(connect(&server).await);
    server.until(|counts| counts.hang_ups == 2).await;
    assert_eq!(server.counts(), Counts { connections: 2, requests: 2, hang_ups: 2 });
}

#[tokio::test]
async fn chunks_and_whole_answers_keep_the_connection() {
    let answers =
        [Answer::chunked([Step::Bytes(b"abc".into())]), Answer::status(418, "no").with_header("a", "b")];
    let server = ScriptedServer::start(answers).await.unwrap();
    let mut stream = connect(&server).await;
    assert!(read_until(&mut stream, "0\r\n\r\n").await.ends_with("chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
    stream.write_all(REQUEST).await.unwrap();
    let answer = read_until(&mut stream, "no").await;
    assert_eq!(answer, "HTTP/1.1 418 Scripted\r\ncontent-length: 2\r\na: b\r\n\r\nno");
    assert_eq!(server.counts().connections, 1);
}

#[tokio::test]
async fn a_cut_and_a_hang_up_close_without_an_end() {
    let answers = [Answer::chunked([Step::Bytes(b"a".into()), Step::Cut]), Answer::HangUp];
    let server = ScriptedServer::start(answers).await.unwrap();
    assert!(rest(&mut connect(&server).await).await.ends_with("\r\n\r\n1\r\na\r\n"));
    assert_eq!(rest(&mut connect(&server).await).await, "");
}

#[tokio::test]
async fn half_a_body_announces_more_than_it_sends() {
    let server = ScriptedServer::start([Answer::HalfBody { status: 400, body: "ab".into() }]).await.unwrap();
    let mut stream = connect(&server).await;
    assert_eq!(read_until(&mut stream, "ab").await, "HTTP/1.1 400 Scripted\r\ncontent-length: 3\r\n\r\nab");
}

#[tokio::test]
async fn other_requests_are_kept_apart() {
    let server = ScriptedServer::start([]).await.unwrap();
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(b"GET /v1/models HTTP/1.1\r\n\r\n").await.unwrap();
    read_until(&mut stream, "{}").await;
    assert_eq!(server.others()[0].path(), "/v1/models");
    assert!(server.requests().is_empty());
}
