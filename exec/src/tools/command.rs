//! A command that may run: starting it, waiting for it, and ending it when the call is cancelled.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rustix::pipe::{PipeFlags, pipe_with};
use tenon_protocol::{CallFact, CallId, ItemStatus, TurnItem};
use tenon_tools::{
    CommandEffect, Confinement, Effects, ExecCommandToolOutput, FirstRun, FunctionCallError, PreparedCall,
    Retry, ShownAs, ToolInvocation, ToolOutput,
};

use super::abort::aborted;
use super::answer;
use super::running::Running;
use crate::buffer::Captured;
use crate::environment::Environment;
use crate::limit::Limit;
use crate::output::Output;
use crate::pump::Source;
use crate::report::Report;
use crate::sandbox::Limits;
use crate::service::Shared;
use crate::session::{Collected, Session};
use crate::shell::Shell;
use crate::spawn::{Input, Keyboard, Launch, SpawnError, Streams, boot_id, open_terminal};
use crate::store::TERM_GRACE;

/// Bytes of a failure that the model is shown (runtime.md B11).
const MAX_FAILURE_BYTES: usize = 900;

/// `exec_command failed: {reason}`, bounded.
pub(super) fn failed(reason: &impl ToString) -> FunctionCallError {
    let reason = reason.to_string();
    let mut end = reason.len().min(MAX_FAILURE_BYTES);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    FunctionCallError::respond(format!("exec_command failed: {}", reason.get(..end).unwrap_or_default()))
}

/// A verified command.
pub(super) struct Command {
    pub(super) shared: Arc<Shared>,
    pub(super) call_id: CallId,
    pub(super) effects: Effects,
    pub(super) effect: CommandEffect,
    pub(super) shell: Shell,
    pub(super) login: bool,
    /// What the shell starts with.
    pub(super) environment: Environment,
    /// What the model asked to run.
    pub(super) command: String,
    pub(super) wait: Duration,
    pub(super) max_output_tokens: Option<usize>,
    /// When the call was made, as nearly as is known here.
    pub(super) asked_at: Instant,
}

#[async_trait]
impl PreparedCall for Command {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    fn shown_as(&self) -> ShownAs {
        ShownAs::Item(TurnItem::CommandExecution {
            id: self.call_id.as_str().to_owned(),
            command: self.effect.argv.clone(),
            aggregated_output: String::new(),
            exit_code: None,
            status: ItemStatus::InProgress,
        })
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let since = Instant::now();
        let Some(running) = self.begin(call, call.confinement).await? else {
            return Ok(self.aborted(None, Captured::default(), call));
        };
        let (collected, denied) = match self.wait_for(&running, since, call).await {
            Waited::Collected(collected, denied) => (collected, denied),
            Waited::Cancelled(printed) => {
                running.answered(true);
                return Ok(self.aborted(None, printed, call));
            }
        };
        let first = Ran { running, collected, since };
        let Some(denied) = denied else { return Ok(self.answer(first, None, call)) };
        let exit_code = denied.exit_code;
        let retry = tokio::select! {
            biased;
            () = call.cancellation.cancelled() => {
                first.running.answered(true);
                return Ok(self.aborted(None, first.collected.output, call));
            }
            retry = call.host.retries.ask(call, &self.effects, denied) => retry,
        };
        match retry {
            Retry::No(why) => Ok(self.answer(first, why.map(|why| not_again(&why)), call)),
            Retry::Unsandboxed => Ok(self.run_again(first, exit_code, call).await),
        }
    }
}

/// What a wait for a command has come to.
enum Waited {
    /// It has ended, perhaps as one that the sandbox has stopped; or the call has waited for long enough.
    Collected(Collected, Option<FirstRun>),
    /// The call was cancelled, and the command ended with it, having printed this.
    Cancelled(Captured),
}

/// A command that was waited for.
struct Ran {
    running: Running,
    collected: Collected,
    since: Instant,
}

/// What the model reads of a command that somebody has let run a second time.
fn again(exit_code: i32) -> String {
    format!("Run again without the sandbox, in which a first run failed (exit code {exit_code})")
}

/// And of one that nobody has.
fn not_again(why: &str) -> String {
    format!("Not run again without the sandbox: {why}")
}

impl Command {
    /// Starts the command; none where the call was cancelled before.
    async fn begin(
        &self,
        call: &ToolInvocation,
        confinement: Confinement,
    ) -> Result<Option<Running>, FunctionCallError> {
        let launch = tokio::select! {
            biased;
            () = call.cancellation.cancelled() => return Ok(None),
            launch = self.launch(call, confinement) => launch?,
        };
        let (session, source) = self.start(launch, call).await.map_err(|error| failed(&error))?;
        Ok(Some(Running::new(&self.shared, session, source).await))
    }

    /// Waits for the command, as long as the call may.
    async fn wait_for(&self, running: &Running, since: Instant, call: &ToolInvocation) -> Waited {
        tokio::select! {
            biased;
            () = call.cancellation.cancelled() => Waited::Cancelled(self.end(&running.session).await),
            (collected, denied) = running.session.collect_telling_denial(since + self.wait) => {
                Waited::Collected(collected, denied)
            }
        }
    }

    /// The second run, without the sandbox. It goes on with the item of the first, which is the result where the second
    /// cannot be started.
    async fn run_again(&self, first: Ran, exit_code: i32, call: &ToolInvocation) -> Box<dyn ToolOutput> {
        let since = Instant::now();
        let running = match self.begin(call, Confinement::Unsandboxed).await {
            Ok(Some(running)) => running,
            Ok(None) => {
                first.running.answered(true);
                return self.aborted(None, first.collected.output, call);
            }
            Err(error) => return self.answer(first, Some(not_again(error.text())), call),
        };
        first.running.replaced();
        let retry = Some(again(exit_code));
        match self.wait_for(&running, since, call).await {
            Waited::Collected(collected, _) => self.answer(Ran { running, collected, since }, retry, call),
            Waited::Cancelled(printed) => {
                running.answered(true);
                self.aborted(retry, printed, call)
            }
        }
    }

    fn answer(&self, ran: Ran, retry: Option<String>, call: &ToolInvocation) -> Box<dyn ToolOutput> {
        let Ran { running, collected, since } = ran;
        let session = Arc::clone(&running.session);
        running.answered(collected.exit_code.is_some());
        let output = answer(&session, collected, since, self.max_output_tokens, &call.step);
        Box::new(ExecCommandToolOutput { retry, ..output })
    }

    /// Starts the command's process.
    async fn start(
        &self,
        launch: Launch,
        call: &ToolInvocation,
    ) -> Result<(Arc<Session>, Source), SpawnError> {
        let ends = if self.effect.tty { terminal() } else { pipe() };
        let (streams, source, keyboard) =
            ends.map_err(|error| SpawnError::from_io(&launch.program, error))?;
        let store = &self.shared.store;
        let reservation = store.reserve();
        let limits = launch.limits.clone();
        let process = store.keeper.start(launch, streams).await?;
        let pid = process.pid().unsigned_abs();
        let started_at = process.started_at();
        call.host.progress.record(CallFact::Process { pid, group: pid, started_at, boot_id: boot_id() });
        let session = Session {
            id: reservation.id,
            command: self.command.clone(),
            folder: self.effect.cwd.clone(),
            keyboard,
            process,
            output: Arc::new(Output::new()),
            report: Report::new(
                Arc::clone(&call.host.events),
                self.call_id.clone(),
                self.effect.argv.clone(),
            ),
            started: Instant::now(),
            interaction: Arc::default(),
            reading: store.reading(),
            limit: call.step.max_runtime.map(Limit::new),
            noted: AtomicBool::new(false),
            limits,
        };
        Ok((Arc::new(session), source))
    }

    /// What is to be started. It is not always what was asked for word by word: a login shell that has been asked for
    /// its environment need not be started again.
    async fn launch(
        &self,
        call: &ToolInvocation,
        confinement: Confinement,
    ) -> Result<Launch, FunctionCallError> {
        let step = &call.step;
        let environment = self.environment.clone();
        let limits = match confinement {
            Confinement::Sandboxed => self.shared.limits(&step.sandbox, &step.cwd),
            Confinement::Unsandboxed => None,
        };
        let (argv, mut environment) = if self.login {
            let made =
                self.shared.as_login(&self.shell, &self.command, environment, step, limits.as_ref()).await;
            made.map_err(|error| failed(&error))?
        } else {
            (self.effect.argv.clone(), environment)
        };
        tell_of_limits(&mut environment, limits.as_ref());
        let mut argv = argv.into_iter();
        Ok(Launch {
            program: argv.next().map(Into::into).unwrap_or_default(),
            arguments: argv.map(Into::into).collect(),
            environment,
            folder: self.effect.cwd.clone(),
            limits,
        })
    }

    /// Ends a command whose call was cancelled, with all of its session, and takes what it had printed.
    async fn end(&self, session: &Session) -> Captured {
        self.shared.store.keeper.end(&session.process, TERM_GRACE).await;
        session.collect(Instant::now() + TERM_GRACE).await.output
    }

    fn aborted(
        &self,
        retry: Option<String>,
        printed: Captured,
        call: &ToolInvocation,
    ) -> Box<dyn ToolOutput> {
        Box::new(aborted(self.asked_at, retry, printed, self.max_output_tokens, call.step.truncation))
    }
}

/// Lets a command know what it is held to (runtime.md B5.1).
fn tell_of_limits(environment: &mut Environment, limits: Option<&Limits>) {
    let Some(limits) = limits else { return };
    environment.insert("TENON_SANDBOX".into(), limits.mode().into());
    if !limits.network() {
        environment.insert("TENON_SANDBOX_NETWORK_DISABLED".into(), "1".into());
    }
}

/// The two sides of a command's streams.
type Ends = (Streams, Source, Option<Keyboard>);

/// Nothing to read, and one pipe for both output streams, so that their order is that of writing.
fn pipe() -> io::Result<Ends> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    let errors = writer.try_clone()?;
    Ok((Streams { input: Input::Null, output: writer, errors }, Source::new(reader)?, None))
}

fn terminal() -> io::Result<Ends> {
    let (streams, screen, keyboard) = open_terminal()?;
    Ok((streams, Source::new(screen)?, Some(keyboard)))
}
