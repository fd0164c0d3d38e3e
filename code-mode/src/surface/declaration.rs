//! What the model is told of a tool that scripts can call: its words, and its type (runtime.md C3.3).

use serde_json::Value;

use super::typescript::{UNKNOWN, is_mcp_result, mcp_result_type, typescript};
use crate::NestedKind;

/// What stands above a declaration.
const LEAD: &str = "exec tool declaration:";

/// The declaration of a tool: a member of `tools`, with its argument and its result.
pub(crate) fn declaration(
    js_name: &str,
    kind: NestedKind,
    input: Option<&Value>,
    output: Option<&Value>,
) -> String {
    let argument = match kind {
        NestedKind::Function => format!("args: {}", input.map_or_else(|| UNKNOWN.to_owned(), typescript)),
        NestedKind::Freeform => "input: string".to_owned(),
    };
    let result = match output {
        Some(schema) if is_mcp_result(schema) => mcp_result_type(schema),
        Some(schema) => typescript(schema),
        None => UNKNOWN.to_owned(),
    };
    format!("declare const tools: {{ {js_name}({argument}): Promise<{result}>; }};")
}

/// A tool's own words with its declaration below.
pub(crate) fn with_declaration(description: &str, declaration: &str) -> String {
    let block = format!("{LEAD}\n{}", fenced(declaration));
    if description.trim().is_empty() { block } else { format!("{description}\n\n{block}") }
}

/// TypeScript as Markdown shows it.
pub(crate) fn fenced(code: &str) -> String {
    format!("```ts\n{}\n```", code.trim_end())
}

#[cfg(test)]
#[path = "declaration_tests.rs"]
mod tests;
