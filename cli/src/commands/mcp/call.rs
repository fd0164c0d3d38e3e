//! `tenon mcp call`.

use serde_json::{Map, Value};
use tenon_protocol::CallToolResult;

use super::{answered, start};
use crate::commands::Surroundings;
use crate::config::Config;
use crate::failure::{FAILED, Failure};
use crate::home::Home;
use crate::output::neutral;

/// What is called.
pub(super) struct Call {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) arguments: String,
    pub(super) json: bool,
}

/// Calls a tool and prints its result. A result that says that the tool failed is printed all the same.
pub(super) async fn run(
    config: Config,
    home: &Home,
    call: Call,
    surroundings: &mut Surroundings,
) -> Result<u8, Failure> {
    let arguments: Map<String, Value> = serde_json::from_str(&call.arguments)
        .map_err(|error| Failure::usage(format!("the arguments are no JSON object: {error}")))?;
    let servers = start(&config, home, surroundings);
    let cancellation = surroundings.cancellation.clone();
    let asked = servers.call(&call.server, &call.tool, arguments, &cancellation);
    let result = answered(asked, &call.server, &servers).await?;
    let text = if call.json {
        let value = serde_json::to_value(&result).map_err(Failure::failed)?;
        format!("{value:#}\n")
    } else {
        text_of(&result)
    };
    let written = surroundings.print(&text)?;
    Ok(if result.success() { written } else { FAILED })
}

/// Texts as they are, other blocks as their JSON; the structured content where there is nothing else.
fn text_of(result: &CallToolResult) -> String {
    let block = |block: &Value| {
        let is_text = block.get("type").and_then(Value::as_str) == Some("text");
        let text = block.get("text").and_then(Value::as_str).filter(|_| is_text);
        format!("{}\n", neutral(&text.map_or_else(|| block.to_string(), str::to_owned)))
    };
    match (&result.structured_content, result.content.is_empty()) {
        (Some(structured), true) => format!("{structured:#}\n"),
        (Some(_), false) | (None, _) => result.content.iter().map(block).collect(),
    }
}
