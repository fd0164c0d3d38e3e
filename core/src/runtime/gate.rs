//! The gate of a step's calls: parallel calls share it, an exclusive call has it alone, in the order of arrival.
//!
//! A place in the queue is taken by [`Gate::enter`], which does not wait: it is called when a call is handed over,
//! before its task is spawned, so that the order of the calls and not that of their tasks decides (core.md 6.1). An
//! exclusive call therefore sees all that the calls before it did and nothing of those after it.
//!
//! Nothing here belongs to an executor: the state is a queue under a mutex, so that it can be model-checked
//! (`model_check`).

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::sync::{Mutex, MutexGuard};

/// How a call wants the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateMode {
    /// Beside other parallel calls.
    Parallel,
    /// Alone.
    Exclusive,
}

/// A fair read-write lock whose places are taken before anybody waits.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    parallel_inside: usize,
    exclusive_inside: bool,
    next_place: u64,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    place: u64,
    mode: GateMode,
    waker: Option<Waker>,
}

impl State {
    fn has_room_for(&self, mode: GateMode) -> bool {
        match mode {
            GateMode::Parallel => !self.exclusive_inside,
            GateMode::Exclusive => !self.exclusive_inside && self.parallel_inside == 0,
        }
    }

    fn let_in(&mut self, mode: GateMode) {
        match mode {
            GateMode::Parallel => self.parallel_inside += 1,
            GateMode::Exclusive => self.exclusive_inside = true,
        }
    }

    fn let_out(&mut self, mode: GateMode) {
        match mode {
            GateMode::Parallel => self.parallel_inside -= 1,
            GateMode::Exclusive => self.exclusive_inside = false,
        }
    }

    /// Lets in whoever is first, as long as there is room, and says whom to wake.
    fn admit(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        while let Some(first) = self.waiting.front() {
            if !self.has_room_for(first.mode) {
                break;
            }
            if let Some(first) = self.waiting.pop_front() {
                self.let_in(first.mode);
                wakers.extend(first.waker);
            }
        }
        wakers
    }

    fn position(&self, place: u64) -> Option<usize> {
        self.waiting.binary_search_by_key(&place, |waiting| waiting.place).ok()
    }
}

impl Gate {
    /// Takes the next place. Nothing waits yet; the place is held until the ticket is dropped.
    pub fn enter(&self, mode: GateMode) -> Ticket {
        let mut state = self.lock();
        let place = state.next_place;
        state.next_place += 1;
        if state.waiting.is_empty() && state.has_room_for(mode) {
            state.let_in(mode);
        } else {
            state.waiting.push_back(Waiting { place, mode, waker: None });
        }
        drop(state);
        Ticket { gate: self.clone(), mode, place }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place at the gate. It is waited for with [`Ticket::admitted`], and given back when dropped, inside or not.
#[derive(Debug)]
#[must_use = "a dropped ticket gives its place back"]
pub struct Ticket {
    gate: Gate,
    mode: GateMode,
    place: u64,
}

impl Ticket {
    /// Waits until the gate lets this ticket in. It stays in until it is dropped.
    pub fn admitted(&mut self) -> Admitted<'_> {
        Admitted(self)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.gate.lock();
        match state.position(self.place) {
            Some(position) => drop(state.waiting.remove(position)),
            None => state.let_out(self.mode),
        }
        // A ticket that leaves the queue may have been the one that held the others up.
        let wakers = state.admit();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// See [`Ticket::admitted`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Admitted<'a>(&'a mut Ticket);

impl Future for Admitted<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let ticket = &*self.0;
        let mut state = ticket.gate.lock();
        let Some(position) = state.position(ticket.place) else {
            return Poll::Ready(());
        };
        if let Some(waiting) = state.waiting.get_mut(position) {
            match &mut waiting.waker {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
