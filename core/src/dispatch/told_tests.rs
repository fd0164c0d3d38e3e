use std::path::PathBuf;

use pretty_assertions::assert_eq;
use tenon_protocol::CallOutcome;

use super::*;

struct Nobody;

impl Progress for Nobody {
    fn record(&self, _: CallFact) {}
}

fn nested(id: usize, outcome: Option<CallOutcome>) -> CallFact {
    CallFact::Nested { tool: "echo".to_owned(), call_id: format!("exec-{id}").as_str().into(), outcome }
}

#[test]
fn the_newest_of_each_thing_is_a_line() {
    let told = Told::new(Arc::new(Nobody));
    let file = |done| CallFact::File { path: PathBuf::from("/a"), done };
    for fact in [
        nested(1, None),
        file(false),
        CallFact::Process { pid: 7, group: 7, started_at: 1, boot_id: None },
        nested(1, Some(CallOutcome::Completed)),
        nested(2, None),
        nested(3, Some(CallOutcome::Blocked)),
        file(true),
        CallFact::Request { server: "docs".to_owned(), id: "1".to_owned() },
    ] {
        told.record(fact);
    }
    let expected = [
        "nested call of echo: completed",
        "/a: written",
        "nested call of echo: outcome unknown",
        "nested call of echo: failed",
        "request to docs was not answered",
    ];
    assert_eq!(told.lines(), expected);
}

#[test]
fn more_than_the_bound_is_counted() {
    let told = Told::new(Arc::new(Nobody));
    for id in 0..MAX_TOLD {
        told.record(nested(id, None));
    }
    assert_eq!(
        (told.lines().len(), told.lines().last().cloned()),
        (MAX_TOLD, Some("nested call of echo: outcome unknown".to_owned()))
    );
    for id in MAX_TOLD..MAX_TOLD + 2 {
        told.record(nested(id, None));
        told.record(nested(id, Some(CallOutcome::Completed)));
    }
    assert_eq!(
        (told.lines().len(), told.lines().last().cloned()),
        (MAX_TOLD + 1, Some("... and 2 more".to_owned()))
    );
}
