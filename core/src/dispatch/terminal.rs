//! How far a call has come, as far as its cancellation cares (core.md 6.2).

use std::sync::atomic::Ordering;

use crate::sync::AtomicU8;

/// Where a call stands. It only goes forward, from 0: nothing has been done yet, and nothing will be if the call is
/// dropped now.
#[derive(Debug, Default)]
pub(crate) struct Terminal(AtomicU8);

/// The handler runs.
const RUNNING: u8 = 1;
/// The handler has come to its end: there is a real result, and cancelling cannot change it.
const DONE: u8 = 2;

impl Terminal {
    /// The handler begins.
    pub(crate) fn begin(&self) {
        self.0.store(RUNNING, Ordering::Release);
    }

    /// The handler has ended.
    pub(crate) fn reached(&self) {
        self.0.store(DONE, Ordering::Release);
    }

    /// Whether the handler began.
    pub(crate) fn handler_ran(&self) -> bool {
        self.0.load(Ordering::Acquire) >= RUNNING
    }

    /// Whether there is a real result already.
    pub(crate) fn is_reached(&self) -> bool {
        self.0.load(Ordering::Acquire) == DONE
    }
}
