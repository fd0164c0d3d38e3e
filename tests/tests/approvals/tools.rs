//! Tools that stand for those which other machines or scripts bring.

use tenon_tools::{
    Effects, FnTool, McpEffect, ToolCall, ToolCallSource, ToolExecutor, ToolInvocation, ToolPayload,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Hints {
    tool: String,
    read_only: Option<bool>,
    destructive: Option<bool>,
    open_world: Option<bool>,
}

/// A tool of an MCP server, with the annotations that its arguments name.
pub(crate) fn mcp_tool() -> impl ToolExecutor + 'static {
    let called = async |hints: Hints, _: ToolInvocation| format!("called {}", hints.tool);
    FnTool::new("mcp_tool", "A tool of a server.", called).effects(|hints: &Hints| {
        let Hints { tool, read_only, destructive, open_world } = hints;
        let mcp = McpEffect {
            server: "calendar".to_owned(),
            tool: tool.clone(),
            read_only: *read_only,
            destructive: *destructive,
            open_world: *open_world,
        };
        Effects { mcp: Some(mcp), ..Effects::none() }
    })
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Calls {
    calls: Vec<Nested>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nested {
    name: String,
    /// Of a function.
    arguments: Option<serde_json::Value>,
    /// Of a custom tool.
    input: Option<String>,
}

/// A script that makes calls one after the other, and tells the value of each.
pub(crate) fn script() -> impl ToolExecutor + 'static {
    FnTool::new("script", "Calls tools.", async |Calls { calls }: Calls, call: ToolInvocation| {
        let mut told = Vec::new();
        for (number, nested) in calls.into_iter().enumerate() {
            let id = format!("{}-{number}", call.call_id);
            let payload = match nested.input {
                Some(input) => ToolPayload::Custom { input },
                None => ToolPayload::Function { arguments: nested.arguments.unwrap_or_default().to_string() },
            };
            let source =
                ToolCallSource::CodeMode { cell_id: "1".to_owned(), runtime_tool_call_id: id.clone() };
            let nested = ToolCall {
                tool_name: tenon_protocol::ToolName::plain(nested.name),
                call_id: id.as_str().into(),
                payload,
                encrypted_function_args: None,
            };
            let value = call.host.tools.call(nested, source, call.cancellation.clone()).await;
            told.push(match value {
                Ok(value) => value.get("output").unwrap_or(&value).as_str().unwrap_or_default().to_owned(),
                Err(error) => format!("error: {}", error.text()),
            });
        }
        told.join("\n")
    })
}
