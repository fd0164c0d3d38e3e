//! `tenon exec`: one prompt to a live model, its turns to the end.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenon_core::hooks::HookConfig;
use tenon_core::rollout::{find_rollout, newest_rollout};
use tenon_tools::Approver;

use super::drive::{self, Plan};
use super::{Surroundings, prompt};
use crate::approver::{TerminalApprover, Unattended};
use crate::args::{ExecRequest, Start};
use crate::config::{Config, Defaults, Provider, load};
use crate::failure::Failure;
use crate::home::Home;
use crate::wiring::{self, Rollout};

/// Runs the prompt.
///
/// # Errors
/// When it cannot be run as it was asked.
pub(crate) async fn run(
    request: ExecRequest,
    stdin: Box<dyn Read + Send>,
    surroundings: &mut Surroundings,
) -> Result<u8, Failure> {
    let ExecRequest { session: args, interactive, start, prompt } = request;
    let approver = approver(interactive, surroundings)?;
    let home = Home::find(&surroundings.environment, &surroundings.cwd)?;
    let cwd = drive::working_folder(&surroundings.cwd, args.cd.as_deref())?;
    let loaded = load(&home.config(), &args.config.overrides).map_err(Failure::usage)?;
    let provider = Provider::chosen(&loaded.file).map_err(Failure::usage)?;
    let flags = args.flags(&surroundings.cwd);
    let config = Config::resolve(loaded, flags, Defaults::EXEC, &home).map_err(Failure::usage)?;
    let exec = wiring::exec_service(&config, &surroundings.environment);
    wiring::check_sandbox(&exec, &config, &surroundings.cwd).await?;
    // That a session is not there is known without a key.
    let rollout = rollout(start, &home.path, &cwd)?;
    let model = Arc::new(wiring::client(&provider, &surroundings.environment)?);
    let terminal = surroundings.terminal.stdin_is_terminal;
    let text = prompt::read(prompt, stdin, terminal, &surroundings.cancellation).await?;
    let Provider { id: provider, stream_max_retries, .. } = provider;
    let hooks = HookConfig::load(&home.hooks());
    let policy = wiring::policy(&config, &home, surroundings)?;
    let home = home.path;
    let plan = Plan {
        config,
        exec,
        cwd,
        model,
        provider,
        stream_max_retries,
        rollout,
        home,
        hooks,
        policy,
        ask_again: interactive,
        approver,
        goes_on: Arc::new(|| false),
        scratch: false,
    };
    let mut prompts = Some(text);
    drive::drive(plan, &args, || prompts.take(), surroundings).await
}

/// Whom this run asks.
///
/// # Errors
/// When a person is to be asked and none sits at a terminal.
fn approver(interactive: bool, surroundings: &mut Surroundings) -> Result<Arc<dyn Approver>, Failure> {
    if !interactive {
        return Ok(Arc::new(Unattended));
    }
    let terminal = surroundings.tty.take().ok_or_else(|| {
        Failure::usage(
            "--interactive asks at the terminal, and standard input is none: run it from a terminal, with the prompt \
             as the last argument",
        )
    })?;
    Ok(Arc::new(TerminalApprover::on(terminal)))
}

/// Where the session is written down, and perhaps gone on from.
fn rollout(start: Start, home: &Path, cwd: &Path) -> Result<Rollout, Failure> {
    let found = |file: Option<PathBuf>, what: String| {
        file.map(Rollout::GoOn)
            .ok_or_else(|| Failure::usage(format!("{what} in {}", home.join("sessions").display())))
    };
    match start {
        Start::Fresh => Ok(Rollout::New(home.to_owned())),
        Start::Resume(id) => found(find_rollout(home, &id), format!("there is no session {id}")),
        Start::ResumeLast => {
            let newest = newest_rollout(home, cwd).map(|found| found.path);
            found(newest, format!("there is no session of the folder {}", cwd.display()))
        }
    }
}
