//! How much memory pictures may take while they are decoded, those of parallel calls together.

use std::sync::{Arc, LazyLock};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What all pictures of a process may take at a time while they are read, decoded and shrunk, in bytes. One picture
/// that would take more than that is decoded alone.
pub(super) const DECODING_MEMORY_BYTES: u64 = 1 << 30;

/// What is counted at a time.
const UNIT_BYTES: u64 = 1 << 20;

/// The memory for pictures. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct DecodingMemory(Arc<Semaphore>);

/// A part of it, until it is dropped; none where the memory is not there any more.
pub(crate) struct Taken(#[allow(dead_code, reason = "held, and not looked at")] Option<OwnedSemaphorePermit>);

impl Default for DecodingMemory {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(units(DECODING_MEMORY_BYTES) as usize)))
    }
}

impl DecodingMemory {
    /// That of the process.
    pub(crate) fn shared() -> Self {
        static SHARED: LazyLock<DecodingMemory> = LazyLock::new(DecodingMemory::default);
        SHARED.clone()
    }

    /// Waits until there is so much, in the order of asking.
    pub(crate) async fn take(&self, bytes: u64) -> Taken {
        Taken(Arc::clone(&self.0).acquire_many_owned(units(bytes)).await.ok())
    }
}

fn units(bytes: u64) -> u32 {
    let units = bytes.min(DECODING_MEMORY_BYTES).div_ceil(UNIT_BYTES).max(1);
    u32::try_from(units).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
