use pretty_assertions::assert_eq;

use super::*;
use crate::{ProxySettings, Secret};

#[test]
fn headers_are_ours_then_the_key_then_the_configured_ones() {
    let mut config = ProviderConfig::new("http://h");
    config.api_key = Some(Secret::new("k"));
    config.headers.insert("X-One".into(), "1".into());
    let sent = headers(&config).unwrap();
    let text = |name: &str| sent[name].to_str().unwrap().to_owned();
    assert_eq!(sent.len(), 4);
    assert_eq!(text("content-type"), "application/json");
    assert_eq!(text("accept"), "text/event-stream");
    assert_eq!(text("authorization"), "Bearer k");
    assert_eq!(text("x-one"), "1");
    assert!(sent["authorization"].is_sensitive() && sent["x-one"].is_sensitive());
}

#[test]
fn a_configured_authorization_stands_in_the_keys_place() {
    let mut config = ProviderConfig::new("http://h");
    config.api_key = Some(Secret::new("k"));
    config.headers.insert("Authorization".into(), "Basic x".into());
    assert_eq!(headers(&config).unwrap()["authorization"], "Basic x");
}

#[test]
fn an_empty_key_is_none() {
    let mut config = ProviderConfig::new("http://h");
    config.api_key = Some(Secret::new(""));
    assert!(!headers(&config).unwrap().contains_key("authorization"));
}

/// The proxy that a client for this address would use.
fn proxy_for(base_url: &str, value: &str) -> Result<Option<String>, ConfigError> {
    let mut config = ProviderConfig::new(base_url);
    config.proxy = ProxySettings::from_environment(|name| (name == "HTTPS_PROXY").then(|| value.to_owned()));
    connect(&config, &Endpoint::new(&config)?).map(|transport| transport.proxy)
}

#[test]
fn a_proxy_is_for_https_hosts_other_than_this_machine() {
    for local in
        ["http://api.example/v1", "http://127.0.0.1:1/v1", "https://localhost/v1", "https://[::1]/v1"]
    {
        match proxy_for(local, "http://proxy:1") {
            Ok(proxy) => assert_eq!(proxy, None, "{local}"),
            // A machine may have no roots.
            Err(error) => assert!(matches!(error, ConfigError::Tls(_)), "{error}"),
        }
        assert!(!matches!(proxy_for(local, "socks5://proxy:1"), Err(ConfigError::Proxy { .. })), "{local}");
    }
    match proxy_for("https://api.example/v1", "http://proxy:1") {
        Ok(proxy) => assert_eq!(proxy.as_deref(), Some("proxy:1")),
        Err(error) => assert!(matches!(error, ConfigError::Tls(_)), "{error}"),
    }
    let refused = proxy_for("https://api.example/v1", "socks5://proxy:1");
    assert!(matches!(refused, Err(ConfigError::Proxy { variable: "HTTPS_PROXY", .. })));
}

/// rustls keeps the process's provider where anybody can see whether TLS was ever set up.
#[test]
fn http_sets_up_no_tls() {
    proxy_for("http://127.0.0.1:1/v1", "").unwrap();
    // Under nextest each test has a process of its own; under cargo test another one may have been first.
    if std::env::var_os("NEXTEST").is_some() {
        assert!(CryptoProvider::get_default().is_none());
    }
}

#[test]
fn the_innermost_cause_is_told() {
    #[derive(Debug)]
    struct Outer(std::io::Error);
    impl std::fmt::Display for Outer {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("outer")
        }
    }
    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }
    assert_eq!(cause(&Outer(std::io::Error::other("inner"))), "inner");
}
