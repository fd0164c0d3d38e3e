use pretty_assertions::assert_eq;

use super::*;
use crate::ResponsesClient;

const SECRET: &str = "sk-a-long-secret";

fn error_of(change: impl FnOnce(&mut ProviderConfig)) -> String {
    let mut config = ProviderConfig::new("http://127.0.0.1:1/v1");
    config.api_key = Some(Secret::new(SECRET));
    change(&mut config);
    ResponsesClient::new(&config).map(drop).unwrap_err().to_string()
}

#[test]
fn a_wrong_base_url_is_explained() {
    let wanted = r#"; an address like "https://api.openai.com/v1" is wanted"#;
    for (url, reason) in [
        ("", "relative URL without a base"),
        ("api.openai.com/v1", "relative URL without a base"),
        ("ftp://h/v1", r#"the scheme "ftp" is neither http nor https"#),
        ("https://", "empty host"),
        ("https://h/v1?a=b", "parameters in it; use query_params"),
        ("https://h/v1#x", "a fragment in it"),
    ] {
        let expected = format!("base_url {url:?}: {reason}{wanted}");
        assert_eq!(error_of(|config| config.base_url = url.into()), expected);
    }
    assert_eq!(
        error_of(|config| config.base_url = format!("https://me:{SECRET}@h/v1")),
        format!(r#"base_url "https://h/v1": a user or password in it; use env_key or http_headers{wanted}"#)
    );
}

#[test]
fn what_cannot_stand_in_a_header_is_refused_without_being_told() {
    let key = error_of(|config| {
        config.api_key = Some(Secret::new("sk-with\na newline"));
        config.env_key = Some("SOME_KEY".into());
    });
    assert_eq!(key, "the key from SOME_KEY: only visible ASCII characters can be sent");
    assert_eq!(
        error_of(|config| config.api_key = Some(Secret::new("schlüssel"))),
        "the key: only visible ASCII characters can be sent"
    );
    let with_header = |name: &str, value: &str| {
        error_of(|config| {
            config.headers.insert(name.into(), value.into());
        })
    };
    assert_eq!(with_header("a b", "v"), r#"http_headers "a b": this is no header's name"#);
    assert_eq!(
        with_header("x", "v\r\ny: z"),
        r#"http_headers "x": only visible ASCII characters can be sent"#
    );
}

#[test]
fn no_time_at_all_is_refused() {
    assert_eq!(
        error_of(|config| config.idle_timeout = Duration::ZERO),
        "stream_idle_timeout_ms: a time above 0 is wanted"
    );
}

#[test]
fn the_longest_time_is_bounded() {
    let mut config = ProviderConfig::new("http://h");
    config.idle_timeout = Duration::MAX;
    config.request_max_retries = u32::MAX;
    let shown = format!("{:?}", ResponsesClient::new(&config).unwrap());
    assert!(shown.contains("idle_timeout: 604800s"), "{shown}");
    assert!(shown.contains("request_max_retries: 100"), "{shown}");
}

#[test]
fn debug_tells_no_secret() {
    let mut config = ProviderConfig::new(format!("https://me:{SECRET}@h/v1"));
    config.api_key = Some(Secret::new(SECRET));
    config.headers.insert("x-key".into(), SECRET.into());
    config.query_params.insert("key".into(), SECRET.into());
    config.proxy = ProxySettings::from_environment(|name| {
        (name == "HTTPS_PROXY").then(|| format!("http://me:{SECRET}@proxy:1"))
    });
    let mut shown = format!("{config:?}");
    config.base_url = "https://h/v1".into();
    if let Ok(client) = ResponsesClient::new(&config) {
        shown.push_str(&format!("{client:?}"));
    }
    assert!(!shown.contains(SECRET), "{shown}");
    assert!(shown.contains(r#"base_url: "https://h/v1", api_key: Some(Secret(..))"#), "{shown}");
    assert!(shown.contains(r#"headers: ["x-key"], query_params: ["key"]"#), "{shown}");
}

#[test]
fn white_space_around_a_key_is_no_part_of_it() {
    assert_eq!(Secret::new(" sk-1\n"), Secret::from("sk-1".to_owned()));
    assert!(Secret::new(" \n").is_empty());
}
