//! Whom the model is asked from.

use std::collections::BTreeMap;
use std::time::Duration;

use super::error::ConfigError;
use super::file::{ConfigFile, ProviderFile};

/// The provider that is there without a configuration.
pub(crate) const DEFAULT_PROVIDER: &str = "openai";
const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";
const DEFAULT_ENV_KEY: &str = "OPENAI_API_KEY";

/// Retries of a request before its first byte (runtime.md D2.6).
pub(crate) const DEFAULT_REQUEST_MAX_RETRIES: u32 = 4;
/// Retries of a stream that broke (runtime.md D2.2).
pub(crate) const DEFAULT_STREAM_MAX_RETRIES: u32 = 5;
/// No configuration asks for more retries than this; a larger number means this one.
pub(crate) const MAX_RETRIES: u32 = 100;
/// How long a stream may be silent (runtime.md D1.1).
pub(crate) const DEFAULT_STREAM_IDLE_TIMEOUT: Duration = Duration::from_millis(300_000);

/// One provider, with its defaults settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Provider {
    /// Its name in the configuration.
    pub(crate) id: String,
    /// Its name for people.
    pub(crate) name: String,
    /// Where it is, without a slash at the end.
    pub(crate) base_url: String,
    /// The variable that holds its key. None: it needs none.
    pub(crate) env_key: Option<String>,
    /// Sent with every request.
    pub(crate) http_headers: BTreeMap<String, String>,
    /// Sent with every request.
    pub(crate) query_params: BTreeMap<String, String>,
    /// At most [`MAX_RETRIES`].
    pub(crate) request_max_retries: u32,
    /// At most [`MAX_RETRIES`].
    pub(crate) stream_max_retries: u32,
    /// How long a stream may be silent.
    pub(crate) stream_idle_timeout: Duration,
}

impl Provider {
    /// The provider that the configuration chooses.
    ///
    /// # Errors
    /// When there is none of that name, or it has no `base_url`.
    pub(crate) fn chosen(file: &ConfigFile) -> Result<Self, ConfigError> {
        let id = file.model_provider.as_deref().unwrap_or(DEFAULT_PROVIDER);
        match file.model_providers.get(id) {
            Some(table) => Self::configured(id, table),
            None if id == DEFAULT_PROVIDER => Ok(Self::default()),
            None => {
                let mut known: Vec<&str> = file.model_providers.keys().map(String::as_str).collect();
                known.push(DEFAULT_PROVIDER);
                let message =
                    format!("there is no [model_providers.{id}]; known providers: {}", known.join(", "));
                Err(ConfigError::invalid("model_provider", message))
            }
        }
    }

    fn configured(id: &str, table: &ProviderFile) -> Result<Self, ConfigError> {
        let Some(base_url) = &table.base_url else {
            let message = "is missing: the provider's address, such as \"http://127.0.0.1:8080/v1\"";
            return Err(ConfigError::invalid(format!("model_providers.{id}.base_url"), message));
        };
        let retries = |chosen: Option<u32>, default: u32| chosen.unwrap_or(default).min(MAX_RETRIES);
        let headers = table.http_headers.iter();
        Ok(Self {
            id: id.to_owned(),
            name: table.name.clone().unwrap_or_else(|| id.to_owned()),
            base_url: base_url.0.clone(),
            env_key: table.env_key.as_ref().map(|key| key.0.clone()),
            http_headers: headers.map(|(name, value)| (name.0.clone(), value.0.clone())).collect(),
            query_params: table.query_params.clone(),
            request_max_retries: retries(table.request_max_retries, DEFAULT_REQUEST_MAX_RETRIES),
            stream_max_retries: retries(table.stream_max_retries, DEFAULT_STREAM_MAX_RETRIES),
            stream_idle_timeout: table
                .stream_idle_timeout_ms
                .map_or(DEFAULT_STREAM_IDLE_TIMEOUT, |ms| Duration::from_millis(ms.0)),
        })
    }
}

impl Default for Provider {
    /// The one of `cli.md`: `https://api.openai.com/v1` with `OPENAI_API_KEY`.
    fn default() -> Self {
        Self {
            id: DEFAULT_PROVIDER.to_owned(),
            name: "OpenAI".to_owned(),
            base_url: DEFAULT_BASE_URL.to_owned(),
            env_key: Some(DEFAULT_ENV_KEY.to_owned()),
            http_headers: BTreeMap::new(),
            query_params: BTreeMap::new(),
            request_max_retries: DEFAULT_REQUEST_MAX_RETRIES,
            stream_max_retries: DEFAULT_STREAM_MAX_RETRIES,
            stream_idle_timeout: DEFAULT_STREAM_IDLE_TIMEOUT,
        }
    }
}
