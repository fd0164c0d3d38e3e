//! What a command printed, and how it stands.

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tenon_protocol::{CallId, FunctionCallOutputPayload, ResponseInputItem};

use super::item_for;
use crate::{
    ResponseFacts, SERIALISATION_ALLOWANCE, ToolOutput, ToolPayload, TruncationPolicy, approx_token_count,
    telemetry_preview, truncate_captured,
};

/// How much of a command's output the model is shown where it does not ask for more or less.
pub const DEFAULT_MAX_OUTPUT_TOKENS: usize = 10_000;

/// One collection of a command's output, by exec_command or write_stdin (core.md 9.10, runtime.md B10).
///
/// It is a success whatever the exit code: the call did what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecCommandToolOutput {
    /// The exec_command call that started the command; hooks know every later write_stdin by it. Empty: the call's own.
    pub event_call_id: CallId,
    /// Six hex digits; empty for none.
    pub chunk_id: String,
    /// How long the call took.
    pub wall_time: Duration,
    /// What was captured: with the marker of core.md 3.6 in its middle where the buffer lost some.
    pub raw_output: Vec<u8>,
    /// The model's own bound.
    pub max_output_tokens: Option<usize>,
    /// The session, while the command lives.
    pub process_id: Option<i32>,
    /// How it ended, once it has.
    pub exit_code: Option<i32>,
    /// Why this is not the first run of the command, or is the only one, where somebody was asked about a second: a line
    /// for the model.
    pub retry: Option<String>,
    /// Approximate tokens of all that was printed in this collection, lost bytes included.
    pub original_token_count: Option<usize>,
    /// Bytes that the buffer lost.
    pub output_omitted_bytes: Option<NonZeroU64>,
    /// The command as hooks see it; without it no PostToolUse hook fires.
    pub hook_command: Option<String>,
    /// The turn's policy.
    pub truncation_policy: TruncationPolicy,
}

impl ExecCommandToolOutput {
    /// All that was captured, bytes that are no UTF-8 replaced.
    fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.raw_output)
    }

    /// The lines before the output (runtime.md B10), with no line break at the end.
    fn header(&self) -> String {
        let mut lines = Vec::with_capacity(7);
        if !self.chunk_id.is_empty() {
            lines.push(format!("Chunk ID: {}", self.chunk_id));
        }
        lines.push(format!("Wall time: {:.4} seconds", self.wall_time.as_secs_f64()));
        if let Some(code) = self.exit_code {
            lines.push(format!("Process exited with code {code}"));
        }
        lines.extend(self.retry.clone());
        if let Some(id) = self.process_id {
            lines.push(format!("Process running with session ID {id}"));
        }
        if let Some(count) = self.original_token_count {
            lines.push(format!("Original token count: {count}"));
        }
        lines.push("Output:".to_owned());
        lines.join("\n")
    }

    /// The output as the model is shown it: within the model's own bound or the turn's, whichever is smaller, and
    /// small enough that it and the header are not cut again when they are recorded.
    fn bounded_output(&self, header: &str) -> String {
        let text = self.text();
        let room = self.truncation_policy.scaled(SERIALISATION_ALLOWANCE).byte_budget();
        let room = room.saturating_sub(header.len() + 1);
        let mut policy = self.effective_policy();
        loop {
            let output = self.cut(&text, policy);
            let excess = output.len().saturating_sub(room);
            // What is left at an empty budget, a warning and a marker, cannot be made shorter.
            if excess == 0 || policy.amount() == 0 {
                return output;
            }
            let excess = match policy {
                TruncationPolicy::Bytes(_) => excess,
                TruncationPolicy::Tokens(_) => TruncationPolicy::Bytes(excess).token_budget(),
            };
            policy = policy.with_amount(policy.amount().saturating_sub(excess));
        }
    }

    fn effective_policy(&self) -> TruncationPolicy {
        let asked = TruncationPolicy::Tokens(self.max_output_tokens.unwrap_or(DEFAULT_MAX_OUTPUT_TOKENS));
        if self.truncation_policy.byte_budget() < asked.byte_budget() {
            self.truncation_policy
        } else {
            asked
        }
    }

    fn cut(&self, text: &str, policy: TruncationPolicy) -> String {
        truncate_captured(text, policy, self.original_token_count, self.output_omitted_bytes)
    }

    fn model_text(&self) -> String {
        let header = self.header();
        let output = self.bounded_output(&header);
        format!("{header}\n{output}")
    }

    /// A script that set no bound gets all that was captured.
    fn script_output(&self) -> String {
        match self.max_output_tokens {
            Some(tokens) => self.cut(&self.text(), TruncationPolicy::Tokens(tokens)),
            None => self.text().into_owned(),
        }
    }
}

/// What a script gets (runtime.md B10.8).
#[derive(Serialize)]
struct ScriptValue<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    chunk_id: &'a str,
    wall_time_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_token_count: Option<usize>,
    output: String,
}

impl ToolOutput for ExecCommandToolOutput {
    fn log_preview(&self) -> String {
        telemetry_preview(&self.model_text())
    }

    fn success_for_logging(&self) -> bool {
        true
    }

    fn to_response_item(&self, call_id: &CallId, payload: &ToolPayload) -> ResponseInputItem {
        item_for(payload, call_id, FunctionCallOutputPayload::text(self.model_text()).with_success(true))
    }

    fn post_tool_use_id(&self, call_id: &CallId) -> CallId {
        if self.event_call_id.as_str().is_empty() { call_id.clone() } else { self.event_call_id.clone() }
    }

    fn post_tool_use_input(&self, _payload: &ToolPayload) -> Option<Value> {
        self.hook_command.as_ref().map(|command| json!({ "command": command }))
    }

    /// Nothing while the command lives: its end will tell.
    fn post_tool_use_response(&self, _call_id: &CallId, _payload: &ToolPayload) -> Option<Value> {
        if self.process_id.is_some() || self.hook_command.is_none() {
            return None;
        }
        Some(Value::String(self.bounded_output(&self.header())))
    }

    fn response_facts(&self) -> ResponseFacts {
        ResponseFacts {
            whole: Some(Value::String(self.text().into_owned())),
            exit_code: self.exit_code,
            unfinished: self.process_id.is_some(),
        }
    }

    /// Header, session and exit code stay; the text is another, and so are the counts of it.
    fn with_response(&self, updated: &Value) -> Option<Box<dyn ToolOutput>> {
        let text = updated.as_str().map_or_else(|| updated.to_string(), str::to_owned);
        Some(Box::new(Self {
            original_token_count: self.original_token_count.map(|_| approx_token_count(&text)),
            output_omitted_bytes: None,
            raw_output: text.into_bytes(),
            ..self.clone()
        }))
    }

    fn code_mode_result(&self, _payload: &ToolPayload) -> Value {
        let value = ScriptValue {
            chunk_id: &self.chunk_id,
            wall_time_seconds: self.wall_time.as_secs_f64(),
            exit_code: self.exit_code,
            session_id: self.process_id,
            original_token_count: self.original_token_count,
            output: self.script_output(),
        };
        serde_json::to_value(value).unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "exec_command_tests.rs"]
mod tests;
