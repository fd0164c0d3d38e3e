//! The HTTP client for one endpoint: no redirects, no proxy but the one that is allowed, TLS only where it is needed.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{ClientBuilder, redirect, retry};
use rustls::crypto::{CryptoProvider, ring};

use crate::endpoint::Endpoint;
use crate::{ConfigError, ProviderConfig};

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// The HTTP client, and the proxy it may use, for messages.
pub(crate) struct Transport {
    pub(crate) http: reqwest::Client,
    pub(crate) proxy: Option<String>,
}

pub(crate) fn connect(config: &ProviderConfig, endpoint: &Endpoint) -> Result<Transport, ConfigError> {
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("tenon/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        // The retries are ours: counted, and told.
        .retry(retry::never())
        .referer(false)
        .no_proxy()
        .connect_timeout(CONNECT_TIMEOUT);
    let mut shown = None;
    let may_use_one = endpoint.is_https() && !endpoint.is_loopback();
    if let Some((proxy, address)) = may_use_one.then(|| config.proxy.for_https()).transpose()?.flatten() {
        builder = builder.proxy(proxy);
        shown = Some(address);
    }
    let http = with_tls(builder, endpoint)?.build().map_err(|error| ConfigError::Tls(cause(&error)))?;
    Ok(Transport { http, proxy: shown })
}

/// Reads the system's roots for https only: they cost milliseconds and megabytes, which a local server has no use for.
fn with_tls(builder: ClientBuilder, endpoint: &Endpoint) -> Result<ClientBuilder, ConfigError> {
    if endpoint.is_https() {
        if CryptoProvider::get_default().is_none() {
            // Another thread may have been first; then its choice holds.
            let _ = ring::default_provider().install_default();
        }
        return Ok(builder.https_only(true));
    }
    // reqwest wants to have a configuration in any case: this one trusts nobody.
    let nobody = rustls::ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .map_err(|error| ConfigError::Tls(error.to_string()))?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Ok(builder.tls_backend_preconfigured(nobody))
}

/// The headers of every request; those that may hold a secret are marked, so that nobody logs them.
pub(crate) fn headers(config: &ProviderConfig) -> Result<HeaderMap, ConfigError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    if let Some(key) = config.api_key.as_ref().filter(|key| !key.is_empty()) {
        let value = format!("Bearer {}", key.reveal());
        let wrong = || ConfigError::Key { env_key: config.env_key.clone() };
        headers.insert(AUTHORIZATION, sensitive(&value).ok_or_else(wrong)?);
    }
    for (name, value) in &config.headers {
        let wrong = |reason| ConfigError::Header { name: name.clone(), reason };
        let known = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("this is no header's name"))?;
        let value = sensitive(value).ok_or_else(|| wrong("only visible ASCII characters can be sent"))?;
        headers.insert(known, value);
    }
    Ok(headers)
}

fn sensitive(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok().filter(|value| value.to_str().is_ok())?;
    value.set_sensitive(true);
    Some(value)
}

/// The innermost cause of a failure: what went wrong, without the layers it went wrong in, and without any URL.
pub(crate) fn cause(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
#[path = "transport_tests.rs"]
mod tests;
