//! Patches: decided by where the files lie (runtime.md A9).

use std::path::{Component, Path, PathBuf};

use tenon_tools::{ApprovalPolicy, ApprovalScope, FileEffect, StepContext};

use super::no_sandbox_question;
use crate::policy::{PolicyDecision, Question};

/// Why a file is not written unasked that lies outside.
const OUTSIDE: &str = "writing outside of the project";
/// The same where nothing may be written at all.
const READ_ONLY: &str = "writing is blocked by read-only sandbox";
/// What the model reads behind it where nobody may be asked.
const BY_SETTINGS: &str = "rejected by user approval settings";

/// The first row that holds counts.
///
/// | condition | decision |
/// |---|---|
/// | policy untrusted | ask |
/// | every file lies in a writable root | allow |
/// | nobody may be asked to let it out | deny |
/// | else | ask |
///
/// An empty patch never comes here: it is refused when it is prepared. The paths have their links resolved, so that no
/// link leads out of a root; a patch is applied by this program itself, which no sandbox confines.
pub(super) fn decide(step: &StepContext, writes: &[FileEffect], temporary: Option<&Path>) -> PolicyDecision {
    let may_write = |file: &&FileEffect| step.sandbox.may_write(&lexical(&file.path), &step.cwd, temporary);
    let outside: Vec<&FileEffect> = writes.iter().filter(|file| !may_write(file)).collect();
    let roots = step.sandbox.writable_roots(&step.cwd, temporary);
    let why = if roots.is_some_and(|roots| roots.is_empty()) { READ_ONLY } else { OUTSIDE };
    if step.approval != ApprovalPolicy::UnlessTrusted {
        if outside.is_empty() {
            return PolicyDecision::Allow;
        }
        if no_sandbox_question(step.approval).is_some() {
            return PolicyDecision::Deny { text: format!("patch rejected: {why}; {BY_SETTINGS}") };
        }
    }
    let paths: Vec<String> = outside.iter().map(|file| file.path.display().to_string()).collect();
    let reason = (!paths.is_empty()).then(|| format!("{why}: {}", paths.join(", ")));
    let scopes = vec![ApprovalScope::Once, ApprovalScope::Session];
    PolicyDecision::Ask(Question { reason, scopes, unsandboxed: false })
}

/// The path without `.` and `..`, links not looked at: a tool that resolves its paths has left none.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
