use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use pretty_assertions::assert_eq;

use super::super::test_support::{fixed_time, said};
use super::*;

fn entry(text: &str) -> Entry {
    Entry { at: fixed_time(), what: What::item(said(text), Need::UntilRecorded) }
}

fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn push(queue: &Queue) -> Poll<Result<(), SaveError>> {
    poll(pin!(queue.push(Command::lines(vec![entry("x")]))))
}

#[test]
fn so_many_commands_wait_and_the_next_waits_for_a_place() {
    let queue = Queue::new();
    for _ in 0..QUEUED_COMMANDS {
        assert_eq!(push(&queue), Poll::Ready(Ok(())));
    }
    let mut next = pin!(queue.push(Command::lines(vec![entry("next")])));
    assert_eq!(poll(next.as_mut()), Poll::Pending);
    assert_eq!(queue.take().unwrap().commands.len(), QUEUED_COMMANDS);
    assert_eq!(poll(next.as_mut()), Poll::Ready(Ok(())));
    assert_eq!(queue.take().unwrap().commands.len(), 1);
}

#[test]
fn facts_wait_for_no_place_but_have_a_bound() {
    let queue = Queue::new();
    for _ in 0..QUEUED_COMMANDS {
        assert_eq!(push(&queue), Poll::Ready(Ok(())));
    }
    for _ in 0..QUEUED_FACTS + 3 {
        queue.push_fact(entry("fact"));
    }
    let batch = queue.take().unwrap();
    assert_eq!((batch.commands.len(), batch.dropped_facts), (QUEUED_COMMANDS + QUEUED_FACTS, 3));
    queue.push_fact(entry("fact"));
    let batch = queue.take().unwrap();
    assert_eq!((batch.commands.len(), batch.dropped_facts), (1, 0));
}

#[test]
fn a_closed_queue_gives_what_it_has_and_takes_nothing() {
    let queue = Queue::new();
    assert_eq!(push(&queue), Poll::Ready(Ok(())));
    queue.close();
    assert_eq!(push(&queue), Poll::Ready(Err(SaveError::closed())));
    assert_eq!(queue.take().unwrap().commands.len(), 1);
    assert!(queue.take().is_none());
}

#[test]
fn who_waits_for_a_place_hears_of_the_end() {
    let queue = Queue::new();
    for _ in 0..QUEUED_COMMANDS {
        assert_eq!(push(&queue), Poll::Ready(Ok(())));
    }
    let mut next = pin!(queue.push(Command::lines(vec![entry("next")])));
    assert_eq!(poll(next.as_mut()), Poll::Pending);
    queue.close();
    assert_eq!(poll(next.as_mut()), Poll::Ready(Err(SaveError::closed())));
}
