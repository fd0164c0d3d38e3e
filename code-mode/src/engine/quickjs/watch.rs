//! When a script is interrupted: when it is told to stop, has broken a host function, or computes for too long.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Why a script must not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// Somebody stops it.
    Stopped,
    /// A host function has panicked.
    Broken,
    /// It has computed for too long without handing control back.
    Overrun,
}

/// The flags that say so. Cheap to clone; the clones are one.
#[derive(Clone)]
pub(super) struct Watch(Rc<State>);

struct State {
    stop: Arc<AtomicBool>,
    broken: Cell<bool>,
    overrun: Cell<bool>,
    /// Whether control was handed back since the engine asked last.
    turned: Cell<bool>,
    /// CPU time of the thread when it was.
    since: Cell<Duration>,
    cpu_time: Duration,
}

impl Watch {
    pub(super) fn new(stop: Arc<AtomicBool>, cpu_time: Duration) -> Self {
        Self(Rc::new(State {
            stop,
            broken: Cell::new(false),
            overrun: Cell::new(false),
            turned: Cell::new(false),
            since: Cell::new(thread_time()),
            cpu_time,
        }))
    }

    /// The script has handed control back: it may compute for a whole stretch again.
    pub(super) fn turn(&self) {
        self.0.turned.set(true);
    }

    /// A host function has panicked: no line of the script may run any more.
    pub(super) fn break_down(&self) {
        self.0.broken.set(true);
    }

    /// Why the script must not go on, if so.
    pub(super) fn halt(&self) -> Option<Halt> {
        if self.0.broken.get() {
            Some(Halt::Broken)
        } else if self.0.stop.load(Ordering::Relaxed) {
            Some(Halt::Stopped)
        } else if self.0.overrun.get() {
            Some(Halt::Overrun)
        } else {
            None
        }
    }

    /// What the engine asks from time to time while it runs a script.
    pub(super) fn interrupts(&self) -> bool {
        if self.0.turned.take() {
            self.0.since.set(thread_time());
        } else if thread_time().saturating_sub(self.0.since.get()) >= self.0.cpu_time {
            self.0.overrun.set(true);
        }
        self.halt().is_some()
    }
}

/// CPU time that this thread has used.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}
