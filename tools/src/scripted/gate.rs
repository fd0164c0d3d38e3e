//! A place in a script where a stream waits.

use tokio_util::sync::CancellationToken;

/// A place where a stream waits until the test lets it go on. Clones are the same gate; once open it stays open.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    // Two latches: a token that is cancelled once and wakes whoever waits.
    reached: CancellationToken,
    opened: CancellationToken,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the stream go on, now or when it gets here.
    pub fn open(&self) {
        self.opened.cancel();
    }

    /// Waits until the stream stands here, or has passed.
    pub async fn reached(&self) {
        self.reached.cancelled().await;
    }

    /// The stream stands here until the gate opens.
    pub(super) async fn pass(&self) {
        self.reached.cancel();
        self.opened.cancelled().await;
    }
}
