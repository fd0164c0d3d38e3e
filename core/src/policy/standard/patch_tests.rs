use std::fs;

use pretty_assertions::assert_eq;
use tenon_tools::{GranularApproval, SandboxPolicy, WorkspaceWrite};

use super::*;

struct Place {
    _folder: tempfile::TempDir,
    work: PathBuf,
    outside: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let (work, outside) = (path.join("work"), path.join("outside"));
    for folder in [&work, &outside] {
        fs::create_dir(folder).unwrap();
    }
    Place { _folder: folder, work, outside }
}

impl Place {
    /// Decides on writing these files, below the folder that holds both places.
    fn decided(&self, approval: ApprovalPolicy, sandbox: SandboxPolicy, files: &[&str]) -> PolicyDecision {
        let step = StepContext { approval, sandbox, cwd: self.work.clone(), ..StepContext::default() };
        let above = self.work.parent().unwrap();
        let writes = files.iter().map(|file| FileEffect { path: above.join(file), content: None });
        decide(&step, &writes.collect::<Vec<_>>(), None)
    }
}

/// The working folder, and nothing beside it: the tests themselves run below /tmp.
fn workspace(roots: &[&Path]) -> SandboxPolicy {
    SandboxPolicy::WorkspaceWrite(WorkspaceWrite {
        writable_roots: roots.iter().map(|root| root.to_path_buf()).collect(),
        exclude_slash_tmp: true,
        ..WorkspaceWrite::default()
    })
}

fn short(decision: PolicyDecision) -> String {
    match decision {
        PolicyDecision::Allow => "allow".to_owned(),
        PolicyDecision::AllowUnsandboxed => "unsandboxed".to_owned(),
        PolicyDecision::Ask(question) => {
            format!("ask {}", question.reason.unwrap_or_default()).trim().to_owned()
        }
        PolicyDecision::Deny { text } => text,
    }
}

fn granular(sandbox_approval: bool) -> ApprovalPolicy {
    ApprovalPolicy::Granular(GranularApproval { sandbox_approval, ..GranularApproval::default() })
}

/// A9, row by row.
#[test]
fn the_table() {
    let place = place();
    let work = || workspace(&[]);
    let both = || workspace(&[&place.outside]);
    let at = |file: &str| place.work.parent().unwrap().join(file).display().to_string();
    let ask = |file: &str| format!("ask writing outside of the project: {}", at(file));
    let ask_read_only = |file: &str| format!("ask writing is blocked by read-only sandbox: {}", at(file));
    let outside = "patch rejected: writing outside of the project; rejected by user approval settings";
    let read_only =
        "patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings";
    let (untrusted, on_request, never) =
        (ApprovalPolicy::UnlessTrusted, ApprovalPolicy::OnRequest, ApprovalPolicy::Never);
    let rows = [
        // untrusted
        (untrusted, work(), &["work/a"][..], "ask".to_owned()),
        (untrusted, work(), &["outside/a"], ask("outside/a")),
        (untrusted, SandboxPolicy::DangerFullAccess, &["outside/a"], "ask".to_owned()),
        // inside, or everything is
        (on_request, work(), &["work/a", "work/b/c"], "allow".to_owned()),
        (never, work(), &["work/a"], "allow".to_owned()),
        (granular(false), work(), &["work/a"], "allow".to_owned()),
        (never, both(), &["work/a", "outside/a"], "allow".to_owned()),
        (never, SandboxPolicy::DangerFullAccess, &["outside/a"], "allow".to_owned()),
        (never, SandboxPolicy::ExternalSandbox, &["outside/a"], "allow".to_owned()),
        (on_request, work(), &["outside/../work/a"], "allow".to_owned()),
        // nobody may be asked
        (never, work(), &["work/a", "outside/a"], outside.to_owned()),
        (never, work(), &["work/../outside/a"], outside.to_owned()),
        (never, work(), &["work/.git/config"], outside.to_owned()),
        (never, work(), &["work/.tenon/hooks.json"], outside.to_owned()),
        (never, work(), &["work/.agents/x"], outside.to_owned()),
        (granular(false), work(), &["outside/a"], outside.to_owned()),
        (never, SandboxPolicy::ReadOnly, &["work/a"], read_only.to_owned()),
        (granular(false), SandboxPolicy::ReadOnly, &["work/a"], read_only.to_owned()),
        // else
        (on_request, work(), &["work/a", "outside/a"], ask("outside/a")),
        (on_request, SandboxPolicy::ReadOnly, &["work/a"], ask_read_only("work/a")),
        (untrusted, SandboxPolicy::ReadOnly, &["work/a"], ask_read_only("work/a")),
        (granular(true), work(), &["outside/a"], ask("outside/a")),
        (on_request, work(), &["work/.git/hooks/x"], ask("work/.git/hooks/x")),
    ];
    for (approval, sandbox, files, expected) in rows {
        let label = format!("{approval:?} {} {files:?}", sandbox.name());
        assert_eq!(short(place.decided(approval, sandbox, files)), expected, "{label}");
    }
}

#[test]
fn a_yes_may_hold_for_the_session() {
    let asked = place().decided(ApprovalPolicy::OnRequest, SandboxPolicy::ReadOnly, &["work/a"]);
    let PolicyDecision::Ask(question) = asked else { panic!("{asked:?}") };
    assert_eq!(question.scopes, [ApprovalScope::Once, ApprovalScope::Session]);
    assert!(!question.unsandboxed);
}
