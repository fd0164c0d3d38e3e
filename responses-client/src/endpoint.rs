//! The one address that is ever dialled.

use std::net::IpAddr;

use reqwest::Url;

use crate::{ConfigError, ProviderConfig};

/// The URL of `/responses`, checked.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    url: Url,
    shown: String,
}

impl Endpoint {
    pub(crate) fn new(config: &ProviderConfig) -> Result<Self, ConfigError> {
        let wrong = |reason: String| ConfigError::BaseUrl { url: without_user(&config.base_url), reason };
        let mut url = Url::parse(config.base_url.trim()).map_err(|error| wrong(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong(format!("the scheme {:?} is neither http nor https", url.scheme())));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("a user or password in it; use env_key or http_headers".to_owned()));
        }
        if url.query().is_some() {
            return Err(wrong("parameters in it; use query_params".to_owned()));
        }
        if url.fragment().is_some() {
            return Err(wrong("a fragment in it".to_owned()));
        }
        let path = format!("{}/responses", url.path().trim_end_matches('/'));
        url.set_path(&path);
        let shown = url.to_string();
        if !config.query_params.is_empty() {
            url.query_pairs_mut().extend_pairs(&config.query_params);
        }
        Ok(Self { url, shown })
    }

    /// The whole URL, with parameters that may be secret.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The URL for messages: without its parameters.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether the host is this machine: `localhost` and what is below it, 127.0.0.0/8, `::1`.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default().trim_end_matches('.');
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match address {
            Ok(IpAddr::V4(address)) => address.is_loopback(),
            Ok(IpAddr::V6(address)) => {
                address.is_loopback() || address.to_ipv4_mapped().is_some_and(|address| address.is_loopback())
            }
            Err(_) => host == "localhost" || host.ends_with(".localhost"),
        }
    }

    /// Where a redirect would lead, for messages: scheme and host alone.
    pub(crate) fn origin_of(&self, location: &str) -> Option<String> {
        let target = self.url.join(location).ok()?;
        Some(target.origin().ascii_serialization())
    }
}

/// A URL's text without what stands between `//` and `@`.
pub(crate) fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("//") else { return url.to_owned() };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest.get(..authority_end).and_then(|authority| authority.rfind('@')) {
        Some(at) => format!("{scheme}//{}", rest.get(at + 1..).unwrap_or_default()),
        None => url.to_owned(),
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
