//! Scenarios of `tests/approvals`: what becomes of calls that somebody is asked about, played through a session with
//! the real tools, MCP servers and scripts.
//!
//! They are scenarios as in `parity/`, with one member more, `approvals`: the settings, what is answered to each
//! question in turn, and what must have been asked and done.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod documented;
mod person;
mod place;
mod servers;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use tenon_tests::scenario::Scenario;

use person::{Answer, Asked};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/approvals");

/// The member `approvals` of a scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Approvals {
    /// `approval_policy`, as config.toml has it.
    policy: Policy,
    /// `sandbox_mode`; without, nothing is sandboxed.
    #[serde(default)]
    sandbox: Sandbox,
    /// A rule file.
    #[serde(default)]
    rules: String,
    /// How long an answer is waited for.
    timeout_ms: Option<u64>,
    /// Why a hook asks about every call.
    hook_asks: Option<String>,
    /// What is answered to each question, in the order in which they are put.
    #[serde(default)]
    answers: Vec<Answer>,
    /// The questions.
    #[serde(default)]
    asked: Vec<Asked>,
    /// The rule file afterwards, where it was written.
    #[serde(default)]
    rules_after: Option<String>,
    /// Whether the server of `calendar_fixture.py` is there, as `calendar`.
    #[serde(default)]
    calendar: bool,
    /// The tools that it was really called for.
    #[serde(default)]
    called: Vec<String>,
    /// Whether it can be kept that an MCP tool is not to be asked about again.
    #[serde(default)]
    keeps: bool,
    /// What was kept.
    #[serde(default)]
    kept: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Policy {
    Untrusted,
    OnRequest,
    Never,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Sandbox {
    ReadOnly,
    WorkspaceWrite,
    #[default]
    DangerFullAccess,
}

/// A scenario, and what it says of approvals.
fn load(path: &Path) -> (Scenario, Approvals) {
    let mut whole: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let approvals = whole.as_object_mut().unwrap().remove("approvals").expect("approvals");
    let name = name(path);
    let approvals = serde_json::from_value(approvals).unwrap_or_else(|error| panic!("{name}: {error}"));
    let scenario: Scenario = serde_json::from_value(whole).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(scenario.name, name);
    (scenario, approvals)
}

/// A scenario is named like its file.
fn name(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().unwrap()
}

fn paths() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// What must come of a scenario, in the form of what does.
fn expected(scenario: &Scenario, approvals: &Approvals) -> Value {
    json!({
        "outputs": scenario.expected.outputs,
        "files": scenario.expected.files,
        "exit": scenario.expected.exit,
        "asked": approvals.asked,
        "called": approvals.called,
        "kept": approvals.kept,
        "rules_after": approvals.rules_after,
        "unanswered": 0,
    })
}

/// Plays the scenarios of one group, and tells all differences at once.
async fn play_group(group: &str) {
    let mut differences = Vec::new();
    for path in paths().into_iter().filter(|path| name(path).starts_with(group)) {
        let (scenario, approvals) = load(&path);
        let want = expected(&scenario, &approvals);
        let got = place::play(&scenario, approvals).await;
        if got != want {
            let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap();
            let (want, got) = (pretty(&want), pretty(&got));
            let diff = similar::TextDiff::from_lines(&want, &got);
            differences.push(format!("{}\n{}", scenario.name, diff.unified_diff().context_radius(2)));
        }
    }
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}

macro_rules! groups {
    ($($test:ident: $prefix:literal, $at_least:literal;)*) => {
        const GROUPS: &[(&str, usize)] = &[$(($prefix, $at_least)),*];
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                play_group($prefix).await;
            }
        )*
    };
}

groups! {
    commands: "exec-", 10;
    hooks: "hook-", 1;
    mcp_tools: "mcp-", 14;
    calls_of_scripts_to_commands: "nested-exec-", 3;
    calls_of_scripts_to_mcp_tools: "nested-mcp-", 7;
    calls_of_scripts_to_patches: "nested-patch-", 9;
    calls_of_scripts_to_all: "nested-a", 5;
    calls_of_scripts_that_run_twice: "nested-retry-", 1;
    patches: "patch-", 10;
}

#[test]
fn every_scenario_is_there_and_belongs_to_one_group() {
    for path in paths() {
        let groups = GROUPS.iter().filter(|(group, _)| name(&path).starts_with(group)).count();
        assert_eq!(groups, 1, "{}", path.display());
    }
    for (group, at_least) in GROUPS {
        let found = paths().iter().filter(|path| name(path).starts_with(group)).count();
        assert!(found >= *at_least, "{group}: {found}");
    }
}
