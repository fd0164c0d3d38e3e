//! Every call's end, in call order, whatever order they finish in (core.md 7.2).

use std::time::Duration;

use similar::TextDiff;
use tenon_protocol::{CallId, ResponseItem};
use tenon_tools::{Event, FileVersions, LifecycleOutcome, TurnChanges};

use super::Turn;
use crate::runtime::RunningCall;

/// Unchanged lines around a change in the turn's diff.
const DIFF_CONTEXT: usize = 3;
/// How long the shortest diff of a file is sought; what is found by then is right, if longer.
const DIFF_TIME: Duration = Duration::from_millis(200);

impl Turn<'_> {
    /// Waits for the calls and records their ends: first what hooks have to say, then the outputs, each in call order.
    /// Gives the fatal ends, with their texts; their siblings are recorded all the same.
    pub(super) async fn drain(&mut self, calls: Vec<RunningCall>) -> Vec<(CallId, String)> {
        let mut ends = Vec::with_capacity(calls.len());
        for call in calls {
            ends.push(call.end().await);
        }
        self.session.none_running();
        for end in &mut ends {
            let contexts = std::mem::take(&mut end.contexts);
            self.session.record_contexts(contexts).await;
        }
        let told = self.session.take_told();
        self.session.record_contexts(told).await;
        let mut fatal = Vec::new();
        for end in ends {
            if end.outcome == LifecycleOutcome::Aborted {
                self.aborted.push(end.call_id.clone());
            }
            match end.response {
                Ok(response) => {
                    let item = ResponseItem::from(response);
                    self.note_external(&item);
                    self.session.record(item).await;
                }
                Err(text) => fatal.push((end.call_id, text)),
            }
        }
        fatal
    }

    /// Shows what the turn's patches changed so far, when it is not what was shown last.
    pub(super) fn show_diff(&mut self) {
        let unified_diff = match self.tracker.changes() {
            TurnChanges::Nothing => return,
            // What cannot be known exactly is taken back rather than shown wrong.
            TurnChanges::Inexact => String::new(),
            TurnChanges::Known(files) => files.iter().map(unified_diff).collect(),
        };
        if self.shown_diff.as_ref() != Some(&unified_diff) {
            self.shown_diff = Some(unified_diff.clone());
            self.session.emit(Event::TurnDiff { unified_diff });
        }
    }
}

/// One file's part of the diff. Bytes that are no text are compared as they are and named, not shown.
fn unified_diff(file: &FileVersions) -> String {
    let FileVersions { path, before, after } = file;
    if before == after {
        return String::new();
    }
    let path = path.display();
    let name = |side: &str, there: bool| if there { format!("{side}{path}") } else { "/dev/null".to_owned() };
    let (old_name, new_name) = (name("a", before.is_some()), name("b", after.is_some()));
    let text = |bytes: &Option<Vec<u8>>| String::from_utf8(bytes.clone().unwrap_or_default());
    match (text(before), text(after)) {
        (Ok(old), Ok(new)) => {
            let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(&old, &new);
            let body =
                diff.unified_diff().context_radius(DIFF_CONTEXT).header(&old_name, &new_name).to_string();
            format!("diff --git a{path} b{path}\n{body}")
        }
        _ => format!("diff --git a{path} b{path}\nBinary files {old_name} and {new_name} differ\n"),
    }
}
