//! A verified call of the tool, and its run.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tenon_protocol::{CallFact, CallId, FileChangeEntry, FileChangeKind, ItemStatus, TurnItem};
use tenon_tools::outputs::freeform_layout;
use tenon_tools::{
    AbortedToolOutput, ApplyPatchToolOutput, ContentHash, Effects, Event, FileEffect, FileVersions,
    FunctionCallError, PreparedCall, Progress, SharedTurnDiff, ShownAs, ToolInvocation, ToolOutput,
};
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

use crate::change::{ChangeKind, Content, FileFact, PlannedChange};
use crate::commit::{CommitError, Failure, Watch, commit};
use crate::delta::{Delta, DeltaChange, DeltaKind};
use crate::fs::Fs;
use crate::plan::Plan;
use crate::report::failure_text;
use crate::retry::Attempt;

/// A patch that fits and has not happened.
#[derive(Debug)]
pub(crate) struct PreparedPatch {
    call_id: CallId,
    plan: Arc<Plan>,
    effects: Effects,
    attempt: Attempt,
    fs: Arc<dyn Fs>,
}

impl PreparedPatch {
    /// The files are hashed here.
    pub(crate) fn new(call_id: CallId, plan: Plan, attempt: Attempt, fs: Arc<dyn Fs>) -> Self {
        let effects = Self::effects_of(&plan);
        Self { call_id, plan: Arc::new(plan), effects, attempt, fs }
    }

    /// What the plan would do, for policy, approval and journal.
    fn effects_of(plan: &Plan) -> Effects {
        let effect = |fact: FileFact| FileEffect { path: fact.path, content: fact.sha256.map(ContentHash) };
        let changes = plan.changes();
        Effects {
            reads: changes.iter().flat_map(PlannedChange::reads).map(effect).collect(),
            writes: changes.iter().flat_map(PlannedChange::writes).map(effect).collect(),
            ..Effects::none()
        }
    }

    fn item(&self, status: ItemStatus) -> TurnItem {
        let entry = |change: &PlannedChange| FileChangeEntry {
            path: change.path().to_owned(),
            kind: match change.kind() {
                ChangeKind::Add => FileChangeKind::Add,
                ChangeKind::Delete => FileChangeKind::Delete,
                ChangeKind::Update => FileChangeKind::Update,
            },
        };
        let mut changes: Vec<FileChangeEntry> = self.plan.changes().iter().map(entry).collect();
        changes.sort();
        TurnItem::FileChange { id: self.call_id.to_string(), changes, status }
    }
}

#[async_trait]
impl PreparedCall for PreparedPatch {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    fn diff(&self) -> Option<String> {
        Some(self.plan.changes().iter().map(file_diff).collect())
    }

    fn shown_as(&self) -> ShownAs {
        ShownAs::Item(self.item(ItemStatus::InProgress))
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let started = call.host.clock.now();
        let mut watch =
            Journal { cancellation: call.cancellation.clone(), progress: Arc::clone(&call.host.progress) };
        let landing = tokio::task::spawn_blocking(move || {
            let outcome = commit(&self.plan, self.fs.as_ref(), &mut watch);
            match &outcome {
                Ok(_) => self.attempt.succeeded(),
                Err(error) => self.attempt.failed(&self.plan, error, self.fs.as_ref()),
            }
            let status = if outcome.is_ok() { ItemStatus::Completed } else { ItemStatus::Failed };
            // The plan goes here, and with it its hold on the bytes that the turn's diff takes over.
            (outcome, self.attempt.stood(), self.item(status))
        });
        let (outcome, stood, item) = landing.await.map_err(not_run)?;
        let layout = |exit_code, output: &str| {
            let wall_time = since(call, started);
            freeform_layout(exit_code, wall_time, output, call.step.truncation)
        };
        let (delta, answer): (_, Result<Box<dyn ToolOutput>, _>) = match outcome {
            Ok(done) => {
                let note = stood.stood_text();
                let text = layout(0, &(stood.then(done.summary).success_text() + &note));
                (done.delta, Ok(Box::new(ApplyPatchToolOutput { text })))
            }
            Err(error) if matches!(error.failure, Failure::Cancelled) => {
                // It is cancelled only as long as nothing has landed.
                (error.delta, Ok(Box::new(AbortedToolOutput::after(since(call, started), []))))
            }
            Err(mut error) => {
                log(&call.call_id, &error);
                error.summary = stood.then(std::mem::take(&mut error.summary));
                let text = layout(1, &failure_text(&error));
                (error.delta, Err(FunctionCallError::respond(text)))
            }
        };
        record(delta, &call.tracker);
        call.host.events.emit(Event::ItemCompleted(item));
        answer
    }
}

/// One change as people read it: which file, where to, and what of it.
fn file_diff(change: &PlannedChange) -> String {
    let path = change.path().display();
    let (old, new) = match change.kind() {
        ChangeKind::Add => ("/dev/null".to_owned(), path.to_string()),
        ChangeKind::Delete => (path.to_string(), "/dev/null".to_owned()),
        ChangeKind::Update => {
            let to = change.move_to().unwrap_or(change.path());
            (path.to_string(), to.display().to_string())
        }
    };
    format!("--- {old}\n+++ {new}\n{}", change.unified_diff())
}

fn since(call: &ToolInvocation, started: Instant) -> Duration {
    call.host.clock.now().saturating_duration_since(started)
}

/// A task that did not end on its own. Its panic goes on where panics of tools are dealt with.
pub(crate) fn not_run(error: JoinError) -> FunctionCallError {
    match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(error) => FunctionCallError::respond(format!("execution error: {error}")),
    }
}

/// The operating system's reason is for the operator; the model is not told (A6).
fn log(call_id: &CallId, error: &CommitError) {
    let cause = std::error::Error::source(&error.failure).map(ToString::to_string);
    tracing::warn!(%call_id, failure = %error.failure, cause, "a patch was not applied in full");
}

/// Tells the turn's diff what stands (A6.8, A6.9).
fn record(delta: Delta, tracker: &SharedTurnDiff) {
    tracker.record(delta.changes.into_iter().flat_map(versions).collect());
    if !delta.exact {
        tracker.invalidate();
    }
}

fn versions(change: DeltaChange) -> Vec<FileVersions> {
    let bytes = |content: Content| Arc::unwrap_or_clone(content);
    let DeltaChange { path, kind } = change;
    match kind {
        DeltaKind::Add { content, overwritten_content } => {
            vec![FileVersions { path, before: overwritten_content.map(bytes), after: Some(bytes(content)) }]
        }
        DeltaKind::Delete { content } => {
            vec![FileVersions { path, before: Some(bytes(content)), after: None }]
        }
        DeltaKind::Update { move_path: None, old_content, new_content, overwritten_move_content: _ } => {
            vec![FileVersions { path, before: Some(bytes(old_content)), after: Some(bytes(new_content)) }]
        }
        DeltaKind::Update { move_path: Some(to), old_content, new_content, overwritten_move_content } => {
            vec![
                FileVersions { path, before: Some(bytes(old_content)), after: None },
                FileVersions {
                    path: to,
                    before: overwritten_move_content.map(bytes),
                    after: Some(bytes(new_content)),
                },
            ]
        }
    }
}

/// Follows a commit for the journal: which files are being written, and which were (core.md 0.4).
struct Journal {
    cancellation: CancellationToken,
    progress: Arc<dyn Progress>,
}

impl Watch for Journal {
    fn cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    fn before(&mut self, path: &Path) {
        self.progress.record(CallFact::File { path: path.to_owned(), done: false });
    }

    fn after(&mut self, path: &Path) {
        self.progress.record(CallFact::File { path: path.to_owned(), done: true });
    }
}
