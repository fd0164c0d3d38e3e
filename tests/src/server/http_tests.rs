use super::*;

async fn read(bytes: &[u8]) -> io::Result<Option<RecordedRequest>> {
    read_request(&mut BufReader::new(bytes)).await
}

#[tokio::test]
async fn a_request_is_kept_as_it_came() {
    let bytes =
        b"POST /v1/responses?a=1 HTTP/1.1\r\nContent-Length: 11\r\nX-Two:  b \r\n\r\n{\"input\":[]}rest";
    let request = read(bytes).await.unwrap().unwrap();
    assert_eq!(request.method, "POST");
    assert_eq!(request.target, "/v1/responses?a=1");
    assert_eq!(request.path(), "/v1/responses");
    assert_eq!(request.header("x-two"), Some("b"));
    assert_eq!(request.body, b"{\"input\":[]");
}

#[tokio::test]
async fn a_closed_connection_is_no_request() {
    assert_eq!(read(b"").await.unwrap(), None);
}

#[tokio::test]
async fn a_cut_head_a_cut_body_and_a_wrong_line_are_errors() {
    for bytes in [
        &b"POST / HTTP/1.1\r\nHost: x"[..],
        b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc",
        b"POST / HTTP/1.0\r\n\r\n",
        b"POST / HTTP/1.1\r\nno colon\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
    ] {
        assert!(read(bytes).await.is_err(), "{}", String::from_utf8_lossy(bytes));
    }
}

#[tokio::test]
async fn the_head_is_bounded() {
    let limit = usize::try_from(HEAD_LIMIT).unwrap();
    let start = "GET / HTTP/1.1\r\nX: ";
    let fits = format!("{start}{}\r\n\r\n", "a".repeat(limit - start.len() - 4));
    assert!(read(fits.as_bytes()).await.unwrap().is_some());
    let long = format!("{start}{}\r\n\r\n", "a".repeat(limit - start.len() - 3));
    assert!(read(long.as_bytes()).await.is_err());
}

#[tokio::test]
async fn the_body_is_bounded() {
    let head = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", BODY_LIMIT + 1);
    assert_eq!(read(head.as_bytes()).await.unwrap_err().to_string(), "the request's body is too long");
}

#[tokio::test]
async fn the_input_is_the_history() {
    let body = r#"{"input":[{"type":"x"}]}"#;
    let text = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let request = read(text.as_bytes()).await.unwrap().unwrap();
    assert_eq!(request.input(), vec![serde_json::json!({"type": "x"})]);
}
