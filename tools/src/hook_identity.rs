//! How hooks see a tool, and how they rewrite its calls.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use tenon_protocol::ToolName;

use crate::{FunctionCallError, ToolPayload};

/// How a tool's input is shown to hooks and taken back from them (core.md 5.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookInputForm {
    /// The parsed arguments; a rewrite replaces them all.
    Arguments,
    /// As [`Arguments`](Self::Arguments), with the error texts of MCP tools.
    McpArguments,
    /// `{"command": ...}` for one string member of the arguments; a rewrite replaces that member and keeps the others.
    CommandMember {
        /// The member, `cmd` for exec_command.
        member: &'static str,
    },
    /// `{"command": ...}` for the whole text of a custom call; a rewrite replaces it.
    CommandText,
}

/// Under which name hooks know a tool (core.md 5.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookIdentity {
    /// The canonical name, the only one a hook is told.
    pub tool_name: Cow<'static, str>,
    /// Further names that a matcher may select the tool by.
    pub aliases: &'static [&'static str],
    /// How input is shown and rewritten.
    pub form: HookInputForm,
    /// Whether PreToolUse fires.
    pub pre: bool,
    /// Whether PostToolUse may fire.
    pub post: bool,
}

impl HookIdentity {
    /// The identity of a plain function tool: its flat name, its arguments.
    pub fn function(name: &ToolName) -> Self {
        Self::named(Cow::Owned(name.flat_tool_name()), HookInputForm::Arguments)
    }

    /// An identity without aliases that takes part in both events.
    pub fn named(tool_name: Cow<'static, str>, form: HookInputForm) -> Self {
        Self { tool_name, aliases: &[], form, pre: true, post: true }
    }

    /// The same with aliases for matchers.
    #[must_use]
    pub fn with_aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Whether a payload has a shape that hooks of this tool can be shown. Search and custom calls of a function
    /// identity have none.
    pub fn covers(&self, payload: &ToolPayload) -> bool {
        self.text(payload).is_some()
    }

    /// The text of a payload that is covered.
    fn text<'a>(&self, payload: &'a ToolPayload) -> Option<&'a str> {
        match payload {
            ToolPayload::Function { arguments } => {
                (self.form != HookInputForm::CommandText).then_some(arguments)
            }
            ToolPayload::Custom { input } => (self.form == HookInputForm::CommandText).then_some(input),
            ToolPayload::ToolSearch { .. } => None,
        }
    }

    /// `tool_input` of a payload: the parsed arguments, `{}` where they are blank, the raw string where they are no
    /// JSON; or the command. None where there is nothing to show: such a call meets no hook.
    pub fn input(&self, payload: &ToolPayload) -> Option<Value> {
        let text = self.text(payload)?;
        match self.form {
            HookInputForm::Arguments | HookInputForm::McpArguments => Some(parsed_or_raw(text)),
            HookInputForm::CommandMember { member } => {
                let parsed: Value = serde_json::from_str(text).ok()?;
                let command = parsed.get(member)?.as_str()?;
                Some(json!({ "command": command }))
            }
            HookInputForm::CommandText => Some(json!({ "command": text })),
        }
    }

    /// The payload with a hook's `updatedInput` in it. Validation of the result is the handler's own parsing.
    ///
    /// # Errors
    /// The texts of core.md 5.3 for a payload or an input of the wrong shape.
    pub fn rewrite(&self, payload: &ToolPayload, updated: &Value) -> Result<ToolPayload, FunctionCallError> {
        let Some(text) = self.text(payload) else {
            let wanted = self.payload_kind();
            return Err(FunctionCallError::respond(format!(
                "hook input rewrite received unsupported {wanted} payload"
            )));
        };
        match self.form {
            HookInputForm::Arguments => function_payload(updated, &self.tool_name),
            HookInputForm::McpArguments => function_payload(updated, "MCP"),
            HookInputForm::CommandMember { member } => rewrite_member(text, member, updated),
            HookInputForm::CommandText => Ok(ToolPayload::Custom { input: command_of(updated)? }),
        }
    }

    /// What a payload that can be rewritten is called in errors.
    fn payload_kind(&self) -> &str {
        match self.form {
            HookInputForm::Arguments | HookInputForm::McpArguments => "function tool",
            HookInputForm::CommandMember { .. } => "exec_command",
            HookInputForm::CommandText => &self.tool_name,
        }
    }
}

/// A payload of these arguments; `whose` they are, for the error.
fn function_payload(arguments: &Value, whose: &str) -> Result<ToolPayload, FunctionCallError> {
    let arguments = serde_json::to_string(arguments).map_err(|error| {
        FunctionCallError::respond(format!("failed to serialize rewritten {whose} arguments: {error}"))
    })?;
    Ok(ToolPayload::Function { arguments })
}

fn parsed_or_raw(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return Value::Object(Map::new());
    }
    serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()))
}

fn command_of(updated: &Value) -> Result<String, FunctionCallError> {
    let command = updated.get("command").and_then(Value::as_str);
    command.map(str::to_owned).ok_or_else(|| {
        FunctionCallError::respond("hook returned updatedInput without string field `command`")
    })
}

fn rewrite_member(arguments: &str, member: &str, updated: &Value) -> Result<ToolPayload, FunctionCallError> {
    let command = command_of(updated)?;
    let mut parsed: Value = serde_json::from_str(arguments).map_err(|error| {
        FunctionCallError::respond(format!("failed to parse function arguments: {error}"))
    })?;
    let Some(object) = parsed.as_object_mut() else {
        return Err(FunctionCallError::respond("exec_command arguments must be an object"));
    };
    object.insert(member.to_owned(), Value::String(command));
    function_payload(&parsed, "exec_command")
}

#[cfg(test)]
#[path = "hook_identity_tests.rs"]
mod tests;
