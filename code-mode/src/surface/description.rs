//! What the model is told of `exec` and `wait` (runtime.md C3.1 to C3.6, C8.5).

use std::collections::HashSet;

use tenon_tools::{JsonSchema, ToolSpec};

use super::declaration::fenced;
use super::names::flat_name;
use super::reply::DEFAULT_MAX_OUTPUT_TOKENS;
use super::typescript::{SHARED_MCP_TYPES, is_mcp_result};
use super::{DirectTools, EXEC, WAIT};
use crate::NestedTool;

/// What a script is and what it has, with places for the defaults.
const EXEC_WORDS: &str = include_str!("description/exec.md");
const WAIT_WORDS: &str = include_str!("description/wait.md");
/// What is said where there are tools that are not described.
const DEFERRED_WORDS: &str = include_str!("description/deferred.md");
/// A script, perhaps below a line of wishes.
const GRAMMAR: &str = include_str!("description/exec.lark");

/// `exec`, as a model is shown it that can call these tools from a script.
pub(crate) fn exec_spec(default_yield_time_ms: u64, nested: &[NestedTool], direct: DirectTools) -> ToolSpec {
    let mut sections = vec![filled(EXEC_WORDS, default_yield_time_ms)];
    if nested.iter().any(|tool| tool.deferred) {
        sections.push(DEFERRED_WORDS.trim_end().to_owned());
    }
    match direct {
        // Each tool has a spec of its own, with its declaration.
        DirectTools::Shown => {}
        DirectTools::Hidden => {
            if nested.iter().any(gives_mcp_result) {
                sections.push(format!("Shared MCP Types:\n{}", fenced(SHARED_MCP_TYPES)));
            }
            sections.extend(tool_sections(nested));
        }
    }
    ToolSpec::lark(EXEC, sections.join("\n\n"), GRAMMAR)
}

/// `wait`.
pub(crate) fn wait_spec(default_yield_time_ms: u64) -> ToolSpec {
    let parameters = [
        ("cell_id", JsonSchema::string("The cell to wait for.")),
        ("yield_time_ms", JsonSchema::number("How long to wait, in milliseconds.")),
        ("max_tokens", JsonSchema::number("How many tokens of new output you want to see.")),
        ("terminate", JsonSchema::boolean("Whether the script is to end now.")),
    ];
    let parameters = JsonSchema::object(parameters, &["cell_id"]);
    ToolSpec::function(WAIT, filled(WAIT_WORDS, default_yield_time_ms), parameters)
}

fn filled(words: &str, default_yield_time_ms: u64) -> String {
    words
        .trim_end()
        .replace("{default_yield_time_ms}", &default_yield_time_ms.to_string())
        .replace("{default_max_output_tokens}", &DEFAULT_MAX_OUTPUT_TOKENS.to_string())
}

fn gives_mcp_result(tool: &NestedTool) -> bool {
    tool.output_schema.as_ref().is_some_and(is_mcp_result)
}

/// A section for each tool that need not be searched for; those of one namespace together below its words, those of
/// none first (C3.3, C3.4).
fn tool_sections(nested: &[NestedTool]) -> Vec<String> {
    let mut tools: Vec<&NestedTool> = nested.iter().filter(|tool| !tool.deferred).collect();
    tools.sort_by_cached_key(|tool| {
        let namespace = tool.namespace_description.as_ref().and(tool.name.namespace());
        (namespace.map(str::to_owned), tool.name.name().to_owned(), flat_name(&tool.name))
    });
    let (mut sections, mut headed) = (Vec::with_capacity(tools.len()), HashSet::new());
    for tool in tools {
        if let (Some(namespace), Some(words)) = (tool.name.namespace(), &tool.namespace_description)
            && headed.insert(namespace)
        {
            sections.push(format!("## {namespace}\n{words}"));
        }
        sections.push(format!("{}\n{}", heading(tool), tool.augmented));
    }
    sections
}

fn heading(tool: &NestedTool) -> String {
    let js_name = &tool.js_name;
    if flat_name(&tool.name) == *js_name {
        format!("### `{js_name}`")
    } else {
        format!("### `{js_name}` (`{}`)", tool.name)
    }
}

#[cfg(test)]
#[path = "description_tests.rs"]
mod tests;
