//! Connections over streamable HTTP.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::AUTHORIZATION;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, serve_client_with_lifecycle};
use rmcp::transport::auth::{AuthClient, AuthorizationManager};
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};

use super::{Surroundings, handler};
use crate::config::{HttpConfig, ServerConfig};
use crate::error::{StartError, chain};
use crate::http::{Careful, FileStore, client, store_path, trust_tls};
use crate::link::{RpcLink, SharedLink};

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
    match logged_in {
        Some(manager) => serve(config, AuthClient::new(Careful(client), manager), transport, around).await,
        None => serve(config, Careful(client), transport, around).await,
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
    around: &Surroundings,
) -> Result<SharedLink, StartError>
where
    C: StreamableHttpClient + Sync,
{
    let mode = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let transport = StreamableHttpClientTransport::with_client(client, transport);
    let served = serve_client_with_lifecycle(handler(&config.name, around), transport, mode);
    let limit = config.startup_timeout;
    match tokio::time::timeout(limit, served).await {
        Ok(Ok(running)) => {
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
    StartError::new(chain(error))
}
