//! Keeps in `config.toml` that an MCP tool is not asked about any more.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use tenon_core::policy::McpApprovalStore;
use tenon_core::{UserFileError, change_user_file};
use toml::de::DeTable;

use super::approve_tool::approve_tool;
use super::error::ConfigError;
use super::load::{CONFIG_MAX_BYTES, broken};

/// The file, at `mcp_servers.SERVER.tools.TOOL.approval_mode`.
#[derive(Debug, Clone)]
pub(crate) struct ConfigMcpStore {
    file: PathBuf,
}

/// Why it was not kept.
#[derive(Debug, thiserror::Error)]
enum NotKept {
    #[error(transparent)]
    File(#[from] UserFileError),
    #[error(transparent)]
    Broken(#[from] ConfigError),
    #[error("{}: {reason}", file.display())]
    Unfit { file: PathBuf, reason: String },
}

impl ConfigMcpStore {
    pub(crate) fn of(file: PathBuf) -> Self {
        Self { file }
    }
}

#[async_trait]
impl McpApprovalStore for ConfigMcpStore {
    fn file(&self) -> &Path {
        &self.file
    }

    async fn approve(&self, server: &str, tool: &str) -> Result<(), String> {
        let (file, server, tool) = (self.file.clone(), server.to_owned(), tool.to_owned());
        let keeping = tokio::task::spawn_blocking(move || keep(&file, CONFIG_MAX_BYTES, &server, &tool));
        match keeping.await {
            Ok(kept) => kept.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn keep(file: &Path, limit: u64, server: &str, tool: &str) -> Result<(), NotKept> {
    change_user_file(file, limit, |file, text| {
        let whole = DeTable::parse(text).map_err(|error| broken(file, text, &error))?;
        let unfit = |reason| NotKept::Unfit { file: file.to_owned(), reason };
        approve_tool(text, whole.get_ref(), server, tool).map_err(unfit)
    })
}

#[cfg(test)]
#[path = "mcp_store_tests.rs"]
mod tests;
