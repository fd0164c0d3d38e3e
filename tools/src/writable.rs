//! What a sandbox mode lets be written: one answer for commands, which a sandbox holds to it, and for patches, which
//! policy decides on.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{SandboxPolicy, WorkspaceWrite};

/// What stays read-only in every folder that may be written (runtime.md D9.1): who may change it can have the user run
/// a command of his, later and without a sandbox.
const PROTECTED_NAMES: [&str; 3] = [".git", ".tenon", ".agents"];

/// How a file named `.git` begins that says where the repository is.
const GIT_POINTER: &str = "gitdir:";

/// Bytes of such a file that are read. More than a path can have.
const MAX_POINTER_BYTES: u64 = 8 * 1024;

/// A folder below which may be written, and what of it may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WritableRoot {
    path: PathBuf,
    read_only: Vec<PathBuf>,
}

impl WritableRoot {
    /// The folder as it is now: none where it is not there, or is no folder.
    fn of(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok().filter(|path| path.is_dir())?;
        let mut read_only = Vec::new();
        for name in PROTECTED_NAMES {
            let named = path.join(name);
            // A link is protected and what it leads to; a worktree's pointer and where it points.
            let resolved = named.canonicalize().ok().filter(|resolved| *resolved != named);
            let pointed = pointed_at(&named);
            read_only.push(named);
            read_only.extend(resolved);
            read_only.extend(pointed);
        }
        Some(Self { path, read_only })
    }

    /// Keeps those of `protected` read-only that lie in it.
    fn keep(&mut self, protected: &[PathBuf]) {
        let inside = protected.iter().filter(|path| path.starts_with(&self.path) && **path != self.path);
        self.read_only.extend(inside.cloned());
    }

    /// The folder, absolute and without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What must not be written, whether it is there or not; below the folder, or elsewhere when something of it leads
    /// there.
    pub fn read_only(&self) -> &[PathBuf] {
        &self.read_only
    }
}

impl SandboxPolicy {
    /// The folders below which may be written under this mode, by a command that runs in `cwd`; none where everything
    /// may be. `tmpdir` is the `$TMPDIR` of the host: not that of a command, which a command could choose.
    ///
    /// What is not there now is left out, and what is reached by a link that lies in another of them and leads out of it. The file system is read, since links lead elsewhere.
    pub fn writable_roots(&self, cwd: &Path, tmpdir: Option<&Path>) -> Option<Vec<WritableRoot>> {
        let WorkspaceWrite {
            writable_roots,
            network_access: _,
            exclude_tmpdir_env_var,
            exclude_slash_tmp,
            protected,
        } = match self {
            Self::DangerFullAccess | Self::ExternalSandbox => return None,
            Self::ReadOnly => return Some(Vec::new()),
            Self::WorkspaceWrite(workspace) => workspace,
        };
        let tmpdir = tmpdir.filter(|path| !exclude_tmpdir_env_var && path.is_absolute());
        let slash_tmp = (!exclude_slash_tmp).then_some(Path::new("/tmp"));
        let named = std::iter::once(cwd).chain(writable_roots.iter().map(PathBuf::as_path));
        let mut roots: Vec<WritableRoot> = Vec::new();
        let mut asked = Vec::new();
        for path in named.chain(slash_tmp).chain(tmpdir) {
            let Some(root) = WritableRoot::of(path) else { continue };
            if roots.iter().all(|known| known.path != root.path) {
                asked.push(path);
                roots.push(root);
            }
        }
        let all: Vec<PathBuf> = roots.iter().map(|root| root.path.clone()).collect();
        let mut asked = asked.into_iter();
        roots.retain(|root| asked.next().is_none_or(|path| !leads_out(path, &root.path, &all)));
        // Who names what lies in a protected folder wants to have it written.
        let named: Vec<PathBuf> = roots.iter().map(|root| root.path.clone()).collect();
        let protected: Vec<PathBuf> = protected.iter().flat_map(|path| without_links(path)).collect();
        for root in &mut roots {
            root.keep(&protected);
            root.read_only.retain(|path| !named.iter().any(|named| named.starts_with(path)));
        }
        Some(roots)
    }

    /// Whether `path`, absolute and with its links resolved, may be written under this mode.
    pub fn may_write(&self, path: &Path, cwd: &Path, tmpdir: Option<&Path>) -> bool {
        let Some(roots) = self.writable_roots(cwd, tmpdir) else { return true };
        roots.iter().any(|root| path.starts_with(&root.path))
            && !roots.iter().flat_map(|root| &root.read_only).any(|protected| path.starts_with(protected))
    }
}

/// Where a path lies, and where it leads if it is a link; as it is named where it is not there yet.
fn without_links(path: &Path) -> Vec<PathBuf> {
    let named = path.parent().and_then(|folder| folder.canonicalize().ok()).zip(path.file_name());
    let named = named.map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name));
    let resolved = path.canonicalize().ok().filter(|resolved| *resolved != named);
    std::iter::once(named).chain(resolved).collect()
}

/// Whether the way from `asked` to `found`, where its links lead, goes through one of `roots` and out of it again. Such a
/// link could have been made by a command, to be given what it leads to the next time.
fn leads_out(asked: &Path, found: &Path, roots: &[PathBuf]) -> bool {
    let way = || asked.ancestors().filter_map(|path| path.canonicalize().ok());
    roots.iter().any(|root| !found.starts_with(root) && way().any(|passed| passed.starts_with(root)))
}

/// Where a file named `.git` says that the repository is, and what that shares with others.
fn pointed_at(pointer: &Path) -> Vec<PathBuf> {
    let Some(repository) = path_in(pointer, GIT_POINTER) else { return Vec::new() };
    let shared = path_in(&repository.join("commondir"), "");
    std::iter::once(repository).chain(shared).collect()
}

/// The path that a small file holds after `prefix`, from the file's folder on and without links.
fn path_in(file: &Path, prefix: &str) -> Option<PathBuf> {
    let found = fs::metadata(file).ok()?;
    if !found.is_file() || found.len() > MAX_POINTER_BYTES {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    let named = text.strip_prefix(prefix)?.trim();
    file.parent()?.join(named).canonicalize().ok()
}

#[cfg(test)]
#[path = "writable_tests.rs"]
mod tests;
