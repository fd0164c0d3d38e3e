//! The environment of a command (runtime.md B5).
//!
//! The host's variables come in as a value; this process's own are never read.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::LazyLock;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use tenon_tools::{EnvironmentInherit, EnvironmentPolicy, SandboxPolicy};

/// Names and values of variables.
pub type Environment = BTreeMap<OsString, OsString>;

/// What `inherit = "core"` keeps, names compared without regard to case (runtime.md B5.2).
const CORE_NAMES: [&str; 11] =
    ["PATH", "SHELL", "TMPDIR", "TEMP", "TMP", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "USER"];

/// Names that look like secrets.
static SECRETS: LazyLock<Result<GlobSet, PatternError>> =
    LazyLock::new(|| globs("default", ["*KEY*", "*SECRET*", "*TOKEN*"]));

/// Credentials of the host's own that no command ever gets, even where the user sets them.
const FORBIDDEN_NAMES: [&str; 5] = [
    "CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN",
    "NODE_REPL_AUTH_TOKEN",
    "OPENAI_FEDERATION_RULE_ID",
    "OPENAI_IDENTITY_TOKEN_FILE",
    "OPENAI_WORKLOAD_IDENTITY_CONTEXT",
];

/// What every command gets last, over everything else: plain text, one encoding, no pager.
const FORCED: [(&str, &str); 10] = [
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    ("LANG", "C.UTF-8"),
    ("LC_CTYPE", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("COLORTERM", ""),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("TENON_CI", "1"),
];

/// A pattern of `[shell_environment_policy]` that is no glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("shell_environment_policy.{list}: `{pattern}` is not a valid pattern: {reason}")]
pub struct PatternError {
    /// `exclude` or `include_only`.
    pub list: &'static str,
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

/// The whole environment of a command: the variables of `host` that `policy` lets through, what the policy sets, the
/// ids of the session, and the forced ones, in the order of runtime.md B5.
///
/// Names that look like secrets are dropped under a sandbox and kept without one, unless the policy says otherwise.
///
/// # Errors
/// When a pattern of the policy is no glob.
pub fn command_environment(
    host: &Environment,
    policy: &EnvironmentPolicy,
    sandbox: &SandboxPolicy,
    session_id: &str,
) -> Result<Environment, PatternError> {
    let mut variables = inherited(host, policy.inherit);
    let keeps_secrets = policy.ignore_default_excludes.unwrap_or_else(|| sandbox.is_unrestricted());
    if !keeps_secrets {
        drop_matches(&mut variables, SECRETS.as_ref().map_err(Clone::clone)?);
    }
    drop_matches(&mut variables, &globs("exclude", policy.exclude.iter().map(String::as_str))?);
    variables.extend(policy.set.iter().map(|(name, value)| (name.into(), value.into())));
    if !policy.include_only.is_empty() {
        let kept = globs("include_only", policy.include_only.iter().map(String::as_str))?;
        variables.retain(|name, _| kept.is_match(name));
    }
    for name in FORBIDDEN_NAMES {
        variables.remove(OsStr::new(name));
    }
    variables.insert("TENON_THREAD_ID".into(), session_id.into());
    variables.insert("TENON_SESSION_ID".into(), session_id.into());
    force(&mut variables);
    Ok(variables)
}

/// Sets the variables that every command gets, over whatever is there.
pub(crate) fn force(variables: &mut Environment) {
    variables.extend(FORCED.iter().map(|(name, value)| (name.into(), value.into())));
}

fn inherited(host: &Environment, inherit: EnvironmentInherit) -> Environment {
    match inherit {
        EnvironmentInherit::All => host.clone(),
        EnvironmentInherit::Core => {
            let is_core = |name: &OsStr| CORE_NAMES.iter().any(|core| name.eq_ignore_ascii_case(core));
            host.iter()
                .filter(|(name, _)| is_core(name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        }
        EnvironmentInherit::None => Environment::new(),
    }
}

fn drop_matches(variables: &mut Environment, patterns: &GlobSet) {
    variables.retain(|name, _| !patterns.is_match(name));
}

/// Patterns of names, compared without regard to case.
fn globs<'a>(
    list: &'static str,
    patterns: impl IntoIterator<Item = &'a str>,
) -> Result<GlobSet, PatternError> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let wrong = |error: globset::Error| PatternError {
            list,
            pattern: pattern.to_owned(),
            reason: error.kind().to_string(),
        };
        set.add(GlobBuilder::new(pattern).case_insensitive(true).build().map_err(wrong)?);
    }
    set.build().map_err(|error| PatternError {
        list,
        pattern: String::new(),
        reason: error.kind().to_string(),
    })
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
