//! Which failures are tried again, how often and when.

use std::time::Instant;

use pretty_assertions::assert_eq;
use tenon_tools::ModelErrorKind;

use super::*;

fn with_retries(server: &ScriptedServer, retries: u32) -> ProviderConfig {
    let mut config = config(server);
    config.request_max_retries = retries;
    config
}

fn at_once(status: u16, body: &str) -> Answer {
    Answer::status(status, body).with_header("retry-after", "0")
}

#[tokio::test]
async fn a_passing_failure_is_tried_again_with_the_same_request() {
    let server = server([Answer::status(500, "oops"), completed()]).await;
    let begin = Instant::now();
    assert_eq!(whole(&with_retries(&server, 4)).await.1, None);
    assert!(begin.elapsed() >= Duration::from_millis(180), "the first back-off is 200 ms less a tenth");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0], requests[1]);
}

#[tokio::test]
async fn every_kind_of_passing_failure_is_tried_again() {
    let server = server([
        Answer::HangUp,
        at_once(429, "{}"),
        at_once(500, ""),
        at_once(502, "<html>"),
        at_once(503, r#"{"error": {"code": "other"}}"#),
        completed(),
    ])
    .await;
    assert_eq!(whole(&with_retries(&server, 5)).await.1, None);
    assert_eq!(server.counts().requests, 6);
}

#[tokio::test]
async fn there_are_as_many_retries_as_configured() {
    for retries in [0, 2] {
        let server = server((0..4).map(|n| at_once(500, &format!("failure {n}")))).await;
        let error = refused(&with_retries(&server, retries)).await;
        let url = format!("{}/responses", server.base_url());
        let message = format!("unexpected status 500 Internal Server Error from {url}: failure {retries}");
        let mut expected = ModelError::retryable(ModelErrorKind::Server, message);
        expected.delay = Some(Duration::ZERO);
        assert_eq!(error, expected);
        assert_eq!(server.counts().requests, retries as usize + 1);
    }
}

#[tokio::test]
async fn a_rate_limit_waits_as_long_as_the_server_asks() {
    let later = Answer::status(429, "").with_header("retry-after-ms", "300");
    let past = Answer::status(429, "").with_header("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT");
    let server = server([later, past, completed()]).await;
    let begin = Instant::now();
    assert_eq!(whole(&with_retries(&server, 2)).await.1, None);
    assert!(begin.elapsed() >= Duration::from_millis(300));
    assert_eq!(server.counts().requests, 3);
}

#[tokio::test]
async fn a_wait_beyond_all_patience_is_told_instead() {
    let long = Answer::status(429, "tomorrow").with_header("retry-after", "601");
    let server = server([long, completed()]).await;
    let error = refused(&with_retries(&server, 4)).await;
    assert_eq!((error.retryable, error.delay), (false, Some(Duration::from_secs(601))));
    assert_eq!(server.counts().requests, 1);
}

#[tokio::test]
async fn what_is_final_is_not_tried_again() {
    for (status, body, kind) in [
        (400, r#"{"error": {"message": "no"}}"#, ModelErrorKind::InvalidRequest),
        (401, "", ModelErrorKind::Authentication),
        (404, "", ModelErrorKind::Connection),
        (429, r#"{"error": {"type": "usage_limit_reached"}}"#, ModelErrorKind::QuotaExceeded),
        (429, r#"{"error": {"code": "insufficient_quota"}}"#, ModelErrorKind::QuotaExceeded),
        (429, r#"{"error": {"type": "usage_not_included"}}"#, ModelErrorKind::UsageNotIncluded),
        (503, r#"{"error": {"code": "server_is_overloaded"}}"#, ModelErrorKind::Overloaded),
    ] {
        let server = server([at_once(status, body), completed()]).await;
        assert_eq!(refused(&with_retries(&server, 4)).await.kind, kind, "{status} {body}");
        assert_eq!(server.counts().requests, 1, "{status} {body}");
    }
}

#[tokio::test]
async fn nobody_listening_is_a_connection_error() {
    // Port 1 of this machine: nobody listens there.
    let mut config = ProviderConfig::new("http://127.0.0.1:1/v1");
    config.request_max_retries = 1;
    let begin = Instant::now();
    let error = refused(&config).await;
    let start = "could not reach http://127.0.0.1:1/v1/responses: Connection refused";
    assert!(error.message.starts_with(start), "{error}");
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::Connection, true));
    assert!(begin.elapsed() >= Duration::from_millis(180), "it was tried again");
}

#[tokio::test]
async fn of_an_error_body_the_beginning_is_kept() {
    const LIMIT: usize = 64 * 1024;
    for (length, end) in [(LIMIT, ""), (LIMIT + 1, "… [only the first 65536 bytes are shown]")] {
        let server = server([Answer::status(400, "x".repeat(length))]).await;
        let error = refused(&config(&server)).await;
        assert_eq!(error.message.len(), LIMIT + end.len());
        assert!(error.message.ends_with(end));
    }
}
