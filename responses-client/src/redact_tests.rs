use pretty_assertions::assert_eq;

use super::*;

fn redactor() -> Redactor {
    let mut config = ProviderConfig::new("http://h");
    config.api_key = Some(Secret::new("sk-123456"));
    config.headers.insert("authorization".into(), "Bearer other-secret".into());
    config.headers.insert("x".into(), "short".into());
    config.query_params.insert("api-key".into(), "sk-123456-longer".into());
    config.query_params.insert("api-version".into(), "2025-04-01-preview".into());
    Redactor::new(&config)
}

#[test]
fn every_secret_is_marked() {
    for (text, clean) in [
        ("key sk-123456 and sk-123456", "key [redacted] and [redacted]"),
        ("key sk-123456-longer", "key [redacted]"),
        ("Bearer other-secret", "[redacted]"),
        ("it was other-secret.", "it was [redacted]."),
    ] {
        assert_eq!(redactor().clean(text.into()), clean);
    }
}

#[test]
fn what_is_no_secret_stays() {
    for text in ["short", "api-version 2025-04-01-preview", "sk-12345", ""] {
        assert_eq!(redactor().clean(text.into()), text);
    }
}

#[test]
fn a_secret_has_at_least_eight_bytes() {
    let clean = |key: &str| {
        let mut config = ProviderConfig::new("http://h");
        config.api_key = Some(Secret::new(key));
        Redactor::new(&config).clean(format!("<{key}>"))
    };
    assert_eq!(clean("1234567"), "<1234567>");
    assert_eq!(clean("12345678"), "<[redacted]>");
}
