use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;

fn script(cell_id: &str) -> ToolCallSource {
    ToolCallSource::CodeMode { cell_id: cell_id.to_owned(), runtime_tool_call_id: "tool-1".to_owned() }
}

#[test]
fn a_cell_has_questions_until_the_last_one_is_dropped() {
    let questions = OpenQuestions::default();
    let (first, second) = (questions.open(&script("1")), questions.open(&script("1")));
    let shared = questions.clone();
    let mut closed = pin!(shared.closed("1"));
    let mut poll = || closed.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(questions.are_open("1"));
    assert!(!questions.are_open("2"));
    assert_eq!(poll(), Poll::Pending);
    drop(first);
    assert_eq!(poll(), Poll::Pending);
    drop(second);
    assert_eq!(poll(), Poll::Ready(()));
    assert!(!questions.are_open("1"));
}

#[test]
fn a_direct_call_holds_up_no_cell() {
    let questions = OpenQuestions::default();
    let _question = questions.open(&ToolCallSource::Direct);
    assert!(questions.0.borrow().is_empty());
}
