use std::path::PathBuf;

use tenon_tools::{SandboxPolicy, WorkspaceWrite};

use super::*;

/// Whether a command in `folder` gets shared memory of its own.
fn given(policy: &SandboxPolicy, folder: &Path) -> bool {
    let limits = Limits::of(policy, folder, None).expect("limits");
    SharedMemory::plan(&limits, folder).expect("planned").is_some()
}

fn workspace(roots: &[PathBuf]) -> SandboxPolicy {
    SandboxPolicy::WorkspaceWrite(WorkspaceWrite {
        writable_roots: roots.to_vec(),
        exclude_tmpdir_env_var: true,
        exclude_slash_tmp: true,
        ..WorkspaceWrite::default()
    })
}

#[test]
fn whoever_may_write_gets_one_unless_the_hosts_is_meant() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path();
    assert!(!given(&SandboxPolicy::ReadOnly, own));
    let there = Path::new(PLACE).canonicalize();
    assert_eq!(given(&workspace(&[]), own), there.is_ok());
    let Ok(there) = there else { return };
    assert!(!given(&workspace(std::slice::from_ref(&there)), own));
    assert!(!given(&workspace(&["/".into()]), own));
    assert!(!given(&workspace(&[]), &there));
    let below = tempfile::tempdir_in(&there).expect("a folder");
    assert!(!given(&workspace(&[below.path().to_owned()]), own));
    assert!(!given(&workspace(&[]), below.path()));
}
