//! The program. The only place that reads the process: arguments, environment, working folder, streams, signals.

use std::io::{IsTerminal, stderr, stdin, stdout};
use std::process::exit;

use tenon::{Invocation, TerminalInfo, run};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Threads that run calls. More would cost memory for every short run, and calls mostly wait.
const WORKERS: usize = 2;

/// The exit status when there is not even a runtime.
const FAILED: i32 = 1;

fn main() {
    start_tracing();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build();
    let status = match runtime {
        Ok(runtime) => {
            let status = runtime.block_on(supervise());
            // A read of standard input, or a write that nobody takes, cannot be called back: it is left.
            runtime.shutdown_background();
            status.map(i32::from)
        }
        Err(error) => Err(error),
    };
    exit(status.unwrap_or_else(|error| {
        use std::io::Write;
        let _ = writeln!(stderr(), "tenon: {error}");
        FAILED
    }));
}

async fn supervise() -> std::io::Result<u8> {
    let cancellation = CancellationToken::new();
    let quit = CancellationToken::new();
    let interrupts = [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?];
    let watch = watch(interrupts, cancellation.clone(), quit.clone());
    let stdout_is_terminal = stdout().is_terminal();
    let stdin_is_terminal = stdin().is_terminal();
    let columns = if stdout_is_terminal { columns() } else { None };
    let invocation = Invocation {
        args: std::env::args_os().collect(),
        environment: std::env::vars_os().collect(),
        cwd: std::env::current_dir()?,
        stdin: Box::new(stdin()),
        stdout: Box::new(stdout()),
        stderr: Box::new(stderr()),
        terminal: TerminalInfo { stdout_is_terminal, stdin_is_terminal, columns },
        tty: if stdin_is_terminal { terminal() } else { None },
        cancellation,
        quit,
    };
    tokio::select! {
        status = run(invocation) => Ok(status),
        never = watch => match never {},
    }
}

/// The first signal cancels, the second one quits; both are taken alike.
async fn watch(
    [mut interrupt, mut terminate]: [Signal; 2],
    cancellation: CancellationToken,
    quit: CancellationToken,
) -> std::convert::Infallible {
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        if cancellation.is_cancelled() {
            quit.cancel();
        }
        cancellation.cancel();
    }
}

/// The terminal of this process.
fn terminal() -> Option<std::fs::File> {
    std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty").ok()
}

fn columns() -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(stdout()).ok()?;
    Some(size.ws_col).filter(|columns| *columns > 0)
}

/// Spans and events go to standard error, when `RUST_LOG` asks for them.
fn start_tracing() {
    if std::env::var_os("RUST_LOG").is_none_or(|filter| filter.is_empty() || filter == "off") {
        return;
    }
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(stderr)
        .init();
}
