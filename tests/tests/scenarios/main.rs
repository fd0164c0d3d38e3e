//! Every recorded scenario of `parity/`, played against the program's library in this process.
//!
//! `TENON_CLIENT=path` plays them against a program instead. Each group is a test that plays its scenarios two at a
//! time and tells all differences at once.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

mod pending;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use tenon_tests::runner::{Client, InProcessClient, ProcessClient, play};
use tenon_tests::scenario::Scenario;
use tenon_tests::verdict::{Verdict, verdict};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use pending::{NOT_BUILT, PENDING, Waits};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity");
/// Scenarios of one group that run at a time.
const AT_A_TIME: usize = 2;

macro_rules! groups {
    ($($test:ident: $prefix:literal,)*) => {
        const GROUPS: &[&str] = &[$($prefix),*];
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                play_group($prefix).await;
            }
        )*
    };
}

groups! {
    apply_patch: "patch-",
    code_mode: "js-",
    exec_command: "exec-",
    gate: "gate-",
    hooks: "hook-",
    mcp: "mcp-",
    routing: "route-",
    surface: "surface-",
    tool_search: "search-",
    user_input: "user-input-",
    view_image: "view-image-",
}

fn scenarios() -> Vec<Scenario> {
    Scenario::load_folder(Path::new(FOLDER)).unwrap()
}

fn waits(scenario: &Scenario) -> Option<Waits> {
    PENDING.iter().find(|(name, _)| *name == scenario.name).map(|(_, waits)| *waits)
}

fn client() -> Arc<dyn Client> {
    match std::env::var_os("TENON_CLIENT") {
        Some(program) => Arc::new(ProcessClient { program: program.into(), args: Vec::new() }),
        None => Arc::new(InProcessClient),
    }
}

async fn play_group(prefix: &str) {
    let (client, permits) = (client(), Arc::new(Semaphore::new(AT_A_TIME)));
    let mut running = JoinSet::new();
    for scenario in scenarios().into_iter().filter(|scenario| scenario.name.starts_with(prefix)) {
        let (client, permits) = (client.clone(), permits.clone());
        running.spawn(async move {
            let _permit = permits.acquire_owned().await.unwrap();
            complaint(&scenario, client.as_ref()).await
        });
    }
    let played = running.len();
    let mut complaints: Vec<String> = running.join_all().await.into_iter().flatten().collect();
    complaints.sort();
    assert!(complaints.is_empty(), "{} of {played} scenarios\n{}", complaints.len(), complaints.join("\n"));
}

/// What is wrong with a scenario: it differs, or it agrees although it is pending.
async fn complaint(scenario: &Scenario, client: &dyn Client) -> Option<String> {
    let differs = match play(scenario, client).await {
        Ok(seen) => match verdict(scenario, &seen).unwrap() {
            Verdict::Agrees => None,
            Verdict::Differs(difference) => Some(format!("{difference}{}", seen.stderr)),
        },
        Err(error) => Some(format!("{error:#}")),
    };
    match (differs, waits(scenario)) {
        (None, None) | (Some(_), Some(_)) => None,
        (Some(difference), None) => Some(format!("--- {}\n{difference}", scenario.name)),
        (None, Some(_)) => Some(format!("--- {}: it agrees now; take it off PENDING", scenario.name)),
    }
}

#[test]
fn every_scenario_belongs_to_one_group() {
    for scenario in scenarios() {
        let groups = GROUPS.iter().filter(|prefix| scenario.name.starts_with(**prefix)).count();
        assert_eq!(groups, 1, "{}", scenario.name);
    }
}

#[test]
fn what_is_pending_is_there_and_waits_for_what_it_needs() {
    let scenarios = scenarios();
    let mut seen = BTreeSet::new();
    for (name, waits) in PENDING {
        assert!(seen.insert(name), "{name} is listed twice");
        let scenario = scenarios.iter().find(|scenario| scenario.name == *name);
        let scenario = scenario.unwrap_or_else(|| panic!("{name} is pending and not there"));
        match waits {
            Waits::For(need) => {
                assert!(scenario.needs().contains(need), "{name} does not need {need:?}");
                assert!(NOT_BUILT.contains(need), "{name} waits for {need:?}, which is built");
            }
            Waits::Because(reason) => assert!(!reason.is_empty(), "{name} waits without a reason"),
        }
    }
}
