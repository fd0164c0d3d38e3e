//! What a model is told of facts: of a call that was cut short, by a crash or by a cancel (runtime.md D11.2).

use std::path::Path;

use tenon_protocol::{CallFact, CallOutcome};

/// Whether two facts are about the same: the later one says how it stands.
pub fn is_about_the_same(a: &CallFact, b: &CallFact) -> bool {
    match (a, b) {
        (CallFact::Process { pid: a, .. }, CallFact::Process { pid: b, .. }) => a == b,
        (CallFact::File { path: a, .. }, CallFact::File { path: b, .. }) => a == b,
        (CallFact::Nested { call_id: a, .. }, CallFact::Nested { call_id: b, .. }) => a == b,
        (CallFact::Request { .. }, CallFact::Request { .. }) => a == b,
        (CallFact::Asked, CallFact::Asked) => true,
        (
            CallFact::Process { .. }
            | CallFact::File { .. }
            | CallFact::Nested { .. }
            | CallFact::Request { .. }
            | CallFact::Asked,
            CallFact::Process { .. }
            | CallFact::File { .. }
            | CallFact::Nested { .. }
            | CallFact::Request { .. }
            | CallFact::Asked,
        ) => false,
    }
}

/// The line on a file that a call was to write.
pub fn file_line(path: &Path, written: bool) -> String {
    format!("{}: {}", path.display(), if written { "written" } else { "not written" })
}

/// The line on a request without an answer.
pub fn request_line(server: &str) -> String {
    format!("request to {server} was not answered")
}

/// The line on a call that a call made. One that was cut short may have done anything.
pub fn nested_line(tool: &str, outcome: Option<CallOutcome>) -> String {
    let how = match outcome {
        Some(CallOutcome::Completed) => "completed",
        Some(CallOutcome::Failed | CallOutcome::Blocked) => "failed",
        Some(CallOutcome::Aborted) | None => "outcome unknown",
    };
    format!("nested call of {tool}: {how}")
}
