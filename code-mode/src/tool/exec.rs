//! The tool `exec`: free text that is a script.

use async_trait::async_trait;
use tenon_protocol::ToolName;
use tenon_tools::{
    Effects, FunctionCallError, HookIdentity, PreparedCall, ShownAs, ToolExecutor, ToolExposure,
    ToolInvocation, ToolOutput, ToolPayload, ToolSpec,
};

use crate::cell::{CodeMode, DEFAULT_YIELD_TIME_MS};
use crate::surface::{DirectTools, EXEC, ScriptSource, exec_spec, parse_source, reply_output};

/// Runs a script in a new cell (runtime.md C3, C4). What the script does is the matter of the tools that it calls.
#[derive(Debug, Clone)]
pub struct ExecTool {
    name: ToolName,
    code_mode: CodeMode,
}

impl ExecTool {
    /// The tool of these scripts.
    pub fn new(code_mode: CodeMode) -> Self {
        Self { name: ToolName::plain(EXEC), code_mode }
    }
}

#[async_trait]
impl ToolExecutor for ExecTool {
    fn name(&self) -> &ToolName {
        &self.name
    }

    /// Without the tools that scripts may call: the layer of the model's list knows those.
    fn spec(&self) -> ToolSpec {
        exec_spec(DEFAULT_YIELD_TIME_MS, &[], DirectTools::Shown)
    }

    fn exposure(&self) -> ToolExposure {
        ToolExposure::DirectModelOnly
    }

    fn accepts(&self, payload: &ToolPayload) -> bool {
        match payload {
            ToolPayload::Custom { .. } => true,
            ToolPayload::Function { .. } | ToolPayload::ToolSearch { .. } => false,
        }
    }

    /// Each call has begun one cell at the most, so that none of an earlier run has a higher number.
    fn was_called_before(&self, times: u64) {
        self.code_mode.number_cells_after(times);
    }

    /// Hooks see the calls that the script makes (C8.13).
    fn hook_identity(&self) -> Option<HookIdentity> {
        None
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let ToolPayload::Custom { input } = &call.payload else {
            return Err("exec expects raw JavaScript source text".into());
        };
        let source = parse_source(input).map_err(|error| FunctionCallError::respond(error.to_string()))?;
        // A request never waits for tools that are on their way; a script does, since it cannot ask for them later.
        if let Some(tools) = call.host.tools.late_tools().await {
            self.code_mode.tools().offer(&tools);
        }
        Ok(Box::new(PreparedScript { source, code_mode: self.code_mode.clone(), effects: Effects::none() }))
    }
}

struct PreparedScript {
    source: ScriptSource,
    code_mode: CodeMode,
    effects: Effects,
}

#[async_trait]
impl PreparedCall for PreparedScript {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    /// A client sees the calls that a script makes, not the script (recorded).
    fn shown_as(&self) -> ShownAs {
        ShownAs::PartOfAnother
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let Self { source: ScriptSource { code, yield_time_ms, max_output_tokens }, code_mode, .. } = *self;
        let yield_time_ms = yield_time_ms.unwrap_or(DEFAULT_YIELD_TIME_MS);
        let reply = code_mode.exec(code, yield_time_ms, call).await?;
        Ok(Box::new(reply_output(reply, max_output_tokens, call.step.abilities)))
    }
}
