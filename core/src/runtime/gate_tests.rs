use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::{Gate, GateMode, Ticket};

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn is_in(ticket: &mut Ticket) -> bool {
    let mut admitted = pin!(ticket.admitted());
    admitted.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
}

#[test]
fn parallel_tickets_share_the_gate() {
    let gate = Gate::default();
    let (mut a, mut b) = (gate.enter(GateMode::Parallel), gate.enter(GateMode::Parallel));
    assert!(is_in(&mut b) && is_in(&mut a));
}

#[test]
fn an_exclusive_ticket_waits_for_all_before_it_and_holds_all_after_it() {
    let gate = Gate::default();
    let mut before = gate.enter(GateMode::Parallel);
    let mut exclusive = gate.enter(GateMode::Exclusive);
    let mut after = gate.enter(GateMode::Parallel);
    assert_eq!((is_in(&mut before), is_in(&mut exclusive), is_in(&mut after)), (true, false, false));
    drop(before);
    assert_eq!((is_in(&mut exclusive), is_in(&mut after)), (true, false));
    drop(exclusive);
    assert!(is_in(&mut after));
}

#[test]
fn the_place_counts_and_not_who_waits_first() {
    let gate = Gate::default();
    let held = gate.enter(GateMode::Exclusive);
    let mut first = gate.enter(GateMode::Exclusive);
    let mut second = gate.enter(GateMode::Exclusive);
    assert!(!is_in(&mut second));
    drop(held);
    assert_eq!((is_in(&mut second), is_in(&mut first)), (false, true));
}

#[test]
fn a_ticket_that_leaves_the_queue_lets_the_next_one_in() {
    let gate = Gate::default();
    let mut inside = gate.enter(GateMode::Parallel);
    let exclusive = gate.enter(GateMode::Exclusive);
    let mut after = gate.enter(GateMode::Parallel);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    assert!(is_in(&mut inside));
    assert_eq!(pin!(after.admitted()).poll(&mut Context::from_waker(&waker)), Poll::Pending);
    drop(exclusive);
    assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    assert!(is_in(&mut after));
}

proptest! {
    /// Whatever enters and leaves, in whatever order: never an exclusive ticket beside another one, nobody overtakes
    /// an exclusive one, and when all have left the gate is empty.
    #[test]
    fn the_gate_is_fair_and_exclusive(steps in prop::collection::vec((any::<bool>(), any::<bool>(), any::<prop::sample::Index>()), 1..60)) {
        let gate = Gate::default();
        let mut held: Vec<(GateMode, Ticket)> = Vec::new();
        for (enter, exclusive, which) in steps {
            if enter || held.is_empty() {
                let mode = if exclusive { GateMode::Exclusive } else { GateMode::Parallel };
                held.push((mode, gate.enter(mode)));
            } else {
                let at = which.index(held.len());
                drop(held.remove(at));
            }
            let inside: Vec<bool> = held.iter_mut().map(|(_, ticket)| is_in(ticket)).collect();
            // The first is always in; who is in is a prefix of the queue.
            let count = inside.iter().filter(|inside| **inside).count();
            prop_assert!(held.is_empty() || count > 0);
            prop_assert!(inside.iter().take(count).all(|inside| *inside));
            let exclusives = held.iter().take(count).filter(|(mode, _)| *mode == GateMode::Exclusive).count();
            prop_assert!(exclusives == 0 || count == 1);
            // Nobody waits without a reason.
            if let Some((mode, _)) = held.get(count) {
                prop_assert!(*mode == GateMode::Exclusive || exclusives == 1);
            }
        }
        drop(held);
        let mut last = gate.enter(GateMode::Exclusive);
        prop_assert!(is_in(&mut last));
    }
}
