//! MCP tools that nobody is asked about any more, beyond the session.

use std::fmt;
use std::path::Path;

use async_trait::async_trait;

/// Keeps for later sessions that an MCP tool is not to be asked about any more. What it has kept is the host's to give
/// back with [`with_mcp_modes`](super::StandardPolicy::with_mcp_modes).
#[async_trait]
pub trait McpApprovalStore: fmt::Debug + Send + Sync {
    /// The file that is written to. Whoever is asked is shown it, since the answer ends when it is taken out of there.
    fn file(&self) -> &Path;

    /// Keeps it for one tool, by the name that the server knows it by. It is durable when this returns.
    ///
    /// # Errors
    /// Why it was not kept, for the operator. The answer counts for the session then.
    async fn approve(&self, server: &str, tool: &str) -> Result<(), String>;
}
