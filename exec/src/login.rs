//! The environment that a login shell makes, read once and used again.
//!
//! A login shell runs the profile, which takes as long as it likes: tenths of a second, or a minute behind a lock. So
//! one is asked for its environment, and the commands that want a login shell run in that without being one.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tenon_tools::{CommandRequest, EnvironmentInherit, EnvironmentPolicy, StepContext};
use tokio::sync::watch;

use crate::environment::{Environment, PatternError, command_environment};
use crate::runner::ProcessRunner;
use crate::sandbox::Limits;
use crate::shell::Shell;
use crate::store::Store;

/// How long a profile may take. One that takes longer is run by every command, as if there were nothing to read.
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of an environment that are read. More than a process could be started with.
const MAX_ENVIRONMENT_BYTES: usize = 4 * 1024 * 1024;

/// Environments that are kept: one for each shell and each environment that it starts from.
const MAX_KEPT: usize = 8;

/// Stands before the environment, since a profile may print what it likes.
const MARK: &[u8] = b"\0tenon: environment\0";

/// What prints the mark and then all variables, each with a NUL at its end.
const SCRIPT: &str = r"printf '\0tenon: environment\0' && exec env -0";

/// What a shell sets for itself and not for its commands: these stay as they were.
const SHELLS_OWN: [&str; 4] = ["_", "SHLVL", "PWD", "OLDPWD"];

/// Environments of login shells.
#[derive(Debug, Default)]
pub(crate) struct LoginEnvironments {
    kept: Mutex<Vec<Kept>>,
}

/// What a login shell has made of an environment. Outer none: it is still being asked. Inner none: it cannot be told.
type Answer = watch::Receiver<Option<Option<Environment>>>;

#[derive(Debug)]
struct Kept {
    shell: PathBuf,
    from: Environment,
    limits: Option<Limits>,
    answer: Answer,
}

impl LoginEnvironments {
    /// What a login shell makes of `from`; none where it cannot be told. It is asked once, by a task of the store's:
    /// a profile that was cut short may leave a lock behind, so a cancelled call must not take it along. A command that
    /// is held to limits has its profile held to them, too: it may have been written by such a command.
    pub(crate) async fn of(
        &self,
        store: &Arc<Store>,
        shell: &Shell,
        from: &Environment,
        limits: Option<&Limits>,
    ) -> Option<Environment> {
        let mut answer = self.answer(store, shell, from, limits);
        answer.wait_for(Option::is_some).await.ok().and_then(|answer| answer.clone().flatten())
    }

    fn answer(
        &self,
        store: &Arc<Store>,
        shell: &Shell,
        from: &Environment,
        limits: Option<&Limits>,
    ) -> Answer {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it =
            |kept: &&Kept| kept.shell == shell.path && kept.from == *from && kept.limits.as_ref() == limits;
        if let Some(known) = kept.iter().find(is_it) {
            return known.answer.clone();
        }
        let (tell, answer) = watch::channel(None);
        let (runner, shell, from) = (ProcessRunner::new(Arc::clone(store)), shell.clone(), from.clone());
        if kept.len() == MAX_KEPT {
            kept.remove(0);
        }
        let limits = limits.cloned();
        kept.push(Kept {
            shell: shell.path.clone(),
            from: from.clone(),
            limits: limits.clone(),
            answer: answer.clone(),
        });
        store.spawn(async move {
            tell.send_replace(Some(capture(&runner, &shell, from, limits).await));
        });
        answer
    }
}

/// The environment of a command of this step, when a login shell has made `captured` of the environment `from`. The
/// step's policy holds for what a profile sets, too. The host's PATH comes first and whole, then what the profile adds.
pub(crate) fn login_environment(
    captured: &Environment,
    from: &Environment,
    step: &StepContext,
) -> Result<Environment, PatternError> {
    let policy = EnvironmentPolicy { inherit: EnvironmentInherit::All, ..step.environment.clone() };
    let mut made = command_environment(captured, &policy, &step.sandbox, &step.session_id)?;
    for name in SHELLS_OWN.map(OsString::from) {
        match from.get(&name) {
            Some(value) => made.insert(name, value.clone()),
            None => made.remove(&name),
        };
    }
    let path = OsStr::new("PATH");
    if let (Some(hosts), Some(profiles)) = (from.get(path), made.get(path))
        && let Some(joined) = joined_path(hosts, profiles)
    {
        made.insert(path.to_owned(), joined);
    }
    Ok(made)
}

/// All folders of the first, then those of the second that are not among them.
fn joined_path(first: &OsStr, second: &OsStr) -> Option<OsString> {
    let mut folders: Vec<PathBuf> = std::env::split_paths(first).collect();
    for folder in std::env::split_paths(second) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    std::env::join_paths(folders).ok()
}

async fn capture(
    runner: &ProcessRunner,
    shell: &Shell,
    from: Environment,
    limits: Option<Limits>,
) -> Option<Environment> {
    let request = CommandRequest {
        argv: shell.argv(SCRIPT, true).into_iter().map(OsString::from).collect(),
        cwd: PathBuf::from("/"),
        environment: from,
        stdin: Vec::new(),
        timeout: CAPTURE_TIMEOUT,
        max_output_bytes: MAX_ENVIRONMENT_BYTES,
    };
    let outcome = runner.run_leaving_children(request, limits).await.inspect_err(|error| {
        tracing::warn!(shell = %shell.path.display(), %error, "the login environment cannot be read");
    });
    let outcome =
        outcome.ok().filter(|outcome| outcome.exit_code == Some(0) && outcome.dropped_bytes == 0)?;
    parse(&outcome.stdout)
}

/// The variables after the mark. None where there is no mark.
fn parse(printed: &[u8]) -> Option<Environment> {
    let start = printed.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
    let variables = printed.get(start..)?.split(|byte| *byte == 0).filter(|variable| !variable.is_empty());
    variables
        .map(|variable| {
            let equals = variable.iter().position(|byte| *byte == b'=')?;
            let (name, value) = (variable.get(..equals)?, variable.get(equals + 1..)?);
            Some((OsStr::from_bytes(name).to_owned(), OsString::from_vec(value.to_vec())))
        })
        .collect()
}

#[cfg(test)]
#[path = "login_tests.rs"]
mod tests;
