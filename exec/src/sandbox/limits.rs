//! What a command is held to.

use std::path::Path;

use tenon_tools::{SandboxPolicy, WritableRoot};

/// A sandbox mode, settled for one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Limits {
    mode: &'static str,
    roots: Vec<WritableRoot>,
    network: bool,
}

impl Limits {
    /// What `policy` means for the commands of a step that works in `cwd`; none where it sets no limit. `tmpdir` is
    /// that of the host.
    pub(crate) fn of(policy: &SandboxPolicy, cwd: &Path, tmpdir: Option<&Path>) -> Option<Self> {
        let roots = policy.writable_roots(cwd, tmpdir)?;
        let network = match policy {
            SandboxPolicy::WorkspaceWrite(workspace) => workspace.network_access,
            SandboxPolicy::ReadOnly => false,
            SandboxPolicy::DangerFullAccess | SandboxPolicy::ExternalSandbox => true,
        };
        Some(Self { mode: policy.name(), roots, network })
    }

    /// The mode's name.
    pub(crate) fn mode(&self) -> &'static str {
        self.mode
    }

    /// Where it may write.
    pub(super) fn roots(&self) -> &[WritableRoot] {
        &self.roots
    }

    /// Whether it may dial.
    pub(crate) fn network(&self) -> bool {
        self.network
    }
}
