//! What is sent, and to whom.

use pretty_assertions::assert_eq;
use tenon_responses_client::ProxySettings;
use tenon_tools::{JsonSchema, ToolSpec};

use super::server::Gate;
use super::*;

#[tokio::test]
async fn a_request_is_what_the_api_wants() {
    let server = server([completed()]).await;
    let mut prompt = prompt();
    prompt.input.push(Arc::new(serde_json::from_str(r#"{"type":"brand_new","n":1.50}"#).unwrap()));
    let parameters: JsonSchema = serde_json::from_value(json!({"type": "object", "properties": {}})).unwrap();
    prompt.tools = Arc::new(vec![ToolSpec::function("look", "Looks.", parameters)]);
    let client = ResponsesClient::new(&config(&server)).unwrap();
    let mut stream = client.stream(prompt, CancellationToken::new()).await.unwrap();
    assert_eq!(all(&mut stream).await.1, None);

    let request = server.requests().remove(0);
    assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/v1/responses"));
    for (name, value) in [
        ("host", server.address().to_string()),
        ("authorization", format!("Bearer {KEY}")),
        ("content-type", "application/json".into()),
        ("accept", "text/event-stream".into()),
        ("user-agent", concat!("tenon/", env!("CARGO_PKG_VERSION")).into()),
        ("content-length", request.body.len().to_string()),
    ] {
        assert_eq!(request.header(name), Some(value.as_str()), "{name}");
    }
    assert_eq!(request.headers.len(), 6, "nothing else is told: {:?}", request.headers);
    assert_eq!(
        request.json(),
        json!({
            "model": "a-model",
            "instructions": "Be brief.",
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
                {"type": "brand_new", "n": 1.5},
            ],
            "tools": [{
                "type": "function", "name": "look", "description": "Looks.", "strict": false,
                "parameters": {"type": "object", "properties": {}},
            }],
            "tool_choice": "auto",
            "parallel_tool_calls": true,
            "store": false,
            "stream": true,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": "a-session",
        })
    );
    let text = String::from_utf8(request.body).unwrap();
    assert!(text.contains(r#"{"type":"brand_new","n":1.50}"#), "an item goes back as it came: {text}");
    assert!(server.others().is_empty(), "nothing else is asked");
}

#[tokio::test]
async fn parameters_and_headers_are_added() {
    let server = server([completed()]).await;
    let mut config = config(&server);
    config.query_params.insert("api-version".into(), "a b".into());
    config.headers.insert("X-Extra".into(), "yes".into());
    config.api_key = None;
    assert_eq!(whole(&config).await.1, None);
    let request = server.requests().remove(0);
    assert_eq!(request.target, "/v1/responses?api-version=a+b");
    assert_eq!(request.header("x-extra"), Some("yes"));
    assert_eq!(request.header("authorization"), None);
}

#[tokio::test]
async fn a_connection_serves_the_next_request() {
    let stream = || Answer::chunked([Step::completed("r")]);
    let server = server([stream(), stream(), stream()]).await;
    let client = ResponsesClient::new(&config(&server)).unwrap();
    for _ in 0..3 {
        let mut stream = client.stream(prompt(), CancellationToken::new()).await.unwrap();
        // As a reader does that knows the last event.
        assert!(matches!(next(&mut stream).await, Some(Ok(ResponseEvent::Completed { .. }))));
    }
    assert_eq!(server.counts().requests, 3);
    assert_eq!(server.counts().connections, 1);
}

#[tokio::test]
async fn the_end_of_the_body_may_come_a_moment_after_the_last_event() {
    let gate = Gate::new();
    let first = Answer::chunked([Step::completed("r"), Step::Wait(gate.clone())]);
    let server = server([first, Answer::chunked([Step::completed("r")])]).await;
    let client = ResponsesClient::new(&config(&server)).unwrap();
    let mut stream = client.stream(prompt(), CancellationToken::new()).await.unwrap();
    let (last, ()) = tokio::join!(next(&mut stream), async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        gate.open();
    });
    assert!(matches!(last, Some(Ok(ResponseEvent::Completed { .. }))));
    drop(stream);
    let mut stream = client.stream(prompt(), CancellationToken::new()).await.unwrap();
    assert_eq!(all(&mut stream).await.1, None);
    assert_eq!(server.counts().connections, 1);
}

#[tokio::test]
async fn loopback_is_dialled_directly() {
    let (server, proxy) = (server([completed()]).await, super::server([]).await);
    let mut config = config(&server);
    let address = format!("http://{}", proxy.address());
    config.proxy = ProxySettings::from_environment(|_| Some(address.clone()));
    assert_eq!(whole(&config).await.1, None);
    assert_eq!(proxy.counts().connections, 0);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let other = server([]).await;
    for status in [301, 302, 303, 307, 308] {
        let location = format!("{}/responses?code=1", other.base_url());
        let server = server([Answer::status(status, "").with_header("location", &location)]).await;
        let error = refused(&config(&server)).await;
        let end = format!(": a redirect to http://{} is not followed; check base_url", other.address());
        assert!(error.message.ends_with(&end), "{error}");
        assert_eq!(server.counts().requests, 1);
    }
    assert_eq!(other.counts().connections, 0);
}

/// A server without TLS gets no more than the greeting of one with it: no request, no key.
#[tokio::test]
async fn https_never_falls_back_to_http() {
    let server = server([completed()]).await;
    let mut config = config(&server);
    config.base_url = format!("https://{}/v1", server.address());
    // The server takes the greeting for the start of a request, and waits for its end.
    config.idle_timeout = Duration::from_millis(500);
    // A machine may have no roots; then there is no client.
    if let Ok(client) = ResponsesClient::new(&config) {
        let error = client.stream(prompt(), CancellationToken::new()).await.map(drop).unwrap_err();
        let message = format!("no answer from https://{}/v1/responses within 500ms", server.address());
        assert_eq!(error.message, message);
    }
    assert!(server.requests().is_empty() && server.others().is_empty());
}
