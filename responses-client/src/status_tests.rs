use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

const URL: &str = "http://h/v1/responses";

fn failed(status: u16, body: &str) -> Failed {
    let status = StatusCode::from_u16(status).unwrap();
    Refusal { status, url: URL, asked: None, target: None, env_key: None, has_key: true, body }.failed()
}

fn coded(status: u16, code: &str, message: &str) -> Failed {
    failed(status, &json!({"error": {"code": code, "message": message}}).to_string())
}

fn last(error: ModelError) -> Failed {
    Failed { error, again: false }
}

#[test]
fn a_bad_request_gives_its_raw_body() {
    let body = r#"{"error": {"message": "no", "code": "x"}}"#;
    assert_eq!(failed(400, body), last(ModelError::fatal(ModelErrorKind::InvalidRequest, body)));
    assert_eq!(
        failed(400, " \n").error.message,
        "http://h/v1/responses refused the request without saying why (400 Bad Request)."
    );
    // The codes of streams that the contract does not name for this status.
    assert_eq!(coded(400, "slow_down", "m").error.kind, ModelErrorKind::InvalidRequest);
}

#[test]
fn a_bad_image_is_told_apart() {
    let refused =
        coded(400, "x", "The image data you provided does not represent a valid image. Please check.");
    assert_eq!((refused.error.kind, refused.error.retryable), (ModelErrorKind::InvalidImage, false));
}

#[test]
fn policies_are_final() {
    for (status, code) in [
        (400, "cyber_policy"),
        (400, "misalignment_policy_violation"),
        (403, "misalignment_policy_violation"),
    ] {
        assert_eq!(coded(status, code, "m"), last(ModelError::fatal(ModelErrorKind::Policy, "m")));
    }
    assert_eq!(
        coded(403, "misalignment_policy_violation", "").error.message,
        "This request was blocked due to a misalignment policy violation."
    );
    assert_eq!(
        coded(400, "cyber_policy", "").error.message,
        "This request has been flagged for possible cybersecurity risk."
    );
}

#[test]
fn a_long_conversation_is_told_by_its_status_too() {
    let refused = coded(400, "context_length_exceeded", "too long");
    assert_eq!(refused, last(ModelError::fatal(ModelErrorKind::ContextWindowExceeded, "too long")));
}

#[test]
fn a_rate_limit_is_tried_again_and_final_after_that() {
    let failed = failed(429, "slow");
    assert!(failed.again && !failed.error.retryable);
    assert_eq!(failed.error.message, "429 Too Many Requests from http://h/v1/responses: slow");
    assert_eq!(failed.error.delay, None);
    let said = coded(429, "rate_limit_exceeded", "Try again in 2s.");
    assert_eq!((said.again, said.error.delay), (true, Some(Duration::from_secs(2))));
}

#[test]
fn a_header_counts_more_than_words() {
    let body = json!({"error": {"code": "rate_limit_exceeded", "message": "try again in 2s"}}).to_string();
    let refusal = Refusal {
        status: StatusCode::TOO_MANY_REQUESTS,
        url: URL,
        asked: Some(Duration::from_secs(5)),
        target: None,
        env_key: None,
        has_key: true,
        body: &body,
    };
    assert_eq!(refusal.failed().error.delay, Some(Duration::from_secs(5)));
}

#[test]
fn a_quota_is_final_under_code_and_type() {
    use ModelErrorKind::{QuotaExceeded, UsageNotIncluded};
    for (name, kind) in [
        ("usage_limit_reached", QuotaExceeded),
        ("insufficient_quota", QuotaExceeded),
        ("usage_not_included", UsageNotIncluded),
    ] {
        assert_eq!(coded(429, name, "m"), last(ModelError::fatal(kind, "m")));
        let body = json!({"error": {"type": name, "message": "m", "code": null}}).to_string();
        assert_eq!(failed(429, &body), last(ModelError::fatal(kind, "m")));
    }
}

#[test]
fn overload_is_final_only_when_the_body_says_it() {
    for code in ["server_is_overloaded", "slow_down"] {
        assert_eq!(coded(503, code, "m"), last(ModelError::fatal(ModelErrorKind::Overloaded, "m")));
    }
    let other = coded(503, "insufficient_quota", "m");
    let message = "unexpected status 503 Service Unavailable from http://h/v1/responses: m";
    assert_eq!(
        other,
        Failed { error: ModelError::retryable(ModelErrorKind::Connection, message), again: true }
    );
}

#[test]
fn a_failing_server_is_tried_again() {
    let message = "unexpected status 500 Internal Server Error from http://h/v1/responses";
    assert_eq!(
        failed(500, ""),
        Failed { error: ModelError::retryable(ModelErrorKind::Server, message), again: true }
    );
    assert!(failed(502, "").again);
}

#[test]
fn other_statuses_are_the_turn_loops_to_retry() {
    for status in [402, 403, 404, 418] {
        let failed = failed(status, "<html>");
        assert!(!failed.again && failed.error.retryable, "{status}");
        assert_eq!(failed.error.kind, ModelErrorKind::Connection, "{status}");
    }
    assert_eq!(
        failed(404, "<html>").error.message,
        "unexpected status 404 Not Found from http://h/v1/responses: <html>"
    );
}

#[test]
fn a_redirect_says_where_it_would_lead() {
    let refusal = Refusal {
        status: StatusCode::FOUND,
        url: URL,
        asked: None,
        target: Some("http://other".into()),
        env_key: None,
        has_key: true,
        body: "ignored",
    };
    let failed = refusal.failed();
    assert_eq!(
        failed.error.message,
        "unexpected status 302 Found from http://h/v1/responses: a redirect to http://other is not followed; \
         check base_url"
    );
    assert!(!failed.again);
}

#[test]
fn a_refused_key_is_told_by_its_name() {
    for (has_key, env_key, hint) in [
        (true, Some("K"), "the key from K was refused: m"),
        (true, None, "the key was refused: m"),
        (false, Some("K"), "it wants a key, and K is not set: m"),
        (false, None, "it wants a key, and none is configured (env_key): m"),
    ] {
        let body = r#"{"error": "m"}"#;
        let refusal = Refusal {
            status: StatusCode::UNAUTHORIZED,
            url: URL,
            asked: None,
            target: None,
            env_key,
            has_key,
            body,
        };
        let message = format!("401 Unauthorized from http://h/v1/responses: {hint}");
        assert_eq!(refusal.failed(), last(ModelError::fatal(ModelErrorKind::Authentication, message)));
    }
}

#[test]
fn words_are_looked_for_where_servers_put_them() {
    for (body, shown) in [
        (r#"{"error": {"message": "a"}}"#, ": a"),
        (r#"{"message": "b"}"#, ": b"),
        (r#"{"error": "c"}"#, ": c"),
        (r#"{"detail": "d"}"#, r#": {"detail": "d"}"#),
        (r#"{"error": null, "message": "e"}"#, ": e"),
        ("  plain \n", ": plain"),
        ("", ""),
    ] {
        let expected = format!("unexpected status 418 I'm a teapot from {URL}{shown}");
        assert_eq!(failed(418, body).error.message, expected);
    }
}

#[test]
fn of_long_words_the_beginning_is_shown() {
    let prefix = format!("unexpected status 418 I'm a teapot from {URL}: ");
    let fits = "é".repeat(SHOWN_CHARACTERS);
    assert_eq!(failed(418, &fits).error.message, format!("{prefix}{fits}"));
    assert_eq!(failed(418, &format!("{fits}x")).error.message, format!("{prefix}{fits}…"));
}
