//! What the loop and the host functions both hold.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use rquickjs::function::{Opt, Rest};
use rquickjs::{Constructor, Ctx, Error, Function, Object, Value};

use super::strings;
use super::timers::Timers;
use super::watch::Watch;
use crate::engine::{CallNumber, Script, ScriptHost, Settler, Stored};

/// What a host function throws once the script must not go on. The engine's interrupt follows, which nothing catches.
const HALTED: &str = "the script is over";

/// The state of one script.
///
/// What is `'js` in it is dropped by [`Clear`] before the context is: host functions hold the whole of it, and live as
/// long as the context.
pub(super) struct Shared<'js> {
    pub(super) host: Rc<dyn ScriptHost>,
    pub(super) settler: Settler,
    pub(super) watch: Watch,
    pub(super) script: Script,
    /// What the script has stored.
    pub(super) writes: RefCell<Stored>,
    /// The bytes of that, and of what cells before it have stored.
    pub(super) stored_bytes: Cell<usize>,
    /// Whether `exit()` was called.
    pub(super) exits: Cell<bool>,
    pub(super) next_call: Cell<u64>,
    pub(super) calls: RefCell<HashMap<CallNumber, PendingCall<'js>>>,
    pub(super) timers: RefCell<Timers<'js>>,
    intrinsics: RefCell<Option<Rc<Intrinsics<'js>>>>,
}

/// A promise that waits for the result of a call.
pub(super) struct PendingCall<'js> {
    pub(super) resolve: Function<'js>,
    pub(super) reject: Function<'js>,
}

/// The engine's own functions, taken before a script could replace them.
pub(super) struct Intrinsics<'js> {
    /// `String`.
    pub(super) string: Function<'js>,
    /// `String.prototype.toWellFormed`.
    pub(super) to_well_formed: Function<'js>,
    /// `ArrayBuffer`.
    pub(super) array_buffer: Constructor<'js>,
    /// `WeakRef`.
    pub(super) weak_ref: Constructor<'js>,
    /// `WeakRef.prototype.deref`.
    pub(super) deref: Function<'js>,
    /// An object like those that are thrown where memory is out. As long as one lives, another can be made without a
    /// new shape, and its making is what leaves the collector's trace ([`memory`](super::memory)).
    _error: Object<'js>,
    /// A `WeakMap` from results to their JSON texts.
    pub(super) texts: Object<'js>,
    /// `WeakMap.prototype.get`.
    pub(super) get: Function<'js>,
    /// `WeakMap.prototype.set`.
    pub(super) set: Function<'js>,
}

impl<'js> Intrinsics<'js> {
    fn take(ctx: &Ctx<'js>) -> rquickjs::Result<Self> {
        let globals = ctx.globals();
        let string = globals.get::<_, Object<'js>>("String")?;
        let weak_ref = globals.get::<_, Constructor<'js>>("WeakRef")?;
        let weak_map = globals.get::<_, Constructor<'js>>("WeakMap")?;
        let weak_map_prototype = weak_map.get::<_, Object<'js>>("prototype")?;
        let internal_error =
            globals.get::<_, Object<'js>>("InternalError")?.get::<_, Object<'js>>("prototype")?;
        Ok(Self {
            _error: Object::new_proto(ctx.clone(), Some(&internal_error))?,
            to_well_formed: string.get::<_, Object<'js>>("prototype")?.get("toWellFormed")?,
            string: globals.get("String")?,
            array_buffer: globals.get("ArrayBuffer")?,
            deref: weak_ref.get::<_, Object<'js>>("prototype")?.get("deref")?,
            weak_ref,
            texts: weak_map.construct(())?,
            get: weak_map_prototype.get("get")?,
            set: weak_map_prototype.get("set")?,
        })
    }
}

impl<'js> Shared<'js> {
    pub(super) fn new(
        ctx: &Ctx<'js>,
        script: Script,
        host: Rc<dyn ScriptHost>,
        settler: Settler,
        watch: Watch,
    ) -> rquickjs::Result<Rc<Self>> {
        let stored_bytes = script.stored.iter().map(|(key, json)| key.len() + json.len()).sum();
        Ok(Rc::new(Self {
            host,
            settler,
            watch,
            writes: RefCell::default(),
            stored_bytes: Cell::new(stored_bytes),
            exits: Cell::new(false),
            next_call: Cell::new(0),
            calls: RefCell::default(),
            timers: RefCell::new(Timers::new(script.limits.timers)),
            intrinsics: RefCell::new(Some(Rc::new(Intrinsics::take(ctx)?))),
            script,
        }))
    }

    pub(super) fn intrinsics(&self) -> rquickjs::Result<Rc<Intrinsics<'js>>> {
        self.intrinsics.borrow().clone().ok_or(Error::Unknown)
    }

    /// Runs what a script has called. A panic breaks the script down, and one that must not go on calls nothing.
    pub(super) fn guarded<R>(
        &self,
        ctx: &Ctx<'js>,
        work: impl FnOnce() -> rquickjs::Result<R>,
    ) -> rquickjs::Result<R> {
        if self.watch.halt().is_some() {
            return Err(strings::throw(ctx, HALTED));
        }
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            self.watch.break_down();
            Err(strings::throw(ctx, HALTED))
        })
    }
}

/// A function that a script can call.
pub(super) type HostFunction<'js> =
    fn(&Ctx<'js>, &Rc<Shared<'js>>, &Arguments<'js>) -> rquickjs::Result<Value<'js>>;

/// The arguments that host functions look at; one that is missing is `undefined`.
pub(super) struct Arguments<'js> {
    pub(super) first: Value<'js>,
    pub(super) second: Value<'js>,
}

/// Makes a host function.
pub(super) fn host_function<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    name: &str,
    function: HostFunction<'js>,
) -> rquickjs::Result<Function<'js>> {
    let shared = Rc::clone(shared);
    let called =
        move |ctx: Ctx<'js>, first: Opt<Value<'js>>, second: Opt<Value<'js>>, _rest: Rest<Value<'js>>| {
            let undefined = || Value::new_undefined(ctx.clone());
            let first = first.0.unwrap_or_else(undefined);
            let arguments = Arguments { first, second: second.0.unwrap_or_else(undefined) };
            shared.guarded(&ctx, || function(&ctx, &shared, &arguments))
        };
    Function::new(ctx.clone(), called)?.with_name(name)
}

/// Drops what is `'js`, on every way out.
pub(super) struct Clear<'js>(pub(super) Rc<Shared<'js>>);

impl Drop for Clear<'_> {
    fn drop(&mut self) {
        self.0.calls.borrow_mut().clear();
        self.0.timers.borrow_mut().clear();
        self.0.intrinsics.borrow_mut().take();
    }
}
