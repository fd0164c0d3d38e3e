//! What the model is told of sessions that have ended without its having asked.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tenon_tools::BetweenTurns;

use crate::session::Session;
use crate::store::Store;

/// Characters of a command that are shown.
const COMMAND_CHARS: usize = 80;

/// Sessions whose end nobody has polled.
#[derive(Debug)]
pub(crate) struct EndedSessions {
    store: Arc<Store>,
}

impl EndedSessions {
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self { store }
    }
}

impl BetweenTurns for EndedSessions {
    /// One note on all that have ended since the last one.
    fn take_notes(&self) -> Vec<String> {
        let ended: Vec<String> = self.store.sessions().iter().filter_map(|session| line(session)).collect();
        if ended.is_empty() {
            return Vec::new();
        }
        let note = format!(
            "Commands that ended in the background (write_stdin returns the rest of their output):\n{}",
            ended.join("\n")
        );
        vec![note]
    }
}

/// What is said of one that has ended, the first time.
fn line(session: &Session) -> Option<String> {
    let exit = session.process.exited()?;
    if session.noted.swap(true, Ordering::AcqRel) {
        return None;
    }
    let command = shortened(&session.command);
    Some(format!("- session {}, exit code {}: {command}", session.id, exit.code()))
}

/// The first line of a command, cut where it is long.
fn shortened(command: &str) -> String {
    let first = command.lines().next().unwrap_or_default();
    match first.char_indices().nth(COMMAND_CHARS) {
        Some((end, _)) => format!("{}...", first.get(..end).unwrap_or_default()),
        None if command.lines().nth(1).is_some() => format!("{first}..."),
        None => first.to_owned(),
    }
}

#[cfg(test)]
#[path = "notes_tests.rs"]
mod tests;
