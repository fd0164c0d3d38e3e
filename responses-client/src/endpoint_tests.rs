use pretty_assertions::assert_eq;

use super::*;

fn endpoint(url: &str) -> Endpoint {
    Endpoint::new(&ProviderConfig::new(url)).unwrap()
}

#[test]
fn responses_is_added_to_the_base_url() {
    for (base, url) in [
        ("https://h/v1", "https://h/v1/responses"),
        ("https://h/v1/", "https://h/v1/responses"),
        ("https://h", "https://h/responses"),
        (" http://h:8/a/b// \n", "http://h:8/a/b/responses"),
    ] {
        assert_eq!(endpoint(base).url().as_str(), url);
    }
}

#[test]
fn parameters_are_sent_and_not_shown() {
    let mut config = ProviderConfig::new("https://h/v1");
    config.query_params.insert("api-version".into(), "2025 preview".into());
    let endpoint = Endpoint::new(&config).unwrap();
    assert_eq!(endpoint.url().as_str(), "https://h/v1/responses?api-version=2025+preview");
    assert_eq!(endpoint.shown(), "https://h/v1/responses");
}

#[test]
fn this_machine_is_known_by_all_its_names() {
    for host in
        ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]"]
    {
        assert!(endpoint(&format!("https://{host}:1/v1")).is_loopback(), "{host}");
    }
    for host in ["notlocalhost", "localhost.example", "128.0.0.1", "[::2]", "0.0.0.0"] {
        assert!(!endpoint(&format!("https://{host}/v1")).is_loopback(), "{host}");
    }
}

#[test]
fn of_a_redirect_the_origin_is_shown() {
    let endpoint = endpoint("https://h/v1");
    assert_eq!(endpoint.origin_of("http://evil.example:8/a?b=c").as_deref(), Some("http://evil.example:8"));
    assert_eq!(endpoint.origin_of("/other").as_deref(), Some("https://h"));
    assert_eq!(endpoint.origin_of("http://[").as_deref(), None);
}

#[test]
fn a_user_is_taken_out_of_any_text() {
    for (url, shown) in [
        ("https://u:p@h/a@b", "https://h/a@b"),
        ("https://u@v@h", "https://h"),
        ("https://h/a@b", "https://h/a@b"),
        ("no url", "no url"),
    ] {
        assert_eq!(without_user(url), shown);
    }
}
