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

/// SIGHUP, the first of the signals, in the kernel's masks.
const HANGUP_BIT: u64 = 1;

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
    // A file that may not grow any more is an error of the write, as a full disk is, and no death. What is started has
    // the system's own answer again.
    drop(signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?);
    let cancellation = CancellationToken::new();
    let quit = CancellationToken::new();
    let interrupts = [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?];
    // Under `nohup` the program is to outlive its terminal.
    let hangup = if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) };
    let watch = watch(interrupts, hangup, cancellation.clone(), quit.clone());
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

/// The first signal cancels, the second one quits; all are taken alike.
async fn watch(
    [mut interrupt, mut terminate]: [Signal; 2],
    mut hangup: Option<Signal>,
    cancellation: CancellationToken,
    quit: CancellationToken,
) -> std::convert::Infallible {
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            () = received(&mut hangup) => {}
        }
        if cancellation.is_cancelled() {
            quit.cancel();
        }
        cancellation.cancel();
    }
}

/// Waits for a signal; for ever where it is not listened for.
async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether whoever has started the program has it ignore that its terminal goes away.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & HANGUP_BIT != 0)
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
