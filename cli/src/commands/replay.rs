//! `tenon replay`: a recorded stream through the real runtime, offline.

use std::path::PathBuf;
use std::sync::Arc;

use tenon_core::hooks::HookConfig;

use super::drive::{self, Plan};
use super::{Surroundings, scratch};
use crate::approver::Unattended;
use crate::args::ReplayArgs;
use crate::config::{Config, Defaults, load};
use crate::failure::Failure;
use crate::home::Home;
use crate::replay::{self, Recording, ReplayModel};
use crate::wiring::{self, Rollout};

/// Who serves the model, for the record.
const PROVIDER: &str = "replay";

/// Plays the recording.
///
/// # Errors
/// When it cannot be played as it was asked.
pub(crate) async fn run(request: ReplayArgs, surroundings: &mut Surroundings) -> Result<u8, Failure> {
    let ReplayArgs { session: args, with_config, verify, file } = request;
    let home = Home::find(&surroundings.environment, &surroundings.cwd)?;
    let mut loaded = load(&home.config(), &args.config.overrides).map_err(Failure::usage)?;
    if !with_config {
        loaded.file.mcp_servers.clear();
    }
    let flags = args.flags(&surroundings.cwd);
    // What is compared is what `exec` would ask.
    let defaults = if verify { Defaults::EXEC } else { Defaults::REPLAY };
    let mut config = Config::resolve(loaded, flags, defaults, &home).map_err(Failure::usage)?;
    let exec = wiring::exec_service(&config, &surroundings.environment);
    wiring::check_sandbox(&exec, &config, &surroundings.cwd).await?;
    let hooks = if with_config { HookConfig::load(&home.hooks()) } else { HookConfig::default() };
    let file = surroundings.cwd.join(file);
    let recording = replay::read(&file).map_err(Failure::usage)?;
    config.tool_mode = recording.tool_mode.unwrap_or(config.tool_mode);
    for note in &recording.notes {
        surroundings.console.warning(note);
    }
    let policy = wiring::policy(&config, &home, surroundings)?;
    let cwd = match &args.cd {
        None if verify => drive::working_folder(&surroundings.cwd, None)?,
        Some(folder) => given_folder(folder, &recording, surroundings)?,
        None => scratch::make(&surroundings.environment, &recording.files)
            .map_err(|error| Failure::failed(format!("cannot make a scratch folder: {error}")))?,
    };
    let model = Arc::new(ReplayModel::new(recording));
    let recorded = Arc::clone(&model);
    let plan = Plan {
        config,
        exec,
        scratch: args.cd.is_none() && !verify,
        cwd,
        model: Arc::clone(&model) as _,
        provider: PROVIDER.to_owned(),
        stream_max_retries: tenon_core::DEFAULT_STREAM_MAX_RETRIES,
        rollout: Rollout::New(home.path.clone()),
        home: home.path,
        hooks,
        policy,
        ask_again: false,
        approver: Arc::new(Unattended),
        goes_on: Arc::new(move || recorded.has_more()),
    };
    if verify {
        return super::verify::run(plan, &file, surroundings).await;
    }
    drive::drive(plan, &args, || model.next_prompt(), surroundings).await
}

/// The folder that was asked for. A recording's own files are not put over what lies there.
fn given_folder(
    folder: &std::path::Path,
    recording: &Recording,
    surroundings: &mut Surroundings,
) -> Result<PathBuf, Failure> {
    if !recording.files.is_empty() {
        surroundings.console.warning("the scenario's files are not written into the folder given by --cd");
    }
    drive::working_folder(&surroundings.cwd, Some(folder))
}
