//! The engine on QuickJS: one runtime and one thread for each script.
//!
//! ```text
//! mod.rs       the thread of a script, and how its end is told whatever happens
//! run.rs       runtime, context and module
//! turns.rs     the loop: jobs, results of calls, timers, until the module's promise settles
//! shared.rs    what the loop and the host functions both hold
//! globals/     what a script finds on its global object
//! errors.rs    the text of what was thrown
//! strings.rs   JavaScript's strings to Rust's
//! watch.rs     when to interrupt
//! memory.rs    how it is known that memory was out
//! imports.rs   that nothing can be imported
//! ```
//!
//! Values of the engine that outlive a function of ours are in [`shared::Shared`] alone, and are dropped before the
//! context is: one that were left would end the process.

mod errors;
mod globals;
mod imports;
mod memory;
mod run;
mod shared;
mod strings;
mod timers;
mod turns;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread;

use super::{Engine, Outcome, RunningScript, Script, ScriptEnd, ScriptHost, Settler, StartError, Stored};
use crate::limits::THREAD_STACK_BYTES;

/// What a script ends with whose thread has broken down (runtime.md C8.10).
const BROKEN_DOWN: &str = "exec runtime ended unexpectedly";

/// QuickJS, in this process.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct QuickJs;

impl Engine for QuickJs {
    fn start(&self, script: Script, host: Box<dyn ScriptHost>) -> Result<RunningScript, StartError> {
        let (wake, wakes) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let running = RunningScript { wake: wake.clone(), stop: Arc::clone(&stop) };
        let work = move || {
            let host: Rc<dyn ScriptHost> = host.into();
            let mut end = End { host: Rc::clone(&host), told: false };
            let settler = Settler(wake);
            // A panic of ours must not leave anybody waiting.
            let run = AssertUnwindSafe(|| run::run(script, &host, settler, &wakes, stop, &mut end));
            catch_unwind(run).ok();
        };
        // The thread is never joined: one that is stuck in native work cannot be.
        thread::Builder::new().name("tenon-cell".to_owned()).stack_size(THREAD_STACK_BYTES).spawn(work)?;
        Ok(running)
    }
}

/// Tells the end of a script once, when it is known or when its thread breaks down.
struct End {
    host: Rc<dyn ScriptHost>,
    told: bool,
}

impl End {
    fn tell(&mut self, outcome: Outcome, writes: Stored) {
        if !std::mem::replace(&mut self.told, true) {
            self.host.ended(ScriptEnd { outcome, writes });
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.tell(Outcome::Failed(BROKEN_DOWN.to_owned()), Stored::new());
    }
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
#[path = "quickjs_tests.rs"]
mod tests;
