use pretty_assertions::assert_eq;

use super::*;

fn settings(variables: &[(&str, &str)]) -> ProxySettings {
    ProxySettings::from_environment(|name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    })
}

fn shown(variables: &[(&str, &str)]) -> Option<String> {
    settings(variables).for_https().unwrap().map(|(_, shown)| shown)
}

#[test]
fn the_https_proxy_goes_before_the_one_for_all() {
    assert_eq!(shown(&[("HTTPS_PROXY", "http://a:1"), ("ALL_PROXY", "http://b:2")]).as_deref(), Some("a:1"));
    assert_eq!(shown(&[("https_proxy", "http://a:1"), ("ALL_PROXY", "http://b:2")]).as_deref(), Some("a:1"));
    assert_eq!(shown(&[("https_proxy", " "), ("all_proxy", "b:2")]).as_deref(), Some("b:2"));
    assert_eq!(shown(&[("HTTP_PROXY", "http://a:1"), ("http_proxy", "http://a:1")]), None);
}

#[test]
fn a_password_is_not_shown() {
    let variables = [("HTTPS_PROXY", "http://me:secret@a"), ("NO_PROXY", "b")];
    assert_eq!(shown(&variables).as_deref(), Some("a:80"));
    assert_eq!(
        format!("{:?}", settings(&variables)),
        r#"ProxySettings { from: Some("HTTPS_PROXY"), no_proxy: Some("b") }"#
    );
}

#[test]
fn a_wrong_address_is_explained_without_being_told() {
    let wanted = r#"; an address like "http://proxy.example:3128" is wanted"#;
    let error = |value| settings(&[("ALL_PROXY", value)]).for_https().unwrap_err().to_string();
    assert_eq!(
        error("socks5://me:secret@a:1"),
        format!("proxy ALL_PROXY: only http and https proxies can be used{wanted}")
    );
    assert_eq!(error("http://a:port"), format!("proxy ALL_PROXY: this is no URL{wanted}"));
}
