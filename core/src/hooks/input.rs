//! What a configured hook reads: one JSON document (core.md 8.5).

use serde_json::{Map, Value, json};
use tenon_tools::HookEventName;

use super::{HookContext, PermissionRequest, PostToolUse, PreToolUse, PromptSubmit, SessionStart, Stop};

/// A document in the making.
type Document = Map<String, Value>;

pub(super) fn pre_tool_use(event: &PreToolUse, extended: bool) -> Document {
    let mut document = common(HookEventName::PreToolUse, &event.context);
    document.insert("tool_name".to_owned(), json!(event.tool_name));
    document.insert("tool_input".to_owned(), event.tool_input.clone());
    document.insert("tool_use_id".to_owned(), json!(event.tool_use_id));
    if extended {
        document.insert("paths".to_owned(), event.paths.as_deref().map_or(Value::Null, paths));
    }
    document
}

/// Without the id of the call.
pub(super) fn permission_request(event: &PermissionRequest, extended: bool) -> Document {
    let mut document = common(HookEventName::PermissionRequest, &event.context);
    document.insert("tool_name".to_owned(), json!(event.tool_name));
    document.insert("tool_input".to_owned(), event.tool_input.clone());
    if extended {
        document.insert("paths".to_owned(), paths(&event.paths));
    }
    document
}

pub(super) fn post_tool_use(event: &PostToolUse, extended: bool) -> Document {
    let mut document = common(HookEventName::PostToolUse, &event.context);
    document.insert("tool_name".to_owned(), json!(event.tool_name));
    document.insert("tool_input".to_owned(), event.tool_input.clone());
    document.insert("tool_response".to_owned(), event.tool_response.clone());
    document.insert("tool_use_id".to_owned(), json!(event.tool_use_id));
    if extended {
        let original = event.original_input.as_ref().unwrap_or(&event.tool_input);
        document.insert("original_input".to_owned(), original.clone());
        document.insert("success".to_owned(), json!(event.success));
        document.insert("exit_code".to_owned(), json!(event.exit_code));
        document.insert("finished".to_owned(), json!(event.finished));
    }
    document
}

pub(super) fn prompt_submit(event: &PromptSubmit) -> Document {
    let mut document = common(HookEventName::UserPromptSubmit, &event.context);
    document.insert("prompt".to_owned(), json!(event.prompt));
    document
}

/// Without a turn: there is none yet.
pub(super) fn session_start(event: &SessionStart) -> Document {
    let mut document = common(HookEventName::SessionStart, &event.context);
    document.shift_remove("turn_id");
    document.insert("source".to_owned(), json!(event.source.name()));
    document
}

pub(super) fn stop(event: &Stop) -> Document {
    let mut document = common(HookEventName::Stop, &event.context);
    document.insert("stop_hook_active".to_owned(), json!(event.stop_hook_active));
    document.insert("last_assistant_message".to_owned(), json!(event.last_assistant_message));
    document
}

fn common(event: HookEventName, context: &HookContext) -> Document {
    let HookContext { session_id, turn_id, transcript_path, cwd, model, permission_mode } = context;
    let members = [
        ("session_id", json!(session_id)),
        ("turn_id", json!(turn_id)),
        ("transcript_path", json!(transcript_path.as_ref().map(|path| path.to_string_lossy()))),
        ("cwd", json!(cwd.to_string_lossy())),
        ("hook_event_name", json!(event.name())),
        ("model", json!(model)),
        ("permission_mode", json!(permission_mode)),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn paths(paths: impl AsRef<[std::path::PathBuf]>) -> Value {
    paths.as_ref().iter().map(|path| Value::String(path.to_string_lossy().into_owned())).collect()
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
