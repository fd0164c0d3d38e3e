//! The Responses API over HTTP: request, server-sent events, retries.
//!
//! [`ResponsesClient`] is the [`ModelClient`](tenon_tools::ModelClient) for a live provider. It sends
//! `POST {base_url}/responses` and nothing else, to nobody else: redirects are not followed, proxies are used for https
//! hosts only and never for this machine itself.
//!
//! It retries a request until the first byte of a stream has come. A stream that breaks later is the turn loop's to
//! retry, since a retry is built from the new history.
//!
//! # Layout, in the order of a request
//! [`ProviderConfig`], [`Secret`], [`ProxySettings`]: what is configured. `transport`: the connection for it. `body`: the
//! request. `client`: attempts. `back_off`: the waits between them. `status`, [`model_error`]: what a failure means.
//! `stream`: the answer's events. `redact`: keeps secrets out of messages.
//!
//! ```no_run
//! use tenon_responses_client::{ProviderConfig, ResponsesClient, Secret};
//!
//! let mut config = ProviderConfig::new("https://api.openai.com/v1");
//! config.api_key = std::env::var("OPENAI_API_KEY").ok().map(Secret::new);
//! let client = ResponsesClient::new(&config)?;
//! # Ok::<(), tenon_responses_client::ConfigError>(())
//! ```

mod back_off;
mod body;
mod client;
mod config;
mod endpoint;
mod failure;
mod proxy;
mod redact;
mod secret;
mod status;
mod stream;
mod transport;

pub use client::ResponsesClient;
pub use config::{
    ConfigError, DEFAULT_IDLE_TIMEOUT, DEFAULT_REQUEST_MAX_RETRIES, MAX_IDLE_TIMEOUT, MAX_REQUEST_RETRIES,
    ProviderConfig,
};
pub use failure::{incomplete, model_error};
pub use proxy::ProxySettings;
pub use secret::Secret;
