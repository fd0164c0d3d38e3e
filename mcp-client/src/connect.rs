//! Makes connections.

mod http;
mod stdio;

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::ProtocolVersion;
use rmcp::service::ClientLifecycleMode;
use tenon_tools::EventSink;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::{ServerConfig, TransportConfig};
use crate::error::StartError;
use crate::host::McpHost;
use crate::in_process::{InProcessLink, InProcessServer, ToolsChanged};
use crate::link::{Handler, Questions, SharedLink, Traffic};

/// What all servers of a session share.
pub(crate) struct Surroundings {
    pub(crate) cwd: PathBuf,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) host: Arc<dyn McpHost>,
    pub(crate) events: Arc<dyn EventSink>,
    /// Where tokens are kept.
    pub(crate) home: Option<PathBuf>,
    /// Fires when everything is to end.
    pub(crate) shutdown: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

/// Where a server comes from.
pub(crate) enum Origin {
    /// The configuration says how it is reached.
    Configured,
    /// It cannot be reached as it is configured; why.
    Broken(String),
    /// It is a value of this program.
    InProcess(Arc<dyn InProcessServer>, ToolsChanged),
}

/// Connects a server.
///
/// # Errors
/// Why it is not connected, for people.
pub(crate) async fn connect(
    origin: &Origin,
    config: &ServerConfig,
    around: &Surroundings,
) -> Result<SharedLink, StartError> {
    match (origin, &config.transport) {
        (Origin::Broken(why), _) => Err(StartError::new(why.clone())),
        (Origin::InProcess(server, changed), _) => {
            Ok(InProcessLink::new(Arc::clone(server), changed.clone()))
        }
        (Origin::Configured, TransportConfig::Stdio(stdio)) => stdio::connect(config, stdio, around).await,
        (Origin::Configured, TransportConfig::Http(http)) => http::connect(config, http, around).await,
    }
}

/// Asks for the newer era, and takes the older one where a server does not know it.
fn either_era() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

/// Takes the newer era alone.
fn newer_era() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

/// What hears a new connection's server.
fn handler(server: &str, around: &Surroundings) -> Handler {
    let traffic = Arc::new(Traffic::default());
    let questions = Arc::new(Questions {
        server: server.to_owned(),
        host: Arc::clone(&around.host),
        roots: around.roots.clone(),
        traffic: Arc::clone(&traffic),
    });
    Handler { questions, traffic }
}
