use std::os::unix::ffi::OsStringExt;

use pretty_assertions::assert_eq;
use tenon_tools::WorkspaceWrite;

use super::*;

fn host(pairs: &[(&str, &str)]) -> Environment {
    pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

fn built(host: &Environment, policy: &EnvironmentPolicy, sandbox: &SandboxPolicy) -> Environment {
    command_environment(host, policy, sandbox, "session").expect("valid patterns")
}

/// The variables that are neither forced nor ids.
fn own(environment: &Environment) -> Vec<(&str, &str)> {
    let ours = |name: &str| FORCED.iter().any(|(forced, _)| *forced == name) || name.starts_with("TENON_");
    environment
        .iter()
        .map(|(name, value)| (name.to_str().expect("text"), value.to_str().expect("text")))
        .filter(|(name, _)| !ours(name))
        .collect()
}

fn open(policy: &EnvironmentPolicy, pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let environment = built(&host(pairs), policy, &SandboxPolicy::DangerFullAccess);
    own(&environment).into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn everything_forced_is_there_and_wins() {
    let policy =
        EnvironmentPolicy { set: [("TERM".to_owned(), "xterm".to_owned())].into(), ..Default::default() };
    let environment =
        built(&host(&[("LANG", "de_DE"), ("PAGER", "less")]), &policy, &SandboxPolicy::ReadOnly);
    let expected = host(&[
        ("COLORTERM", ""),
        ("GH_PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("LANG", "C.UTF-8"),
        ("LC_ALL", "C.UTF-8"),
        ("LC_CTYPE", "C.UTF-8"),
        ("NO_COLOR", "1"),
        ("PAGER", "cat"),
        ("TENON_CI", "1"),
        ("TENON_SESSION_ID", "session"),
        ("TENON_THREAD_ID", "session"),
        ("TERM", "dumb"),
    ]);
    assert_eq!(environment, expected);
}

#[test]
fn inherits_all_core_or_none() {
    let variables = [("HOME", "/h"), ("KUBECONFIG", "y"), ("USER", "u"), ("path", "/p")];
    let policy = |inherit| EnvironmentPolicy { inherit, ..Default::default() };
    assert_eq!(open(&policy(EnvironmentInherit::All), &variables), pairs(&variables));
    assert_eq!(
        open(&policy(EnvironmentInherit::Core), &variables),
        pairs(&[("HOME", "/h"), ("USER", "u"), ("path", "/p")])
    );
    assert_eq!(open(&policy(EnvironmentInherit::None), &variables), pairs(&[]));
}

#[test]
fn secrets_stay_out_of_a_sandbox() {
    let secrets = host(&[("API_KEY", "x"), ("KUBECONFIG", "y"), ("my_token", "z"), ("SECRETS", "s")]);
    let workspace = SandboxPolicy::WorkspaceWrite(WorkspaceWrite::default());
    let kept =
        |policy: &EnvironmentPolicy, sandbox: &SandboxPolicy| own(&built(&secrets, policy, sandbox)).len();
    let default = EnvironmentPolicy::default();
    assert_eq!(own(&built(&secrets, &default, &workspace)), [("KUBECONFIG", "y")]);
    assert_eq!(kept(&default, &SandboxPolicy::ReadOnly), 1);
    assert_eq!(kept(&default, &SandboxPolicy::DangerFullAccess), 4);
    assert_eq!(kept(&default, &SandboxPolicy::ExternalSandbox), 4);
    let allowed = EnvironmentPolicy { ignore_default_excludes: Some(true), ..Default::default() };
    assert_eq!(kept(&allowed, &workspace), 4);
    let refused = EnvironmentPolicy { ignore_default_excludes: Some(false), ..Default::default() };
    assert_eq!(kept(&refused, &SandboxPolicy::DangerFullAccess), 1);
}

#[test]
fn set_comes_after_exclude_and_before_include_only() {
    let policy = EnvironmentPolicy {
        exclude: vec!["aws_*".to_owned()],
        set: [("AWS_REGION".to_owned(), "eu".to_owned()), ("OTHER".to_owned(), "o".to_owned())].into(),
        include_only: vec!["AWS*".to_owned(), "P?TH".to_owned()],
        ..Default::default()
    };
    let kept = open(&policy, &[("AWS_PROFILE", "p"), ("PATH", "/p"), ("HOME", "/h")]);
    assert_eq!(kept, pairs(&[("AWS_REGION", "eu"), ("PATH", "/p")]));
}

#[test]
fn forbidden_names_cannot_be_set() {
    let policy = EnvironmentPolicy {
        set: FORBIDDEN_NAMES.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect(),
        ..Default::default()
    };
    assert_eq!(open(&policy, &[("NODE_REPL_AUTH_TOKEN", "x")]), pairs(&[]));
}

#[test]
fn names_that_are_no_text_are_inherited() {
    let name = OsString::from_vec(vec![b'A', 0xff]);
    let host: Environment = [(name.clone(), OsString::from("x"))].into();
    let environment = built(&host, &EnvironmentPolicy::default(), &SandboxPolicy::ReadOnly);
    assert_eq!(environment.get(&name), Some(&OsString::from("x")));
}

#[test]
fn a_broken_pattern_is_named() {
    let policy = EnvironmentPolicy { exclude: vec!["A[".to_owned()], ..Default::default() };
    let error = command_environment(&host(&[]), &policy, &SandboxPolicy::ReadOnly, "s").unwrap_err();
    assert_eq!(
        error.to_string(),
        "shell_environment_policy.exclude: `A[` is not a valid pattern: unclosed character class; missing ']'"
    );
}
