//! `tools` and `ALL_TOOLS`: made when a script first looks at them, since most of a session's tools are not called by
//! most scripts.

use std::rc::Rc;

use rquickjs::function::{Opt, Rest, This};
use rquickjs::object::{Accessor, Property};
use rquickjs::{Array, Ctx, Function, IntoAtom, IntoJs, Object, String as JsString, Value};

use crate::engine::quickjs::shared::{PendingCall, Shared};
use crate::engine::quickjs::strings::{text_of, throw};
use crate::engine::{CallNumber, CallResult, ScriptCall};
use crate::limits::MAX_JSON_BYTES;

/// Makes a global's value.
type Make<'js> = fn(&Ctx<'js>, &Rc<Shared<'js>>) -> rquickjs::Result<Value<'js>>;

/// Puts `tools` and `ALL_TOOLS` on the global object.
pub(super) fn install<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared<'js>>) -> rquickjs::Result<()> {
    made_on_first_use(ctx, shared, "tools", functions)?;
    made_on_first_use(ctx, shared, "ALL_TOOLS", listing)
}

/// A global that becomes an ordinary property when it is read or written.
fn made_on_first_use<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    name: &'static str,
    make: Make<'js>,
) -> rquickjs::Result<()> {
    let shared = Rc::clone(shared);
    let read = move |ctx: Ctx<'js>| {
        shared.guarded(&ctx, || {
            let value = make(&ctx, &shared)?;
            define(&ctx.globals(), name, value.clone())?;
            Ok(value)
        })
    };
    let written = move |ctx: Ctx<'js>, value: Value<'js>| define(&ctx.globals(), name, value);
    ctx.globals().prop(name, Accessor::new(read, written).configurable().enumerable())
}

/// Gives an object an ordinary property. What a script has put on prototypes is not asked.
fn define<'js>(
    object: &Object<'js>,
    key: impl IntoAtom<'js>,
    value: impl IntoJs<'js>,
) -> rquickjs::Result<()> {
    object.prop(key, Property::from(value).writable().configurable().enumerable())
}

/// An object with a function for each tool.
fn functions<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared<'js>>) -> rquickjs::Result<Value<'js>> {
    let tools = Object::new(ctx.clone())?;
    for (index, tool) in shared.script.tools.iter().enumerate() {
        let name = tool.js_name.as_str();
        define(&tools, name, function(ctx, shared, index, name)?)?;
    }
    Ok(tools.into_value())
}

fn function<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    tool: usize,
    name: &str,
) -> rquickjs::Result<Function<'js>> {
    let shared = Rc::clone(shared);
    let called = move |ctx: Ctx<'js>, argument: Opt<Value<'js>>, _rest: Rest<Value<'js>>| {
        shared.guarded(&ctx, || call(&ctx, &shared, tool, argument.0))
    };
    Function::new(ctx.clone(), called)?.with_name(name)
}

/// A list of `{name, description}`.
fn listing<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared<'js>>) -> rquickjs::Result<Value<'js>> {
    let list = Array::new(ctx.clone())?;
    for (index, tool) in (0_u32..).zip(shared.script.tools.iter()) {
        let entry = Object::new(ctx.clone())?;
        define(&entry, "name", tool.js_name.as_str())?;
        define(&entry, "description", tool.augmented.as_str())?;
        define(list.as_object(), index, entry)?;
    }
    Ok(list.into_value())
}

/// Calls a tool and gives the promise of its result. What JSON cannot say is thrown at once (runtime.md C6.3).
fn call<'js>(
    ctx: &Ctx<'js>,
    shared: &Rc<Shared<'js>>,
    tool: usize,
    argument: Option<Value<'js>>,
) -> rquickjs::Result<Value<'js>> {
    let json = argument.map(|argument| ctx.json_stringify(argument)).transpose()?.flatten();
    let argument = match json.map(|json| text_of(shared, &json)).transpose() {
        Ok(argument) => argument,
        Err(error) => {
            ctx.catch();
            return Err(throw(ctx, &format!("failed to serialize JavaScript value: {error}")));
        }
    };
    let (promise, resolve, reject) = ctx.promise()?;
    let pending = PendingCall { resolve, reject };
    if let Some(complaint) = refusal(shared, argument.as_deref()) {
        settle(ctx, shared, &pending, Err(complaint));
        return Ok(promise.into_value());
    }
    let number = CallNumber(shared.next_call.get() + 1);
    shared.next_call.set(number.0);
    // A call hands control to the host, whether its result is there at once or not.
    shared.watch.turn();
    match shared.host.call(ScriptCall { number, tool, argument }, &shared.settler) {
        Some(result) => settle(ctx, shared, &pending, result),
        None => {
            shared.calls.borrow_mut().insert(number, pending);
        }
    }
    Ok(promise.into_value())
}

/// Why the engine does not even ask for a call.
fn refusal(shared: &Shared<'_>, argument: Option<&str>) -> Option<String> {
    if shared.calls.borrow().len() >= shared.script.limits.pending_calls {
        return Some(format!("more than {} tool calls are pending", shared.script.limits.pending_calls));
    }
    let bytes = argument.map_or(0, str::len);
    (bytes > MAX_JSON_BYTES).then(|| {
        format!("the argument of a tool call may have {MAX_JSON_BYTES} bytes of JSON; this one has {bytes}")
    })
}

/// Settles a call's promise. Where there is no room for the result, the script is out of memory.
pub(in crate::engine::quickjs) fn settle<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared<'js>,
    call: &PendingCall<'js>,
    result: CallResult,
) {
    let settled = match result {
        Ok(json) if json.len() > MAX_JSON_BYTES => reject(ctx, call, &too_long(json.len())),
        Ok(json) => resolve(ctx, shared, call, &json),
        Err(text) => reject(ctx, call, &text),
    };
    // The promise stays as it is, and the script ends as one that has no memory left.
    if settled.is_err() {
        ctx.catch();
    }
}

fn too_long(bytes: usize) -> String {
    format!("the result of a tool call may have {MAX_JSON_BYTES} bytes of JSON; this one has {bytes}")
}

fn reject<'js>(ctx: &Ctx<'js>, call: &PendingCall<'js>, text: &str) -> rquickjs::Result<()> {
    call.reject.call((text.into_js(ctx)?,))
}

fn resolve<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared<'js>,
    call: &PendingCall<'js>,
    json: &str,
) -> rquickjs::Result<()> {
    let value = ctx.json_parse(json)?;
    if value.is_object() && may_print_otherwise(json) {
        let intrinsics = shared.intrinsics()?;
        let text = JsString::from_str(ctx.clone(), json)?;
        let kept = (This(intrinsics.texts.clone()), value.clone(), text);
        intrinsics.set.call::<_, Value<'js>>(kept)?;
    }
    call.resolve.call((value,))
}

/// Whether the engine may print other text for this JSON than it was: numbers that a double has no room for or another
/// form of, and keys that it would sort before others. Says yes too often rather than too rarely.
fn may_print_otherwise(json: &str) -> bool {
    const DIGITS_OF_A_DOUBLE: usize = 15;
    let (mut in_string, mut escaped, mut digits, mut previous) = (false, false, 0, b' ');
    for byte in json.bytes() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                // A key that looks like an index; or a text, which is no harm.
                b'0'..=b'9' if previous == b'"' => return true,
                _ => {}
            }
        } else {
            digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
            let odd = digits > DIGITS_OF_A_DOUBLE
                || matches!(byte, b'.' | b'+')
                || (previous == b'-' && byte == b'0')
                || (previous.is_ascii_digit() && matches!(byte, b'e' | b'E'));
            if odd {
                return true;
            }
            in_string = byte == b'"';
        }
        previous = byte;
    }
    false
}
