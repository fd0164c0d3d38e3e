//! Running commands that are not the model's: hooks (core.md 8.4).

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use tenon_tools::{CommandError, CommandOutcome, CommandRequest, CommandRunner};
use tokio::io::unix::AsyncFd;

use crate::environment::Environment;
use crate::pump::Source;
use crate::sandbox::Limits;
use crate::spawn::{Exit, Input, Launch, Process, SpawnError, Streams, awaitable};
use crate::store::Store;

/// How long output is still read once the command has ended and others hold its pipes.
const DRAIN: Duration = Duration::from_millis(100);

/// Bytes taken in one read.
const READ_BYTES: usize = 16 * 1024;

/// Runs commands as children of the session's keeper.
#[derive(Debug)]
pub(crate) struct ProcessRunner {
    store: Arc<Store>,
}

impl ProcessRunner {
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self { store }
    }
}

#[async_trait]
impl CommandRunner for ProcessRunner {
    async fn run(&self, request: CommandRequest) -> Result<CommandOutcome, CommandError> {
        let (process, outcome) = self.follow(request, None).await?;
        // Waited for, so that nothing of a hook outlives its answer.
        self.store.keeper.end(&process, Duration::ZERO).await;
        outcome
    }
}

impl ProcessRunner {
    /// As [`run`](CommandRunner::run), but held to `limits`, and what the command has left running goes on until the
    /// session's end.
    pub(crate) async fn run_leaving_children(
        &self,
        request: CommandRequest,
        limits: Option<Limits>,
    ) -> Result<CommandOutcome, CommandError> {
        let (process, outcome) = self.follow(request, limits).await?;
        if outcome.is_err() {
            self.store.keeper.end(&process, Duration::ZERO).await;
        }
        outcome
    }

    /// Starts a command that does nothing, held to `limits`.
    pub(crate) async fn try_limits(&self, limits: Limits, folder: &Path) -> Result<(), SpawnError> {
        let program = PathBuf::from("/bin/sh");
        let (reader, output) =
            pipe_with(PipeFlags::CLOEXEC).map_err(|error| SpawnError::from_io(&program, error.into()))?;
        let errors = output.try_clone().map_err(|error| SpawnError::from_io(&program, error))?;
        let launch = Launch {
            program,
            arguments: vec!["-c".into(), ":".into()],
            environment: Environment::new(),
            folder: folder.to_owned(),
            limits: Some(limits),
        };
        let process = self.store.keeper.start(launch, Streams { input: Input::Null, output, errors }).await?;
        drop(reader);
        self.store.keeper.end(&process, Duration::ZERO).await;
        Ok(())
    }

    /// Starts a command and follows it to its end or its time-out. Dropping the future ends it.
    async fn follow(
        &self,
        request: CommandRequest,
        limits: Option<Limits>,
    ) -> Result<(Arc<Process>, Result<CommandOutcome, CommandError>), CommandError> {
        let CommandRequest { argv, cwd, environment, stdin, timeout, max_output_bytes } = request;
        let mut argv = argv.into_iter();
        let program: PathBuf = argv
            .next()
            .map(PathBuf::from)
            .ok_or_else(|| CommandError::Spawn("there is no command".to_owned()))?;
        let (streams, ends) =
            pipes().map_err(|error| CommandError::Spawn(SpawnError::from_io(&program, error).to_string()))?;
        let launch = Launch { program, arguments: argv.collect(), environment, folder: cwd, limits };
        let started = self.store.keeper.start(launch, streams).await;
        let process = started.map_err(|error| CommandError::Spawn(error.to_string()))?;
        let mut guard = Guard { store: &self.store, process: &process, armed: true };
        let followed = tokio::time::timeout(timeout, follow(&process, ends, &stdin, max_output_bytes)).await;
        guard.armed = false;
        drop(guard);
        Ok((process, followed.unwrap_or(Err(CommandError::TimedOut(timeout)))))
    }
}

/// Ends the command when it is dropped with it.
struct Guard<'a> {
    store: &'a Store,
    process: &'a Arc<Process>,
    armed: bool,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if self.armed {
            drop(self.store.keeper.end(self.process, Duration::ZERO));
        }
    }
}

/// Our ends of a command's pipes.
struct Ends {
    input: AsyncFd<OwnedFd>,
    output: Source,
    errors: Source,
}

fn pipes() -> io::Result<(Streams, Ends)> {
    let (input, input_end) = pipe_with(PipeFlags::CLOEXEC)?;
    let (output_end, output) = pipe_with(PipeFlags::CLOEXEC)?;
    let (errors_end, errors) = pipe_with(PipeFlags::CLOEXEC)?;
    let ends = Ends {
        input: awaitable(input_end)?,
        output: Source::new(output_end)?,
        errors: Source::new(errors_end)?,
    };
    Ok((Streams { input: Input::Pipe(input), output, errors }, ends))
}

/// Feeds the command and reads from it until it has ended, and then what is still in the pipes.
async fn follow(
    process: &Process,
    ends: Ends,
    stdin: &[u8],
    limit: usize,
) -> Result<CommandOutcome, CommandError> {
    let Ends { input, output, errors } = ends;
    let (mut stdout, mut stderr) = (Kept::new(limit), Kept::new(limit));
    let mut exit = process.exit();
    let exit = {
        let reading = async { tokio::join!(stdout.fill(&output), stderr.fill(&errors)) };
        tokio::pin!(reading);
        let feeding = feed(input, stdin);
        tokio::pin!(feeding);
        let (mut fed, mut read) = (false, false);
        let exit = loop {
            tokio::select! {
                result = &mut feeding, if !fed => {
                    result.map_err(|error| CommandError::Stdin(error.to_string()))?;
                    fed = true;
                }
                _ = &mut reading, if !read => read = true,
                ended = exit.wait_for(Option::is_some) => break ended.ok().and_then(|exit| *exit),
            }
        };
        if !read {
            drop(tokio::time::timeout(DRAIN, reading).await);
        }
        exit
    };
    Ok(CommandOutcome {
        exit_code: exit.and_then(|exit: Exit| exit.status),
        dropped_bytes: stdout.dropped + stderr.dropped,
        stdout: stdout.bytes,
        stderr: stderr.bytes,
    })
}

/// Writes all of `bytes`, then closes the pipe. A command that does not want to hear it all has its reasons.
async fn feed(input: AsyncFd<OwnedFd>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let mut ready = input.writable().await?;
        let Ok(written) = ready.try_io(|fd| rustix::io::write(fd, bytes).map_err(io::Error::from)) else {
            continue;
        };
        match written {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if Errno::from_io_error(&error) == Some(Errno::PIPE) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The first bytes of a stream, and how many more there were.
struct Kept {
    limit: usize,
    bytes: Vec<u8>,
    dropped: u64,
}

impl Kept {
    fn new(limit: usize) -> Self {
        Self { limit, bytes: Vec::new(), dropped: 0 }
    }

    async fn fill(&mut self, source: &Source) {
        let mut buffer = vec![0; READ_BYTES];
        // What cannot be read is at its end, as far as we are concerned.
        while let Ok(count @ 1..) = source.read(&mut buffer).await {
            let room = self.limit.saturating_sub(self.bytes.len()).min(count);
            self.bytes.extend_from_slice(buffer.get(..room).unwrap_or_default());
            self.dropped += (count - room) as u64;
        }
    }
}

#[cfg(test)]
#[path = "runner_tests.rs"]
mod tests;
