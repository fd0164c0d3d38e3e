//! What a command is held to.

use std::path::{Path, PathBuf};

use tenon_tools::{SandboxPolicy, WritableRoot};

/// A sandbox mode, settled for one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Limits {
    mode: &'static str,
    roots: Vec<WritableRoot>,
    /// Those of them that are no temporary folders.
    workspace: Vec<PathBuf>,
    network: bool,
}

impl Limits {
    /// What `policy` means for the commands of a step that works in `cwd`; none where it sets no limit. `tmpdir` is
    /// that of the host.
    pub(crate) fn of(policy: &SandboxPolicy, cwd: &Path, tmpdir: Option<&Path>) -> Option<Self> {
        let roots = policy.writable_roots(cwd, tmpdir)?;
        let (network, named) = match policy {
            SandboxPolicy::WorkspaceWrite(workspace) => {
                let named = std::iter::once(cwd).chain(workspace.writable_roots.iter().map(PathBuf::as_path));
                let named = named.filter_map(|path| path.canonicalize().ok());
                let is_root = |path: &PathBuf| roots.iter().any(|root| root.path() == path);
                (workspace.network_access, named.filter(is_root).collect())
            }
            SandboxPolicy::ReadOnly => (false, Vec::new()),
            SandboxPolicy::DangerFullAccess | SandboxPolicy::ExternalSandbox => (true, Vec::new()),
        };
        Some(Self { mode: policy.name(), roots, workspace: named, network })
    }

    /// The mode's name.
    pub(crate) fn mode(&self) -> &'static str {
        self.mode
    }

    /// Where it may write.
    pub(super) fn roots(&self) -> &[WritableRoot] {
        &self.roots
    }

    /// Where it works: the roots that are no temporary folders.
    pub(super) fn workspace(&self) -> &[PathBuf] {
        &self.workspace
    }

    /// Whether it may dial.
    pub(crate) fn network(&self) -> bool {
        self.network
    }
}
