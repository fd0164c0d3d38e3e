//! What a cell may use. Each bound has a text that says so to the model.

use std::time::Duration;

/// The longest source of a script, in bytes.
pub(crate) const MAX_SOURCE_BYTES: usize = 1 << 20;

/// Memory of one cell's engine, in bytes.
pub(crate) const MEMORY_BYTES: usize = 64 << 20;

/// The engine's stack, in bytes. It must stay well below [`THREAD_STACK_BYTES`], or deep recursion kills the process
/// in place of the script.
pub(crate) const JS_STACK_BYTES: usize = 1 << 20;

/// The stack of a cell's thread, in bytes.
pub(crate) const THREAD_STACK_BYTES: usize = 2 << 20;

/// Nested calls of one cell that have no result yet.
pub(crate) const MAX_PENDING_CALLS: usize = 16_384;

/// Timers of one cell that have not fired.
pub(crate) const MAX_TIMERS: usize = 1_024;

/// How long a script may compute on end before it hands control back, in CPU time of its thread.
pub(crate) const CPU_TIME: Duration = Duration::from_secs(10);

/// Items that a cell keeps until they are read.
pub(crate) const MAX_OUTPUT_ITEMS: usize = 4_096;

/// Bytes of the items that a cell keeps until they are read. One item may have as many.
pub(crate) const MAX_OUTPUT_BYTES: usize = 16 << 20;

/// One text, in bytes: of an item or a notification. A longer one is cut in the middle and says so.
pub(crate) const MAX_TEXT_BYTES: usize = 1 << 20;

/// The text of an error, in bytes.
pub(crate) const MAX_ERROR_BYTES: usize = 16 << 10;

/// JSON that goes to a tool or comes from one, in bytes.
pub(crate) const MAX_JSON_BYTES: usize = 8 << 20;

/// All that a session stores, keys and JSON, in bytes.
pub(crate) const MAX_STORED_BYTES: usize = 16 << 20;

/// Cells that nobody waits for: over it, the one that was left alone for the longest time is freed.
pub(crate) const MAX_IDLE_CELLS: usize = 16;

/// Memory of all engines of a session, in bytes, each counted in full: those of cells, read or not, and those of threads
/// given up. Over it, the cell that was left alone for the longest time is freed; where none is, no script is started.
pub(crate) const MAX_SESSION_BYTES: usize = 1280 << 20;

/// How long a stopped script has to let go of its thread before the thread is given up.
pub(crate) const STOP_DEADLINE: Duration = Duration::from_millis(250);

/// Threads given up that may still run: over it, no further script is started.
pub(crate) const MAX_ABANDONED_THREADS: usize = 2;

/// The limits of one script: those above, or smaller ones for a test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScriptLimits {
    pub(crate) memory_bytes: usize,
    pub(crate) pending_calls: usize,
    pub(crate) timers: usize,
    pub(crate) cpu_time: Duration,
    pub(crate) stored_bytes: usize,
}

impl Default for ScriptLimits {
    fn default() -> Self {
        Self {
            memory_bytes: MEMORY_BYTES,
            pending_calls: MAX_PENDING_CALLS,
            timers: MAX_TIMERS,
            cpu_time: CPU_TIME,
            stored_bytes: MAX_STORED_BYTES,
        }
    }
}
