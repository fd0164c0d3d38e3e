//! Connections to programs.

use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{ClientInitializeError, ClientLifecycleMode, serve_client_with_lifecycle};

use super::{Surroundings, either_era, handler, newer_era};
use crate::config::{ServerConfig, StdioConfig};
use crate::error::{StartError, chain};
use crate::link::{RpcLink, SharedLink, known_version};
use crate::stdio::{DISCOVER_TIMEOUT, Holder, StdioTransport};

/// Starts a program and agrees with it on an era.
pub(super) async fn connect(
    config: &ServerConfig,
    stdio: &StdioConfig,
    around: &Surroundings,
) -> Result<SharedLink, StartError> {
    let failed = match attempt(config, stdio, around, either_era(), Some(DISCOVER_TIMEOUT)).await {
        Ok(link) => return Ok(link),
        Err(failed) => failed,
    };
    if !failed.perhaps_slow {
        return Err(failed.error);
    }
    // It was asked too much: what it has been asked meanwhile may have confused it. It is asked anew, and waited for.
    attempt(config, stdio, around, newer_era(), None).await.map_err(|_| failed.error)
}

struct Failed {
    error: StartError,
    /// Whether it may be a server of the newer era that did not answer its first request in time.
    perhaps_slow: bool,
}

async fn attempt(
    config: &ServerConfig,
    stdio: &StdioConfig,
    around: &Surroundings,
    mode: ClientLifecycleMode,
    discover_timeout: Option<Duration>,
) -> Result<SharedLink, Failed> {
    let plain = |error| Failed { error, perhaps_slow: false };
    let (holder, streams) = Holder::spawn(&config.name, stdio, &around.cwd).map_err(plain)?;
    let handler = handler(&config.name, around);
    let traffic = Arc::clone(&handler.traffic);
    let transport = StdioTransport::new(Arc::clone(&holder), streams, discover_timeout, traffic);
    let limit = config.startup_timeout;
    let served = tokio::time::timeout(limit, serve_client_with_lifecycle(handler, transport, mode)).await;
    let answered =
        matches!(&served, Ok(Err(error)) if !matches!(error, ClientInitializeError::ConnectionClosed(_)));
    let why = match served {
        Ok(Ok(running)) => {
            if let Err(unknown) = known_version(running.peer()) {
                // The process ends with it.
                let _ = running.cancel().await;
                return Err(plain(StartError::new(unknown)));
            }
            let epitaph = Arc::new(move || holder.ended().unwrap_or_default().describe());
            return Ok(RpcLink::new(running, true, epitaph));
        }
        Ok(Err(ClientInitializeError::LegacyFallbackFailed { fallback, .. })) => chain(&*fallback),
        Ok(Err(error)) => chain(&error),
        Err(_) => format!("it did not answer within {limit:?}"),
    };
    // The transport is gone, and with it the process's input.
    let ended = holder.end().await;
    let error = StartError::new(format!("{why}; {}", ended.describe()));
    Err(Failed { error, perhaps_slow: answered && holder.gave_up_discover() })
}
