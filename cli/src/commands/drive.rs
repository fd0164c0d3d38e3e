//! What `exec` and `replay` share: a session, its turns, its output, its end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenon_core::hooks::HookConfig;
use tenon_core::{StandardPolicy, TurnEnd};
use tenon_exec::ExecService;
use tenon_tools::{Approver, EventSink, ModelClient};
use tokio_util::sync::CancellationToken;

use super::{Surroundings, scratch};
use crate::args::SessionArgs;
use crate::config::Config;
use crate::failure::{COMPLETED, FAILED, Failure, INTERRUPTED};
use crate::output::{HumanPrinter, JsonPrinter, Output, OutputEnd, Printer, Style};
use crate::wiring::{GoesOn, Rollout, Wired};

/// What a session is made of.
pub(crate) struct Plan {
    /// The settled configuration.
    pub(crate) config: Config,
    /// What runs commands, and is able to hold them to the configured sandbox mode.
    pub(crate) exec: ExecService,
    /// The working folder.
    pub(crate) cwd: PathBuf,
    /// Whom the prompts go to.
    pub(crate) model: Arc<dyn ModelClient>,
    /// Who serves it, for the record.
    pub(crate) provider: String,
    /// How often a broken stream is tried again.
    pub(crate) stream_max_retries: u32,
    /// Where it is written down.
    pub(crate) rollout: Rollout,
    /// The user's own folder.
    pub(crate) home: PathBuf,
    /// The user's hooks, where they are to be run.
    pub(crate) hooks: HookConfig,
    /// Decides on calls; none lets all run.
    pub(crate) policy: Option<StandardPolicy>,
    /// Whether somebody is there who can be asked again what was not answered before.
    pub(crate) ask_again: bool,
    /// Who is asked where it does not decide.
    pub(crate) approver: Arc<dyn Approver>,
    /// Whether another turn follows.
    pub(crate) goes_on: GoesOn,
    /// Whether the working folder was made for this run: then it is told.
    pub(crate) scratch: bool,
}

/// Runs one turn for each of `prompts`, as long as they are completed.
///
/// # Errors
/// When there is no session, or its output or last message cannot be written.
pub(crate) async fn drive(
    mut plan: Plan,
    args: &SessionArgs,
    prompts: impl FnMut() -> Option<String>,
    surroundings: &mut Surroundings,
) -> Result<u8, Failure> {
    for warning in plan.config.warnings.iter().chain(&plan.hooks.warnings) {
        surroundings.console.warning(warning);
    }
    if !args.json {
        // A program reads them as items as well; people have just been told.
        plan.hooks.warnings.clear();
    }
    for folder in args.missing_folders(&surroundings.cwd) {
        let message =
            format!("--add-dir: {} is no folder, and nothing can be written there", folder.display());
        surroundings.console.warning(&message);
    }
    let scratch = plan.scratch.then(|| plan.cwd.clone());
    let nothing_ran = |_: &Failure| scratch.iter().for_each(|folder| scratch::discard(folder));
    let last_message_file = args.output_last_message.as_ref().map(|file| surroundings.cwd.join(file));
    check_folder_of(last_message_file.as_deref()).inspect_err(nothing_ran)?;
    tell_scratch(&plan, args.json, surroundings)?;
    // The turn ends with the user's wish, and when nobody can be told of it any more.
    let cancellation = surroundings.cancellation.child_token();
    let printer = printer(args.json, &plan.cwd, surroundings);
    let output = Output::start(printer, surroundings.take_stdout(), cancellation.clone())
        .map(Arc::new)
        .map_err(|error| Failure::failed(format!("cannot start to write: {error}")))?;
    let wired = Wired::build(plan, &surroundings.environment, Arc::clone(&output) as Arc<dyn EventSink>)
        .await
        .inspect_err(nothing_ran)?;
    let end = tokio::select! {
        biased;
        end = run_turns(wired, prompts, &cancellation) => end,
        () = surroundings.quit.cancelled() => {
            // What ran was dropped where it stood; whoever reads is told that there is no more to come.
            output.abort_turn();
            Some(TurnEnd::Interrupted)
        }
    };
    let written = output.finish(&surroundings.cancellation).await;
    if let (Some(file), Some(end)) = (&last_message_file, &end) {
        write_last_message(file, end, surroundings)?;
    }
    settle(end, written)
}

/// Runs the turns, then ends whatever they left running. The end of the last turn; none when there was none.
async fn run_turns(
    mut wired: Wired,
    mut prompts: impl FnMut() -> Option<String>,
    cancellation: &CancellationToken,
) -> Option<TurnEnd> {
    let mut end = None;
    while let Some(prompt) = prompts() {
        let turn = wired.session.run_turn(prompt, cancellation).await;
        let goes_on = matches!(turn, TurnEnd::Completed { .. });
        end = Some(turn);
        if !goes_on {
            break;
        }
    }
    wired.shutdown().await;
    end
}

/// The exit status.
fn settle(end: Option<TurnEnd>, written: OutputEnd) -> Result<u8, Failure> {
    match written {
        OutputEnd::Written => {}
        // Quietly: whoever read has gone, and what ran was ended for it.
        OutputEnd::Closed => return Ok(INTERRUPTED),
        OutputEnd::Failed(error) => {
            return Err(Failure::failed(format!("cannot write standard output: {error}")));
        }
    }
    match end {
        Some(TurnEnd::Completed { .. }) | None => Ok(COMPLETED),
        Some(TurnEnd::Interrupted) => Ok(INTERRUPTED),
        Some(TurnEnd::Failed { message }) => {
            Err(Failure { status: FAILED, message: Some(format!("the turn failed: {message}")) })
        }
        Some(TurnEnd::Refused { reason }) => {
            Err(Failure { status: FAILED, message: Some(format!("the prompt was refused: {reason}")) })
        }
    }
}

/// The folder to work in: `chosen`, from `cwd` on, without links.
///
/// # Errors
/// When it is none.
pub(crate) fn working_folder(cwd: &Path, chosen: Option<&Path>) -> Result<PathBuf, Failure> {
    let folder = chosen.map_or_else(|| cwd.to_owned(), |chosen| cwd.join(chosen));
    let shown = folder.display();
    match folder.canonicalize() {
        Ok(folder) if folder.is_dir() => Ok(folder),
        Ok(_) => Err(Failure::usage(format!("the working folder {shown} is no folder"))),
        Err(error) => Err(Failure::usage(format!("the working folder {shown} cannot be used: {error}"))),
    }
}

/// Told before the session begins, so that it is known whatever happens: with the lines, or beside the JSON.
fn tell_scratch(plan: &Plan, json: bool, surroundings: &mut Surroundings) -> Result<(), Failure> {
    if !plan.scratch {
        return Ok(());
    }
    let line = format!("scratch folder: {}\n", plan.cwd.display());
    if json {
        surroundings.console.text(&line);
        return Ok(());
    }
    let written = surroundings.stdout.write_all(line.as_bytes());
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write standard output: {error}")))
        }
        // That nobody reads shows again with the first event.
        Ok(()) | Err(_) => Ok(()),
    }
}

fn printer(json: bool, cwd: &Path, surroundings: &Surroundings) -> Box<dyn Printer> {
    if json {
        return Box::new(JsonPrinter::default());
    }
    let style = if surroundings.terminal.stdout_is_terminal {
        let plain = surroundings.environment.get("NO_COLOR").is_some()
            || surroundings.environment.text("TERM").is_none_or(|term| term == "dumb");
        Style::terminal(!plain, surroundings.terminal.columns)
    } else {
        Style::plain()
    };
    Box::new(HumanPrinter::new(style, cwd.to_owned()))
}

/// A file that could not be written is better known before the turn than after it.
fn check_folder_of(file: Option<&Path>) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    let reason = if file.is_dir() {
        "it is a folder"
    } else if !file.parent().unwrap_or(file).is_dir() {
        "no such folder"
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!("--output-last-message: {} cannot be written: {reason}", file.display())))
}

fn write_last_message(file: &Path, end: &TurnEnd, surroundings: &mut Surroundings) -> Result<(), Failure> {
    let message = match end {
        TurnEnd::Completed { last_message } => last_message.as_deref(),
        TurnEnd::Refused { .. } | TurnEnd::Failed { .. } | TurnEnd::Interrupted => None,
    };
    if message.is_none() {
        surroundings.console.warning(&format!("there is no last message: {} is left empty", file.display()));
    }
    std::fs::write(file, message.unwrap_or_default())
        .map_err(|error| Failure::failed(format!("cannot write {}: {error}", file.display())))
}
