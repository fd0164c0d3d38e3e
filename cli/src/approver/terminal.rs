//! Asks the person at the terminal.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use async_trait::async_trait;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::termios::{QueueSelector, tcflush};
use tenon_tools::{ApprovalDecision, ApprovalRequest, Approver};
use tokio::sync::Mutex;

use super::answer::{self, Typed};
use super::question;
use crate::output::shell_words;

/// The longest line that is read, in bytes: more than a terminal takes at once.
const MAX_LINE_BYTES: usize = 8 * 1024;
/// How much is written or read at once.
const PIECE_BYTES: usize = 512;

/// Asks one question after the other. Who waits for their turn can be cancelled like who waits for an answer.
#[derive(Debug)]
pub(crate) struct TerminalApprover(Mutex<Arc<File>>);

impl TerminalApprover {
    /// Asks on this terminal.
    pub(crate) fn on(terminal: File) -> Self {
        Self(Mutex::new(Arc::new(terminal)))
    }
}

#[async_trait]
impl Approver for TerminalApprover {
    async fn approve(&self, request: ApprovalRequest) -> ApprovalDecision {
        let terminal = self.0.lock().await;
        match ask(&terminal, &request).await {
            Ok(decision) => decision,
            // What a client says where the question could not be shown (runtime.md D9.4).
            Err(error) => {
                tracing::warn!(%error, "the terminal cannot be asked");
                ApprovalDecision::Denied { reason: Some("approval request failed".to_owned()) }
            }
        }
    }
}

async fn ask(terminal: &Arc<File>, request: &ApprovalRequest) -> io::Result<ApprovalDecision> {
    // What was typed before the question was there is no answer to it.
    tcflush(terminal, QueueSelector::IFlush)?;
    let mut text = question::text(request);
    loop {
        text.push_str("> ");
        let Some(line) = exchange(terminal, std::mem::take(&mut text)).await? else {
            return Ok(ApprovalDecision::Denied { reason: None });
        };
        match answer::read(&line, &request.scopes) {
            Typed::Decision(decision) => return Ok(decision),
            Typed::Unclear => {}
            Typed::Prefix(shown) => {
                let words = shell_words(&shown);
                let text = format!("begins with (enter takes it, other words replace it): {words}\n> ");
                let typed = exchange(terminal, text).await?;
                if let Some(prefix) = typed.and_then(|line| answer::prefix(&line, shown)) {
                    return Ok(ApprovalDecision::ApprovedExecPolicyAmendment { prefix });
                }
            }
        }
    }
}

/// Writes a text and waits for a line; none at the end of input. Dropping the future ends the wait.
async fn exchange(terminal: &Arc<File>, text: String) -> io::Result<Option<String>> {
    let (stop, stops_when_dropped) = pipe_with(PipeFlags::CLOEXEC)?;
    let terminal = Arc::clone(terminal);
    let waiting = tokio::task::spawn_blocking(move || {
        write(&terminal, &stop, text.as_bytes())?;
        read_line(&terminal, &stop)
    });
    let line = waiting.await.map_err(io::Error::other)?;
    drop(stops_when_dropped);
    line
}

fn write(terminal: &File, stop: &OwnedFd, text: &[u8]) -> io::Result<()> {
    for piece in text.chunks(PIECE_BYTES) {
        wait(terminal, stop, PollFlags::OUT)?;
        let mut terminal = terminal;
        terminal.write_all(piece)?;
    }
    Ok(())
}

fn read_line(terminal: &File, stop: &OwnedFd) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    while line.len() <= MAX_LINE_BYTES {
        let ready = wait(terminal, stop, PollFlags::IN)?;
        let mut piece = [0; PIECE_BYTES];
        let mut terminal = terminal;
        let read = terminal.read(&mut piece)?;
        line.extend_from_slice(piece.get(..read).unwrap_or_default());
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            line.truncate(end);
            return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
        }
        if read == 0 && ready.contains(PollFlags::HUP) {
            return Err(io::Error::other("the terminal has gone away"));
        }
        if read == 0 {
            return Ok(None);
        }
    }
    Err(io::Error::other("the line is too long"))
}

/// Waits until the terminal is ready, and says for what.
///
/// # Errors
/// When nobody waits for the answer any more.
fn wait(terminal: &File, stop: &OwnedFd, wanted: PollFlags) -> io::Result<PollFlags> {
    let mut both = [PollFd::new(terminal, wanted), PollFd::new(stop, PollFlags::IN)];
    loop {
        match poll(&mut both, None) {
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let [ready, stopped] = &both;
    if stopped.revents().is_empty() { Ok(ready.revents()) } else { Err(io::ErrorKind::Interrupted.into()) }
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
