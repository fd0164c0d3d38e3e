//! A script from its source to its end.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;

use rquickjs::context::intrinsic;
use rquickjs::{Context, Ctx, Error, Module, Promise, Runtime};

use super::imports::NoImports;
use super::shared::{Clear, Shared};
use super::watch::{Halt, Watch};
use super::{BROKEN_DOWN, End, errors, globals, turns};
use crate::engine::{MODULE_NAME, Outcome, Script, ScriptHost, Settler, Stored, Wake};
use crate::limits::JS_STACK_BYTES;

/// All of the language. `performance` and `DOMException` are no part of it.
type Language = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
    intrinsic::WeakRef,
);

/// Runs a script and tells its end.
pub(super) fn run(
    script: Script,
    host: &Rc<dyn ScriptHost>,
    settler: Settler,
    wakes: &Receiver<Wake>,
    stop: Arc<AtomicBool>,
    end: &mut End,
) {
    let imports = NoImports::default();
    let watch = Watch::new(stop, script.limits.cpu_time);
    let (runtime, context) = match set_up(&script, &imports, &watch) {
        Ok(made) => made,
        Err(error) => {
            let failed = Outcome::Failed(format!("the engine could not be started: {error}"));
            return end.tell(unless_stopped(&watch, failed), Stored::new());
        }
    };
    context.with(|ctx| {
        let Ok(shared) = Shared::new(&ctx, script, Rc::clone(host), settler, watch.clone()) else {
            let failed = Outcome::Failed(BROKEN_DOWN.to_owned());
            return end.tell(unless_stopped(&watch, failed), Stored::new());
        };
        let clear = Clear(Rc::clone(&shared));
        let outcome = globals::install(&ctx, &shared)
            .map_err(|_| unless_stopped(&watch, Outcome::Failed(BROKEN_DOWN.to_owned())))
            .and_then(|()| begin(&ctx, &shared, &imports))
            .map_or_else(|outcome| outcome, |promise| turns::go_on(&ctx, &shared, &promise, wakes));
        let writes = shared.writes.take();
        // Whoever waits is told before memory is given back.
        end.tell(outcome, writes);
        drop(clear);
    });
    drop(context);
    drop(runtime);
}

/// What comes of a beginning that failed: a script that was stopped meanwhile is one that was stopped.
fn unless_stopped(watch: &Watch, failed: Outcome) -> Outcome {
    if watch.halt() == Some(Halt::Stopped) { Outcome::Stopped } else { failed }
}

fn set_up(script: &Script, imports: &NoImports, watch: &Watch) -> rquickjs::Result<(Runtime, Context)> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(script.limits.memory_bytes);
    runtime.set_max_stack_size(JS_STACK_BYTES);
    runtime.set_loader(imports.clone(), imports.clone());
    let interrupts = watch.clone();
    runtime.set_interrupt_handler(Some(Box::new(move || interrupts.interrupts())));
    let context = Context::custom::<Language>(&runtime)?;
    Ok((runtime, context))
}

/// Compiles the module and runs it to its first `await`. Gives its promise.
fn begin<'js>(ctx: &Ctx<'js>, shared: &Shared<'js>, imports: &NoImports) -> Result<Promise<'js>, Outcome> {
    let source = shared.script.source.as_str();
    let module = match Module::declare(ctx.clone(), MODULE_NAME, source) {
        Ok(module) => module,
        Err(Error::InvalidString(nul)) => {
            return Err(Outcome::Failed(errors::nul_in_source(source, nul.nul_position())));
        }
        Err(_) => return Err(errors::thrown(ctx, shared)),
    };
    imports.script_runs();
    module.eval().map(|(_, promise)| promise).map_err(|_| errors::thrown(ctx, shared))
}

/// How a script ends that must not go on.
pub(super) fn halted(halt: Halt, shared: &Shared<'_>) -> Outcome {
    match halt {
        Halt::Stopped => Outcome::Stopped,
        Halt::Broken => Outcome::Failed(BROKEN_DOWN.to_owned()),
        Halt::Overrun => Outcome::Failed(format!(
            "the script was stopped: it computed for {} s without awaiting anything",
            shared.script.limits.cpu_time.as_secs()
        )),
    }
}
