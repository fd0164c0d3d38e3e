//! What is configured for a provider, and what may be wrong with it (cli.md, "Home and config").

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::{ProxySettings, Secret};

/// How often a request is sent again by default (runtime.md D2.6).
pub const DEFAULT_REQUEST_MAX_RETRIES: u32 = 4;
/// The most retries that can be asked for; more count as this many.
pub const MAX_REQUEST_RETRIES: u32 = 100;
/// How long a stream may be silent by default (runtime.md D1.1).
pub const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(300);
/// The longest silence that can be asked for; longer ones count as this.
pub const MAX_IDLE_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A provider of the Responses API.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderConfig {
    /// Where the API is, e.g. `https://api.openai.com/v1`; `/responses` is added.
    pub base_url: String,
    /// Sent as `Authorization: Bearer ...`; a local server may need none.
    pub api_key: Option<Secret>,
    /// The environment variable that the key is read from, for messages that ask for it.
    pub env_key: Option<String>,
    /// More headers (`http_headers`); one named `authorization` stands in the key's place.
    pub headers: BTreeMap<String, String>,
    /// More parameters of the URL (`query_params`).
    pub query_params: BTreeMap<String, String>,
    /// How often a request is sent again before its first byte came; at most [`MAX_REQUEST_RETRIES`].
    pub request_max_retries: u32,
    /// How long the server may be silent (`stream_idle_timeout_ms`), before its head and within a stream.
    pub idle_timeout: Duration,
    /// Whether the model's reasoning is asked for in encrypted form, so that it can be sent back although the server
    /// stores nothing. A server that refuses `include` needs `false`.
    pub encrypted_reasoning: bool,
    /// The proxy, for https hosts.
    pub proxy: ProxySettings,
}

impl ProviderConfig {
    /// A provider at this address with the defaults of everything else.
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            api_key: None,
            env_key: None,
            headers: BTreeMap::new(),
            query_params: BTreeMap::new(),
            request_max_retries: DEFAULT_REQUEST_MAX_RETRIES,
            idle_timeout: DEFAULT_IDLE_TIMEOUT,
            encrypted_reasoning: true,
            proxy: ProxySettings::none(),
        }
    }
}

/// Headers and parameters by name only: their values may be secrets.
impl fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderConfig")
            .field("base_url", &crate::endpoint::without_user(&self.base_url))
            .field("api_key", &self.api_key)
            .field("env_key", &self.env_key)
            .field("headers", &self.headers.keys())
            .field("query_params", &self.query_params.keys())
            .field("request_max_retries", &self.request_max_retries)
            .field("idle_timeout", &self.idle_timeout)
            .field("encrypted_reasoning", &self.encrypted_reasoning)
            .field("proxy", &self.proxy)
            .finish()
    }
}

/// Why a configuration can't be used. No message holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The base URL is not one.
    #[error("base_url {url:?}: {reason}; an address like \"https://api.openai.com/v1\" is wanted")]
    BaseUrl {
        /// The URL as configured, without a user and a password in it.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// The key can't stand in a header.
    #[error("the key{}: only visible ASCII characters can be sent", named(.env_key.as_deref()))]
    Key {
        /// The environment variable it came from.
        env_key: Option<String>,
    },
    /// A header can't be sent.
    #[error("http_headers {name:?}: {reason}")]
    Header {
        /// Its name.
        name: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// No time for an answer.
    #[error("stream_idle_timeout_ms: a time above 0 is wanted")]
    IdleTimeout,
    /// The proxy's address is not one we can use.
    #[error("proxy {variable}: {reason}; an address like \"http://proxy.example:3128\" is wanted")]
    Proxy {
        /// The environment variable it came from.
        variable: &'static str,
        /// What is wrong.
        reason: &'static str,
    },
    /// No connection can be secured.
    #[error("TLS can't be set up: {0}")]
    Tls(String),
}

fn named(env_key: Option<&str>) -> String {
    env_key.map(|name| format!(" from {name}")).unwrap_or_default()
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
