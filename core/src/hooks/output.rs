//! What a configured hook may write: one JSON object (core.md 8.6). Members that are not known, values that are not
//! known, and lists in the place of objects are invalid; a null member counts as absent but for the plain switches.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// An output with the members that all events have.
macro_rules! output {
    ($(#[$attribute:meta])* $name:ident { $($(#[$member:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$attribute])*
        #[derive(Debug, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        #[allow(dead_code, reason = "what means nothing to an event is read all the same, and must fit")]
        pub(super) struct $name {
            #[serde(default = "yes")]
            pub(super) r#continue: bool,
            pub(super) stop_reason: Option<String>,
            #[serde(default)]
            pub(super) suppress_output: bool,
            pub(super) system_message: Option<String>,
            $($(#[$member])* pub(super) $field: $kind,)*
        }

        impl Universal for $name {
            fn system_message(&mut self) -> Option<String> {
                self.system_message.take()
            }
        }
    };
}

/// What all outputs have for the operator.
pub(super) trait Universal {
    /// Takes it.
    fn system_message(&mut self) -> Option<String>;
}

/// The old way to say no; `approve` is PreToolUse's alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LegacyDecision {
    Approve,
    Block,
}

/// The one word that the other events know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Block {
    Block,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PermissionDecision {
    Allow,
    Deny,
    Ask,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Behavior {
    Allow,
    Deny,
}

output! {
    PreToolUseOutput {
        decision: Option<LegacyDecision>,
        reason: Option<String>,
        #[serde(default, deserialize_with = "object")]
        hook_specific_output: Option<PreToolUseSpecific>,
    }
}

output! {
    PostToolUseOutput {
        decision: Option<Block>,
        reason: Option<String>,
        #[serde(default, deserialize_with = "object")]
        hook_specific_output: Option<PostToolUseSpecific>,
    }
}

output! {
    PermissionRequestOutput {
        #[serde(default, deserialize_with = "object")]
        hook_specific_output: Option<PermissionRequestSpecific>,
    }
}

output! {
    PromptSubmitOutput {
        decision: Option<Block>,
        reason: Option<String>,
        #[serde(default, deserialize_with = "object")]
        hook_specific_output: Option<ContextOnly>,
    }
}

output! {
    SessionStartOutput {
        #[serde(default, deserialize_with = "object")]
        hook_specific_output: Option<ContextOnly>,
    }
}

output! {
    StopOutput {
        decision: Option<Block>,
        reason: Option<String>,
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PreToolUseSpecific {
    /// Required, and not compared with the event.
    #[serde(rename = "hookEventName")]
    _event: String,
    pub(super) permission_decision: Option<PermissionDecision>,
    pub(super) permission_decision_reason: Option<String>,
    pub(super) updated_input: Option<Value>,
    pub(super) additional_context: Option<String>,
}

impl PreToolUseSpecific {
    /// Whether it says anything, so that the old pair is not looked at.
    pub(super) fn says_something(&self) -> bool {
        self.permission_decision.is_some()
            || self.permission_decision_reason.is_some()
            || self.updated_input.is_some()
            || self.additional_context.is_some()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PostToolUseSpecific {
    #[serde(rename = "hookEventName")]
    _event: String,
    pub(super) additional_context: Option<String>,
    #[serde(rename = "updatedMCPToolOutput")]
    pub(super) updated_mcp_tool_output: Option<Value>,
    /// Known to extended hooks only: to the others even a null is a member that is not known.
    #[serde(default, deserialize_with = "present")]
    pub(super) updated_tool_output: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PermissionRequestSpecific {
    #[serde(rename = "hookEventName")]
    _event: String,
    #[serde(default, deserialize_with = "object")]
    pub(super) decision: Option<Permission>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Permission {
    pub(super) behavior: Behavior,
    pub(super) message: Option<String>,
    pub(super) updated_input: Option<Value>,
    pub(super) updated_permissions: Option<Value>,
    #[serde(default)]
    pub(super) interrupt: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ContextOnly {
    #[serde(rename = "hookEventName")]
    _event: String,
    pub(super) additional_context: Option<String>,
}

fn yes() -> bool {
    true
}

/// An object or null. A list would fit as well, member by member. The text is read a second time rather than taken
/// apart into a value, so that a member which stands there twice is seen.
fn object<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Option<T>, D::Error> {
    let Some(raw) = Option::<Box<RawValue>>::deserialize(from)? else { return Ok(None) };
    if !raw.get().starts_with('{') {
        return Err(Error::custom("expected an object"));
    }
    serde_json::from_str(raw.get()).map(Some).map_err(Error::custom)
}

/// Any value, null too.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}
