//! The text of what was thrown (runtime.md C5.8).

use rquickjs::{Ctx, Value};
use tenon_tools::{TruncationPolicy, truncate_text};

use super::memory::{ENGINE_TEXT, out_of_memory_text};
use super::run::halted;
use super::shared::Shared;
use super::strings::{string_form, text_of};
use crate::engine::{MODULE_NAME, Outcome};
use crate::limits::MAX_ERROR_BYTES;

/// What stands for a value whose own code throws when it is asked for its text.
const NOT_SHOWN: &str = "uncaught exception that cannot be shown";

/// What `exit()` throws. A script may catch it (C5.4).
pub(super) const EXIT: &str = "__codex_code_mode_exit__";

/// What comes of the exception that has just reached the top.
pub(super) fn thrown<'js>(ctx: &Ctx<'js>, shared: &Shared<'js>) -> Outcome {
    // An interrupt leaves an ordinary error behind: only the watch knows.
    if let Some(halt) = shared.watch.halt() {
        ctx.catch();
        return halted(halt, shared);
    }
    let value = ctx.catch();
    if shared.exits.get() && is_exit(&value) {
        return Outcome::Completed;
    }
    let text = text(ctx, shared, &value);
    // Asking the value for its text has run the script's code.
    match shared.watch.halt() {
        Some(halt) => halted(halt, shared),
        None => Outcome::Failed(text),
    }
}

fn is_exit(value: &Value<'_>) -> bool {
    value.as_string().is_some_and(|string| string.to_string().is_ok_and(|text| text == EXIT))
}

fn text<'js>(ctx: &Ctx<'js>, shared: &Shared<'js>, value: &Value<'js>) -> String {
    if value.is_null() && shared.memory_was_full(ctx) {
        return out_of_memory_text(shared.script.limits.memory_bytes);
    }
    let form = match string_form(shared, value) {
        Ok(form) => form,
        Err(_) => {
            ctx.catch();
            if shared.memory_was_full(ctx) {
                return out_of_memory_text(shared.script.limits.memory_bytes);
            }
            NOT_SHOWN.to_owned()
        }
    };
    if form == ENGINE_TEXT {
        return out_of_memory_text(shared.script.limits.memory_bytes);
    }
    let stack = stack(ctx, shared, value).map(|stack| in_characters(&stack, &shared.script.source));
    let whole = match stack {
        None => form,
        Some(stack) if !value.is_error() || stack.starts_with(&form) => stack,
        Some(stack) => format!("{form}\n{stack}").trim_end_matches('\n').to_owned(),
    };
    truncate_text(&whole, TruncationPolicy::Bytes(MAX_ERROR_BYTES))
}

/// The value's own account of where it came from, without the last line's end.
fn stack<'js>(ctx: &Ctx<'js>, shared: &Shared<'js>, value: &Value<'js>) -> Option<String> {
    let stack = value.as_object()?.get::<_, Value<'js>>("stack");
    let text = stack.and_then(|stack| stack.as_string().map(|string| text_of(shared, string)).transpose());
    match text {
        Ok(text) => text.map(|text| text.strip_suffix('\n').map(str::to_owned).unwrap_or(text)),
        Err(_) => {
            ctx.catch();
            None
        }
    }
}

/// A source that the engine does not take at all.
pub(super) fn nul_in_source(source: &str, position: usize) -> String {
    let before = source.get(..position).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count() + 1;
    format!("SyntaxError: the source has a NUL byte\n    at {MODULE_NAME}:{line}:{column}")
}

/// The engine counts columns in bytes of UTF-8; everybody else counts UTF-16 units.
fn in_characters(stack: &str, source: &str) -> String {
    if source.is_ascii() {
        return stack.to_owned();
    }
    let lines: Vec<&str> = source.lines().collect();
    stack.split('\n').map(|frame| frame_in_characters(frame, &lines)).collect::<Vec<_>>().join("\n")
}

/// One line of a stack: `    at f (exec_main.mjs:LINE:COLUMN)`.
fn frame_in_characters(frame: &str, lines: &[&str]) -> String {
    let converted = || {
        let (head, position) = frame.rsplit_once(&format!("{MODULE_NAME}:"))?;
        let (numbers, tail) = match position.strip_suffix(')') {
            Some(numbers) => (numbers, ")"),
            None => (position, ""),
        };
        let (line, column) = numbers.split_once(':')?;
        let text = lines.get(line.parse::<usize>().ok()?.checked_sub(1)?)?;
        let bytes = column.parse::<usize>().ok()?.checked_sub(1)?;
        let column = text.get(..bytes)?.encode_utf16().count() + 1;
        Some(format!("{head}{MODULE_NAME}:{line}:{column}{tail}"))
    };
    converted().unwrap_or_else(|| frame.to_owned())
}
