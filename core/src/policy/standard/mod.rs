//! The policy of runtime.md D9: approval policy and sandbox mode, and what they make of each kind of effect.

mod command;
mod mcp;
mod mcp_store;
mod other;
mod patch;
mod session;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use async_trait::async_trait;
use tenon_tools::{ApprovalPolicy, ApprovalScope, Effects, ToolInvocation};

use super::{ExecRules, NotRemembered, Policy, PolicyDecision, Question, RULES_FOLDER, RuleError};
pub use mcp::{McpApprovalMode, McpApprovalModes};
pub use mcp_store::McpApprovalStore;
use session::SessionApprovals;

/// What the model reads where a call would have to be asked about and nobody may be (runtime.md D9.4).
const NEVER: &str = "approval required by policy, but AskForApproval is set to Never";
/// What it reads of a default requirement under granular without `sandbox_approval` (runtime.md D9.4).
const NO_SANDBOX_APPROVAL: &str = "approval policy disallowed sandbox approval prompt";

/// Decides by the step's approval policy and sandbox mode, by rules on commands, by what MCP servers say of their
/// tools, and by what was approved for the session.
///
/// | what a call would do | decided by |
/// |---|---|
/// | run a command | rules, lists, approval policy (D10) |
/// | write files | where they lie (A9) |
/// | call an MCP tool | its annotations and its mode (core.md 9.5) |
/// | feed a session | nothing: the command was decided on when it was started, and runs as it was confined then |
/// | anything else | the default requirement (D9.b) |
///
/// ```
/// use tenon_core::policy::{ExecRules, StandardPolicy};
/// let rules = ExecRules::read("prefix_rule(pattern = [\"git\", \"push\"], decision = \"prompt\")\n", "my.rules".as_ref())?;
/// let policy = StandardPolicy::new().with_rules(rules);
/// # let _ = policy;
/// # Ok::<(), tenon_core::policy::RuleError>(())
/// ```
#[derive(Debug, Default)]
pub struct StandardPolicy {
    rules: RwLock<ExecRules>,
    /// Where rules are written back to.
    rules_folder: Option<PathBuf>,
    mcp: RwLock<McpApprovalModes>,
    /// Where it is kept which MCP tools are not asked about any more.
    mcp_store: Option<Arc<dyn McpApprovalStore>>,
    /// `$TMPDIR` as commands see it.
    temporary: Option<PathBuf>,
    approved: Mutex<SessionApprovals>,
}

impl StandardPolicy {
    /// A policy without rules, which remembers nothing beyond the session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Goes by these rules.
    #[must_use]
    pub fn with_rules(self, rules: ExecRules) -> Self {
        Self { rules: RwLock::new(rules), ..self }
    }

    /// Goes by the rule files of a home folder, and writes new ones there.
    ///
    /// # Errors
    /// When a file holds anything else than rules.
    pub fn with_rules_of(self, home: &Path) -> Result<Self, RuleError> {
        let folder = home.join(RULES_FOLDER);
        let rules = ExecRules::load(&folder)?;
        Ok(Self { rules_folder: Some(folder), ..self.with_rules(rules) })
    }

    /// Whether there are rules on hosts, which nothing of ours holds anybody to yet.
    pub fn has_network_rules(&self) -> bool {
        !self.rules.read().unwrap_or_else(PoisonError::into_inner).networks().is_empty()
    }

    /// Takes `approval_mode` of MCP tools from here.
    #[must_use]
    pub fn with_mcp_modes(self, mcp: McpApprovalModes) -> Self {
        Self { mcp: RwLock::new(mcp), ..self }
    }

    /// Offers not to ask about an MCP tool any more, in later sessions either, and keeps the answer here.
    #[must_use]
    pub fn with_mcp_store(self, store: Arc<dyn McpApprovalStore>) -> Self {
        Self { mcp_store: Some(store), ..self }
    }

    /// What commands have for `$TMPDIR`: it is writable under workspace-write (runtime.md D9.1).
    #[must_use]
    pub fn with_temporary_folder(self, temporary: Option<PathBuf>) -> Self {
        Self { temporary, ..self }
    }

    /// What was approved for the session lets a call run that would be asked about.
    fn unless_approved(
        &self,
        call: &ToolInvocation,
        effects: &Effects,
        decision: PolicyDecision,
    ) -> PolicyDecision {
        let PolicyDecision::Ask(question) = decision else { return decision };
        let offered = question.scopes.contains(&ApprovalScope::Session);
        if offered && self.approved.lock().unwrap_or_else(PoisonError::into_inner).covers(call, effects) {
            return if question.unsandboxed {
                PolicyDecision::AllowUnsandboxed
            } else {
                PolicyDecision::Allow
            };
        }
        PolicyDecision::Ask(question)
    }

    /// A call may do several things: the strictest decision counts.
    fn on_each(&self, call: &ToolInvocation, effects: &Effects) -> PolicyDecision {
        let Effects { reads: _, writes, command, input: _, mcp, other } = effects;
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        let command =
            command.as_ref().map(|command| command::decide(&call.step, command, &rules, self.rule_file()));
        let patch =
            (!writes.is_empty()).then(|| patch::decide(&call.step, writes, self.temporary.as_deref()));
        let mcp = mcp.as_ref().map(|mcp| {
            let modes = self.mcp.read().unwrap_or_else(PoisonError::into_inner);
            mcp::decide(&call.step, mcp, &modes, self.mcp_store.as_deref().map(McpApprovalStore::file))
        });
        let other = other.as_ref().map(|_| other::decide(&call.step));
        let decisions = [command, patch, mcp, other].into_iter().flatten();
        decisions.reduce(stricter).unwrap_or(PolicyDecision::Allow)
    }

    fn rule_file(&self) -> Option<PathBuf> {
        self.rules_folder.as_ref().map(|folder| folder.join(super::DEFAULT_RULES))
    }
}

#[async_trait]
impl Policy for StandardPolicy {
    async fn decide(&self, call: &ToolInvocation, effects: &Effects) -> PolicyDecision {
        let decision = self.on_each(call, effects);
        self.unless_approved(call, effects, decision)
    }

    async fn retry(&self, call: &ToolInvocation, effects: &Effects) -> Option<Question> {
        effects.command.as_ref().and_then(|_| command::retry(call.step.approval))
    }

    async fn remember(
        &self,
        call: &ToolInvocation,
        effects: &Effects,
        scope: &ApprovalScope,
    ) -> Result<(), NotRemembered> {
        match scope {
            ApprovalScope::Once => Ok(()),
            ApprovalScope::Session => {
                self.allow_for_session(call, effects);
                Ok(())
            }
            ApprovalScope::Prefix { prefix, file: _ } => {
                self.allow_prefix(prefix).await.map_err(NotRemembered::CallAlone)
            }
            ApprovalScope::McpTool { server, tool, file: _ } => {
                // At once, and all the same where it cannot be kept for longer.
                self.allow_for_session(call, effects);
                self.allow_tool(server, tool).await.map_err(NotRemembered::SessionAlone)
            }
        }
    }
}

impl StandardPolicy {
    fn allow_for_session(&self, call: &ToolInvocation, effects: &Effects) {
        self.approved.lock().unwrap_or_else(PoisonError::into_inner).add(call, effects);
    }

    async fn allow_prefix(&self, prefix: &[String]) -> Result<(), String> {
        if command::is_too_wide(prefix) {
            return Err(format!("a rule on `{}` would allow far more than this", command::shown(prefix)));
        }
        let Some(folder) = &self.rules_folder else {
            return Err("there is no folder to write rules to".to_owned());
        };
        // No decision waits for the disk, nor for another program that changes the file.
        let (words, folder) = (prefix.to_vec(), folder.clone());
        let writing = tokio::task::spawn_blocking(move || ExecRules::write_prefix(&words, &folder));
        let written = writing.await.map_err(|error| error.to_string())?;
        written.map_err(|error| error.to_string())?;
        self.rules.write().unwrap_or_else(PoisonError::into_inner).add_prefix(prefix);
        Ok(())
    }

    async fn allow_tool(&self, server: &str, tool: &str) -> Result<(), String> {
        let Some(store) = &self.mcp_store else {
            return Err("there is no file to write it to".to_owned());
        };
        store.approve(server, tool).await?;
        let mut modes = self.mcp.write().unwrap_or_else(PoisonError::into_inner);
        modes.set_tool(server, tool, McpApprovalMode::Approve);
        Ok(())
    }
}

/// Of two decisions the one that lets less through.
fn stricter(one: PolicyDecision, other: PolicyDecision) -> PolicyDecision {
    let rank = |decision: &PolicyDecision| match decision {
        PolicyDecision::AllowUnsandboxed => 0,
        PolicyDecision::Allow => 1,
        PolicyDecision::Ask(_) => 2,
        PolicyDecision::Deny { .. } => 3,
    };
    if rank(&other) > rank(&one) { other } else { one }
}

/// Why nobody may be asked to let something out of the sandbox; none where somebody may (runtime.md D10.4).
fn no_sandbox_question(policy: ApprovalPolicy) -> Option<&'static str> {
    match policy {
        ApprovalPolicy::UnlessTrusted | ApprovalPolicy::OnRequest => None,
        ApprovalPolicy::Granular(granular) if granular.sandbox_approval => None,
        ApprovalPolicy::Granular(_) => {
            Some("approval required by policy, but AskForApproval::Granular.sandbox_approval is false")
        }
        ApprovalPolicy::Never => Some(NEVER),
    }
}

#[cfg(test)]
#[path = "standard_tests.rs"]
mod tests;
