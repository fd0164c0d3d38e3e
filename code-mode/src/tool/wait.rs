//! The tool `wait`: what a script that goes on has to say, or its end.

use async_trait::async_trait;
use serde::Deserialize;
use tenon_protocol::ToolName;
use tenon_tools::{
    Effects, FunctionCallError, HookIdentity, PreparedCall, ShownAs, ToolExecutor, ToolExposure,
    ToolInvocation, ToolOutput, ToolPayload, ToolSpec, parse_arguments,
};

use crate::cell::{CodeMode, DEFAULT_YIELD_TIME_MS, WaitFor};
use crate::surface::{WAIT, reply_output, wait_spec};

/// Waits for a cell that goes on, or stops it (runtime.md C8.5).
#[derive(Debug, Clone)]
pub struct WaitTool {
    name: ToolName,
    code_mode: CodeMode,
}

#[derive(Deserialize)]
struct Arguments {
    cell_id: String,
    #[serde(default = "default_yield_time_ms")]
    yield_time_ms: u64,
    #[serde(default)]
    max_tokens: Option<usize>,
    #[serde(default)]
    terminate: bool,
}

fn default_yield_time_ms() -> u64 {
    DEFAULT_YIELD_TIME_MS
}

impl WaitTool {
    /// The tool for the cells of these scripts.
    pub fn new(code_mode: CodeMode) -> Self {
        Self { name: ToolName::plain(WAIT), code_mode }
    }
}

#[async_trait]
impl ToolExecutor for WaitTool {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        wait_spec(DEFAULT_YIELD_TIME_MS)
    }

    fn exposure(&self) -> ToolExposure {
        ToolExposure::DirectModelOnly
    }

    /// Exempt from hooks (C8.13).
    fn hook_identity(&self) -> Option<HookIdentity> {
        None
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let ToolPayload::Function { arguments } = &call.payload else {
            return Err("wait expects JSON arguments".into());
        };
        let arguments = parse_arguments(arguments)?;
        Ok(Box::new(PreparedWait { arguments, code_mode: self.code_mode.clone(), effects: Effects::none() }))
    }
}

struct PreparedWait {
    arguments: Arguments,
    code_mode: CodeMode,
    effects: Effects,
}

#[async_trait]
impl PreparedCall for PreparedWait {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    /// A client sees the calls that a script makes, not the script (recorded).
    fn shown_as(&self) -> ShownAs {
        ShownAs::PartOfAnother
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let Self {
            arguments: Arguments { cell_id, yield_time_ms, max_tokens, terminate }, code_mode, ..
        } = *self;
        let reply = code_mode.wait(WaitFor { cell_id, yield_time_ms, terminate }).await?;
        Ok(Box::new(reply_output(reply, max_tokens, call.step.abilities)))
    }
}
