//! Scenarios of `tests/approvals`: what becomes of calls that somebody is asked about, played through a session with
//! the real tools.
//!
//! They are scenarios as in `parity/`, with one member more, `approvals`: the settings, what is answered to each
//! question in turn, and what must have been asked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod documented;
mod person;
mod place;
mod tools;

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
    let name = path.file_stem().unwrap().to_str().unwrap();
    let approvals = serde_json::from_value(approvals).unwrap_or_else(|error| panic!("{name}: {error}"));
    let scenario: Scenario = serde_json::from_value(whole).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(scenario.name, name, "a scenario is named like its file");
    (scenario, approvals)
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
        "rules_after": approvals.rules_after,
        "unanswered": 0,
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_scenario_comes_out_as_it_says() {
    let paths = paths();
    assert!(paths.len() >= 20, "the scenarios are there");
    let mut differences = Vec::new();
    for path in paths {
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
