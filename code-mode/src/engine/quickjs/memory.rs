//! How it is known that a script ran out of memory.
//!
//! QuickJS says so in three ways: an error `InternalError: out of memory`; the value `null`, where there is no room for
//! an error; or nothing at all, where there is no room for the rejection of a promise, which then stays as it is for
//! ever. By the time a script has ended in the second or third way, what filled its memory may long be free again.
//!
//! But the engine's collector keeps the trace: it runs when the heap is half as large again as it was the last time,
//! so after a heap that filled the memory it does not run before the memory is full once more. A block that nobody
//! touches fills it for a moment, at no cost, and a weak reference to garbage tells whether the collector runs.

use rquickjs::function::This;
use rquickjs::{Ctx, Object, Value};

use super::shared::Shared;

/// How QuickJS puts it where it can.
pub(super) const ENGINE_TEXT: &str = "InternalError: out of memory";

/// Memory is filled to within one of so many parts.
const PARTS: usize = 8;

/// What the model is told in each of the three cases.
pub(super) fn out_of_memory_text(memory_bytes: usize) -> String {
    format!("the script ran out of memory: a cell may use {} MiB", memory_bytes >> 20)
}

impl<'js> Shared<'js> {
    /// Whether the script's memory is full, or was since the last collection. Asked once, at the end of a script: it
    /// leaves a trace of its own.
    pub(super) fn memory_was_full(&self, ctx: &Ctx<'js>) -> bool {
        self.fill(ctx).unwrap_or_else(|_| {
            ctx.catch();
            true
        })
    }

    fn fill(&self, ctx: &Ctx<'js>) -> rquickjs::Result<bool> {
        let intrinsics = self.intrinsics()?;
        let garbage = Object::new(ctx.clone())?;
        garbage.set("itself", garbage.clone())?;
        let reference = intrinsics.weak_ref.construct::<_, Object<'js>>((garbage,))?;
        let part = self.script.limits.memory_bytes / PARTS;
        let filling = (1..PARTS).rev().find_map(|parts| self.block(ctx, part * parts));
        if filling.is_none() {
            return Ok(true);
        }
        // Making an object is what makes the collector run.
        Object::new(ctx.clone())?;
        let left = intrinsics.deref.call::<_, Value<'js>>((This(reference),))?;
        Ok(!left.is_undefined())
    }

    fn block(&self, ctx: &Ctx<'js>, bytes: usize) -> Option<Object<'js>> {
        let block = self.intrinsics().and_then(|intrinsics| intrinsics.array_buffer.construct((bytes,)));
        if block.is_err() {
            ctx.catch();
        }
        block.ok()
    }
}
