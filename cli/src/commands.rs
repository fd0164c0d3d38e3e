//! What the program does: one file for each command.

mod apply_patch;
mod console;
mod drive;
mod exec;
mod mcp;
mod prompt;
mod replay;
mod scratch;
mod tools;
mod verify;

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::args::{self, Request};
use crate::failure::{COMPLETED, Failure, INTERRUPTED, USAGE};
use crate::invocation::{Environment, Invocation};
use console::Console;
pub(crate) use drive::Plan;

/// Names that make the program a patch tool (runtime.md A11.2).
const PATCH_NAMES: [&str; 2] = ["apply_patch", "applypatch"];

/// How long a run that is quit may take to say so.
const QUIT_GRACE: Duration = Duration::from_millis(500);

/// Runs the program once, to its exit status: 0 completed, 1 failed, 2 usage, 130 interrupted (cli.md).
pub async fn run(invocation: Invocation) -> u8 {
    let quit = invocation.quit.clone();
    let mut performed = pin!(perform(invocation));
    tokio::select! {
        biased;
        () = quit.cancelled() => {}
        status = &mut performed => return status,
    }
    timeout(QUIT_GRACE, performed).await.unwrap_or(INTERRUPTED)
}

async fn perform(invocation: Invocation) -> u8 {
    let Invocation { args, environment, cwd, stdin, mut stdout, stderr, terminal, tty, cancellation, quit } =
        invocation;
    let mut console = Console::new(stderr);
    if called_apply_patch(args.first().map(AsRef::as_ref)) {
        return apply_patch::by_name(args.get(1..).unwrap_or_default(), &cwd, stdin, stdout, &mut console);
    }
    let request = match args::parse(&args) {
        Ok(request) => request,
        Err(told) => return tell(&told, &mut stdout, &mut console),
    };
    let mut surroundings = Surroundings {
        environment: Environment(environment),
        cwd,
        stdout,
        terminal,
        tty,
        console,
        cancellation,
        quit,
    };
    let done = match request {
        Request::Exec(exec) => exec::run(exec, stdin, &mut surroundings).await,
        Request::Replay(replay) => replay::run(replay, &mut surroundings).await,
        Request::ApplyPatch(patch) => apply_patch::run(patch, stdin, &mut surroundings),
        Request::Tools(tools) => tools::run(&tools, &mut surroundings).await,
        Request::Mcp(action) => mcp::run(action, &mut surroundings).await,
    };
    done.unwrap_or_else(|failure| {
        if let Some(message) = &failure.message {
            surroundings.console.error(message);
        }
        failure.status
    })
}

/// What a command is given of its invocation, standard input apart.
pub(crate) struct Surroundings {
    pub(crate) environment: Environment,
    pub(crate) cwd: std::path::PathBuf,
    pub(crate) stdout: Box<dyn Write + Send>,
    pub(crate) terminal: crate::TerminalInfo,
    pub(crate) tty: Option<std::fs::File>,
    pub(crate) console: Console,
    /// The first signal: what runs is to end.
    pub(crate) cancellation: CancellationToken,
    /// The second one: nothing is waited for any more.
    pub(crate) quit: CancellationToken,
}

impl Surroundings {
    /// Standard output, for whoever writes to it from now on.
    pub(crate) fn take_stdout(&mut self) -> Box<dyn Write + Send> {
        std::mem::replace(&mut self.stdout, Box::new(std::io::sink()))
    }

    /// Prints all that a command has to say. Whoever goes away before it has come has not failed it.
    fn print(&mut self, text: &str) -> Result<u8, Failure> {
        match self.stdout.write_all(text.as_bytes()).and_then(|()| self.stdout.flush()) {
            Ok(()) => Ok(COMPLETED),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(COMPLETED),
            Err(error) => Err(Failure::failed(format!("cannot write standard output: {error}"))),
        }
    }
}

fn called_apply_patch(name: Option<&OsStr>) -> bool {
    let name = name.and_then(|name| Path::new(name).file_name());
    name.is_some_and(|name| PATCH_NAMES.iter().any(|patch| name == *patch))
}

/// Help and version on standard output, a usage error on standard error.
fn tell(told: &clap::Error, stdout: &mut dyn Write, console: &mut Console) -> u8 {
    if told.use_stderr() {
        console.text(&told.to_string());
        return USAGE;
    }
    // Whoever asks for help and goes away before it comes has not failed.
    let _ = write!(stdout, "{told}").and_then(|()| stdout.flush());
    COMPLETED
}
