//! Connections over streamable HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::header::AUTHORIZATION;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, serve_client_with_lifecycle};
use rmcp::transport::auth::{AuthClient, AuthorizationManager};
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};

use super::{Surroundings, either_era, handler, newer_era};
use crate::config::{HttpConfig, ServerConfig};
use crate::error::{StartError, chain, transport_words};
use crate::http::{Careful, DISCOVER_TIMEOUT, FileStore, client, store_path, trust_tls};
use crate::link::{RpcLink, SharedLink, known_version};

/// How often a stream that broke is asked for again: what waits for it hears within three seconds that nobody answers.
const STREAM_RETRIES: usize = 2;
/// How long it is waited before the first time; twice as long before the second.
const STREAM_RETRY_AFTER: Duration = Duration::from_millis(500);

/// Connects to a server and agrees with it on an era.
pub(super) async fn connect(
    config: &ServerConfig,
    http: &HttpConfig,
    around: &Surroundings,
) -> Result<SharedLink, StartError> {
    let gave_up = Arc::new(AtomicBool::new(false));
    let failed = match attempt(config, http, around, either_era(), Some((DISCOVER_TIMEOUT, &gave_up))).await {
        Ok(link) => return Ok(link),
        Err(failed) => failed,
    };
    if !gave_up.load(Ordering::Relaxed) || failed.login_challenge().is_some() {
        return Err(failed);
    }
    // It may be of the newer era after all, only slow: then it knows nothing of the older one's first request.
    attempt(config, http, around, newer_era(), None).await.map_err(|_| failed)
}

async fn attempt(
    config: &ServerConfig,
    http: &HttpConfig,
    around: &Surroundings,
    mode: ClientLifecycleMode,
    discover: Option<(Duration, &Arc<AtomicBool>)>,
) -> Result<SharedLink, StartError> {
    let (client, headers) = client(http)?;
    let logged_in = match &http.bearer {
        None if !headers.contains_key(&AUTHORIZATION) => tokens(config, http, around).await?,
        Some(_) | None => None,
    };
    let mut transport = StreamableHttpClientTransportConfig::with_uri(http.url.as_str());
    transport.custom_headers = headers;
    transport.auth_header = http.bearer.as_ref().map(|bearer| bearer.reveal().to_owned());
    let mut retry = ExponentialBackoff::default();
    retry.max_times = Some(STREAM_RETRIES);
    retry.base_duration = STREAM_RETRY_AFTER;
    transport.retry_config = Arc::new(retry);
    let gave_up = discover.map(|(_, gave_up)| Arc::clone(gave_up)).unwrap_or_default();
    let client = Careful::new(client, discover.map(|(limit, _)| limit), gave_up);
    match logged_in {
        Some(manager) => serve(config, AuthClient::new(client, manager), transport, mode, around).await,
        None => serve(config, client, transport, mode, around).await,
    }
}

/// The tokens of an earlier login, if there was one.
async fn tokens(
    config: &ServerConfig,
    http: &HttpConfig,
    around: &Surroundings,
) -> Result<Option<AuthorizationManager>, StartError> {
    let Some(home) = &around.home else { return Ok(None) };
    let path = store_path(home, &config.name, &http.url);
    if !tokio::fs::try_exists(&path).await.unwrap_or(false) {
        return Ok(None);
    }
    trust_tls();
    let failed = |error| StartError::new(format!("the stored login cannot be used: {}", chain(&error)));
    let mut manager = AuthorizationManager::new(http.url.as_str()).await.map_err(failed)?;
    manager.set_credential_store(FileStore::new(path));
    let found = tokio::time::timeout(config.startup_timeout, manager.initialize_from_store()).await;
    let found = found.map_err(|_| StartError::new("the login's server did not answer"))?.map_err(failed)?;
    Ok(found.then_some(manager))
}

async fn serve<C>(
    config: &ServerConfig,
    client: C,
    transport: StreamableHttpClientTransportConfig,
    mode: ClientLifecycleMode,
    around: &Surroundings,
) -> Result<SharedLink, StartError>
where
    C: StreamableHttpClient + Sync,
{
    let transport = StreamableHttpClientTransport::with_client(client, transport);
    let served = serve_client_with_lifecycle(handler(&config.name, around), transport, mode);
    let limit = config.startup_timeout;
    match tokio::time::timeout(limit, served).await {
        Ok(Ok(running)) => {
            if let Err(unknown) = known_version(running.peer()) {
                // What it makes of the end does not matter.
                let _ = running.cancel().await;
                return Err(StartError::new(unknown));
            }
            Ok(RpcLink::new(running, false, Arc::new(|| "the connection was closed".to_owned())))
        }
        Ok(Err(error)) => Err(failed(config, &error)),
        Err(_) => Err(StartError::new(format!("it did not answer within {limit:?}"))),
    }
}

fn failed(config: &ServerConfig, error: &ClientInitializeError) -> StartError {
    let challenge = error.auth_challenge().map(str::to_owned);
    if challenge.is_some() || error.is_authorization_required() {
        return StartError::login(&config.name, challenge);
    }
    let error = match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => fallback,
        error => error,
    };
    match error {
        ClientInitializeError::TransportError { error, .. } => {
            StartError::new(transport_words(error.error.as_ref()))
        }
        error => StartError::new(chain(error)),
    }
}
