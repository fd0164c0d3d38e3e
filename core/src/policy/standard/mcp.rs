//! MCP tools: decided by what the server says of them and by their mode (core.md 9.5).

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use tenon_tools::{ApprovalPolicy, ApprovalScope, McpEffect, StepContext};

use super::NEVER;
use crate::policy::{PolicyDecision, Question};

/// What the model reads where granular has no room for the question.
const NO_ELICITATIONS: &str =
    "approval required by policy, but AskForApproval::Granular.mcp_elicitations is false";

/// `approval_mode` of an MCP tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpApprovalMode {
    /// By its annotations.
    #[default]
    Auto,
    /// Always asked about, one call at a time.
    Prompt,
    /// Never asked about.
    Approve,
}

/// The modes of all tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct McpApprovalModes {
    servers: BTreeMap<String, ServerModes>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct ServerModes {
    default: Option<McpApprovalMode>,
    tools: BTreeMap<String, McpApprovalMode>,
}

impl McpApprovalModes {
    /// Sets `default_tools_approval_mode` of a server.
    #[must_use]
    pub fn with_default(mut self, server: impl Into<String>, mode: McpApprovalMode) -> Self {
        self.servers.entry(server.into()).or_default().default = Some(mode);
        self
    }

    /// Sets `approval_mode` of one tool, by the name that the server knows it by.
    #[must_use]
    pub fn with_tool(
        mut self,
        server: impl Into<String>,
        tool: impl Into<String>,
        mode: McpApprovalMode,
    ) -> Self {
        self.set_tool(server, tool, mode);
        self
    }

    pub(super) fn set_tool(
        &mut self,
        server: impl Into<String>,
        tool: impl Into<String>,
        mode: McpApprovalMode,
    ) {
        self.servers.entry(server.into()).or_default().tools.insert(tool.into(), mode);
    }

    /// The mode of a tool: its own, else its server's, else auto.
    pub fn mode(&self, server: &str, tool: &str) -> McpApprovalMode {
        let Some(server) = self.servers.get(server) else { return McpApprovalMode::default() };
        server.tools.get(tool).copied().or(server.default).unwrap_or_default()
    }
}

/// The steps of the table that are a policy's; hooks and whoever is asked come after it. `file` is where it can be kept
/// that a tool is not to be asked about any more.
pub(super) fn decide(
    step: &StepContext,
    tool: &McpEffect,
    modes: &McpApprovalModes,
    file: Option<&Path>,
) -> PolicyDecision {
    let never = step.approval == ApprovalPolicy::Never;
    // 1: nobody is asked, and nothing is confined.
    if never && step.sandbox.is_unrestricted() {
        return PolicyDecision::Allow;
    }
    let mode = modes.mode(&tool.server, &tool.tool);
    match mode {
        McpApprovalMode::Approve => return PolicyDecision::Allow,
        McpApprovalMode::Auto if !is_required(tool) => return PolicyDecision::Allow,
        McpApprovalMode::Auto | McpApprovalMode::Prompt => {}
    }
    let refused = match step.approval {
        ApprovalPolicy::Never => Some(NEVER),
        ApprovalPolicy::Granular(granular) if !granular.mcp_elicitations => Some(NO_ELICITATIONS),
        ApprovalPolicy::Granular(_) | ApprovalPolicy::OnRequest | ApprovalPolicy::UnlessTrusted => None,
    };
    if let Some(text) = refused {
        return PolicyDecision::Deny { text: text.to_owned() };
    }
    let McpEffect { server, tool, .. } = tool;
    let reason = Some(format!("Allow the {server} MCP server to run tool \"{tool}\"?"));
    let always = file.map(|file| ApprovalScope::McpTool {
        server: server.clone(),
        tool: tool.clone(),
        file: file.to_owned(),
    });
    let scopes = match mode {
        McpApprovalMode::Auto => {
            [ApprovalScope::Once, ApprovalScope::Session].into_iter().chain(always).collect()
        }
        // 9: a mode that asks each time has no answer for later.
        McpApprovalMode::Prompt | McpApprovalMode::Approve => vec![ApprovalScope::Once],
    };
    PolicyDecision::Ask(Question { reason, scopes, unsandboxed: false })
}

/// Step 2. What a server does not say of a tool is taken for the worst.
fn is_required(tool: &McpEffect) -> bool {
    match (tool.destructive, tool.read_only) {
        (Some(true), _) => true,
        (_, Some(true)) => false,
        (destructive, _) => destructive.unwrap_or(true) || tool.open_world.unwrap_or(true),
    }
}

#[cfg(test)]
#[path = "mcp_tests.rs"]
mod tests;
