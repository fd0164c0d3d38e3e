//! The HTTP client for one server: no redirects to other places, no proxy but the one that is allowed, TLS only where
//! it is needed.

use std::collections::HashMap;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{ClientBuilder, redirect};
use rustls::crypto::{CryptoProvider, ring};

use crate::config::HttpConfig;
use crate::error::{StartError, chain};

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// How many redirects are followed, all to the same place.
const MAX_REDIRECTS: usize = 3;

/// The client, and the headers of every request.
///
/// # Errors
/// When the configuration cannot be used.
pub(crate) fn client(
    config: &HttpConfig,
) -> Result<(reqwest::Client, HashMap<HeaderName, HeaderValue>), StartError> {
    let url = reqwest::Url::parse(&config.url)
        .map_err(|error| StartError::new(format!("{} is no address: {error}", config.url)))?;
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("tenon/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::custom(same_place))
        .referer(false)
        .no_proxy()
        // An idle connection may have been closed by a server that went away meanwhile: a call must not find out.
        .pool_max_idle_per_host(0)
        .connect_timeout(CONNECT_TIMEOUT);
    let https = url.scheme() == "https";
    if let Some(proxy) = config.proxy.as_ref().filter(|_| https && !is_loopback(&url)) {
        let no_proxy = proxy.no_proxy.as_deref().and_then(reqwest::NoProxy::from_string);
        let made = reqwest::Proxy::https(proxy.url.reveal())
            .map_err(|error| StartError::new(format!("the proxy cannot be used: {}", chain(&error))))?;
        builder = builder.proxy(made.no_proxy(no_proxy));
    }
    let client = with_tls(builder, https)?.build();
    let client = client.map_err(|error| StartError::new(format!("no HTTP client: {}", chain(&error))))?;
    Ok((client, headers(config)?))
}

/// Follows a redirect that keeps method and origin; what would take headers elsewhere is an answer like any other.
fn same_place(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let keeps_method = matches!(attempt.status().as_u16(), 307 | 308);
    let previous = attempt.previous();
    let same = previous.last().is_some_and(|from| from.origin() == attempt.url().origin());
    if keeps_method && same && previous.len() <= MAX_REDIRECTS { attempt.follow() } else { attempt.stop() }
}

fn is_loopback(url: &reqwest::Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

fn headers(config: &HttpConfig) -> Result<HashMap<HeaderName, HeaderValue>, StartError> {
    let mut headers = HashMap::new();
    for (name, value) in &config.headers {
        let wrong = || StartError::new(format!("the header {name} cannot be sent"));
        let known = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value.reveal()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.insert(known, value);
    }
    Ok(headers)
}

/// Chooses the cryptography of TLS, for clients that are made elsewhere.
pub(crate) fn trust_tls() {
    if CryptoProvider::get_default().is_none() {
        // Another thread may have been first; then its choice holds.
        let _ = ring::default_provider().install_default();
    }
}

/// Reads the system's roots for https only: they cost milliseconds and megabytes, which a local server has no use for.
fn with_tls(builder: ClientBuilder, https: bool) -> Result<ClientBuilder, StartError> {
    if https {
        trust_tls();
        return Ok(builder);
    }
    let nobody = rustls::ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .map_err(|error| StartError::new(error.to_string()))?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Ok(builder.tls_backend_preconfigured(nobody))
}
