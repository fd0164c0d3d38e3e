//! Plays a scenario against a client and says what it did.
//!
//! # Layout
//! [`client`]: what a client is to the runner. [`in_process`]: the program's library. [`process`]: a program.
//! [`workspace`]: the folders of one run.

pub mod client;
pub mod in_process;
pub mod process;
pub mod workspace;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use serde_json::{Map, Value, json};

pub use self::client::{Client, Exit, Finished, Launch};
pub use self::in_process::InProcessClient;
pub use self::process::ProcessClient;
use self::workspace::Workspace;
use crate::normalise::{self, Places, events, files, items};
use crate::scenario::Scenario;
use crate::server::{Answer, RecordedRequest, ScriptedServer};

/// How long one scenario may take.
pub const LIMIT: Duration = Duration::from_secs(40);
/// How much of the end of standard error is kept, in bytes.
const STDERR_TAIL: usize = 600;

/// What a client did with a scenario, in the form of its expectations.
#[derive(Debug, Clone)]
pub struct Observed {
    /// How it ended.
    pub exit: Exit,
    /// The `--json` lines as they came.
    pub events: Vec<Value>,
    /// The same without what varies.
    pub shown: Value,
    /// What each request but the first added to the history.
    pub follow_ups: Vec<Vec<Value>>,
    /// Ids of calls that the last request had too seldom or too often.
    pub calls_lost: Vec<String>,
    /// The tools of the first request.
    pub surface: Map<String, Value>,
    /// The files in the working folder, by relative path.
    pub files: Value,
    /// The end of standard error.
    pub stderr: String,
}

/// Plays one scenario.
///
/// # Errors
/// When the run could not be set up, the client could not be started, or what it sent is beyond comparison.
pub async fn play(scenario: &Scenario, client: &dyn Client) -> anyhow::Result<Observed> {
    let server = ScriptedServer::start(scenario.turns.iter().cloned().map(Answer::Turn)).await?;
    let workspace = Workspace::new(scenario, &server.base_url())?;
    let finished = client.run(launch(&workspace)?).await?;
    let requests = server.requests();
    let inputs: Vec<Vec<Value>> = requests.iter().map(RecordedRequest::input).collect();
    let places = workspace.places()?;
    let events = events::events(&finished.stdout);
    Ok(Observed {
        exit: finished.exit,
        shown: events::shown(&events, &places)?,
        events,
        follow_ups: items::follow_ups(&inputs, &places)?,
        calls_lost: items::calls_lost(&scenario.turns, &inputs),
        surface: requests.first().map(|request| items::surface(&request.json())).unwrap_or_default(),
        files: files_of(scenario, &workspace, &places)?,
        stderr: tail(&finished.stderr),
    })
}

/// `exec --json --dangerously-bypass-approvals-and-sandbox -C CWD go`, as any user would start it.
fn launch(workspace: &Workspace) -> anyhow::Result<Launch> {
    let home = OsString::from(workspace.home());
    let mut environment: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    environment.extend(
        [
            ("OPENAI_API_KEY", OsString::from("test")),
            ("RUST_LOG", "off".into()),
            ("TERM", "xterm-256color".into()),
            ("HOME", home.clone()),
            ("TENON_HOME", home),
        ]
        .map(|(name, value)| (OsString::from(name), value)),
    );
    let mut args: Vec<OsString> =
        ["exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "-C"].map(OsString::from).into();
    args.extend([workspace.cwd()?.into(), "go".into()]);
    Ok(Launch { args, environment, cwd: workspace.home().to_owned(), limit: LIMIT })
}

fn files_of(scenario: &Scenario, workspace: &Workspace, places: &Places) -> anyhow::Result<Value> {
    let files = json!(files::snapshot(&workspace.cwd()?)?);
    Ok(if scenario.raw_files { files } else { normalise::scrub(&files, places)? })
}

fn tail(bytes: &[u8]) -> String {
    let start = bytes.len().saturating_sub(STDERR_TAIL);
    String::from_utf8_lossy(bytes.get(start..).unwrap_or_default()).into_owned()
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
