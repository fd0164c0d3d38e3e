use pretty_assertions::assert_eq;

use super::*;

fn error(code: &str, message: &str) -> ModelError {
    model_error(&ResponseFailure { code: Some(code.into()), message: message.into() })
}

#[test]
fn codes_that_forbid_a_retry() {
    use ModelErrorKind::*;
    for (code, kind) in [
        ("context_length_exceeded", ContextWindowExceeded),
        ("insufficient_quota", QuotaExceeded),
        ("usage_not_included", UsageNotIncluded),
        ("cyber_policy", Policy),
        ("misalignment_policy_violation", Policy),
        ("invalid_prompt", InvalidRequest),
        ("bio_policy", InvalidRequest),
        ("server_is_overloaded", Overloaded),
        ("slow_down", Overloaded),
    ] {
        assert_eq!(error(code, "their words"), ModelError::fatal(kind, "their words"));
        assert!(!error(code, " ").message.trim().is_empty(), "{code}");
    }
}

#[test]
fn blank_policy_messages_get_these_texts() {
    assert_eq!(
        error("misalignment_policy_violation", "").message,
        "This request was blocked due to a misalignment policy violation."
    );
    assert_eq!(
        error("cyber_policy", " \n").message,
        "This request has been flagged for possible cybersecurity risk."
    );
}

#[test]
fn anything_else_may_be_tried_again() {
    assert_eq!(error("brand_new", "m"), ModelError::retryable(ModelErrorKind::Stream, "m"));
    let nameless = model_error(&ResponseFailure::default());
    assert_eq!(nameless, ModelError::retryable(ModelErrorKind::Stream, NO_REASON));
}

#[test]
fn a_rate_limit_says_how_long() {
    for (text, milliseconds) in [
        ("Rate limit reached. Please try again in 11.054s. Visit ...", 11_054),
        ("please Try Again In 28ms.", 28),
        ("TRY AGAIN IN 35 SECONDS", 35_000),
        ("try again in  1.5 seconds", 1500),
        ("try again in 1 second", 1000),
        ("try again in 0s", 0),
    ] {
        let error = error("rate_limit_exceeded", text);
        assert!(error.retryable);
        assert_eq!(error.delay, Some(Duration::from_millis(milliseconds)), "{text}");
    }
}

#[test]
fn other_words_say_nothing_of_a_delay() {
    for text in [
        "",
        "try again",
        "try again in",
        "try again in 5",
        "try again in soon",
        "try again in 5 moons",
        "try again in 1.2.3s",
        "try again in .s",
    ] {
        assert_eq!(error("rate_limit_exceeded", text).delay, None, "{text}");
    }
    assert_eq!(error("other", "try again in 5s").delay, None);
}

#[test]
fn an_incomplete_response_names_its_reason() {
    assert_eq!(
        incomplete("max_output_tokens"),
        ModelError::retryable(
            ModelErrorKind::Stream,
            "Incomplete response returned, reason: max_output_tokens"
        )
    );
}
