//! The body of a request.

use std::sync::Arc;

use serde::Serialize;
use tenon_protocol::ResponseItem;
use tenon_tools::{Prompt, ToolSpec};

/// What the server gives of its reasoning, since it stores none (`store: false`).
const ENCRYPTED_REASONING: &[&str] = &["reasoning.encrypted_content"];

/// Everything is borrowed from the prompt: an item that came from the API is written byte for byte as it came.
#[derive(Serialize)]
struct Body<'p> {
    model: &'p str,
    instructions: &'p str,
    input: &'p [Arc<ResponseItem>],
    tools: &'p [ToolSpec],
    tool_choice: &'static str,
    parallel_tool_calls: bool,
    store: bool,
    stream: bool,
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "str::is_empty")]
    prompt_cache_key: &'p str,
}

/// The body as JSON.
pub(crate) fn body(prompt: &Prompt, encrypted_reasoning: bool) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Body {
        model: &prompt.model,
        instructions: &prompt.instructions,
        input: &prompt.input,
        tools: &prompt.tools,
        tool_choice: "auto",
        parallel_tool_calls: true,
        store: false,
        stream: true,
        include: if encrypted_reasoning { ENCRYPTED_REASONING } else { &[] },
        prompt_cache_key: &prompt.session_id,
    })
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
