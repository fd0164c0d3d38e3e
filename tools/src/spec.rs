//! What the model is shown of a tool (core.md 2.7).

use serde::Serialize;

/// One entry of the request's list of tools.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolSpec {}
