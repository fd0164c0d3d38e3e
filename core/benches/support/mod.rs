//! The tool whose calls are measured.
#![allow(unreachable_pub, reason = "a module of a benchmark is its own")]

use std::sync::Arc;

use async_trait::async_trait;
use tenon_protocol::ToolName;
use tenon_tools::{
    Effects, FunctionCallError, FunctionToolOutput, JsonSchema, PreparedCall, ToolExecutor, ToolInvocation,
    ToolOutput, ToolSpec,
};

struct Noop {
    name: ToolName,
    effects: Effects,
}

/// A tool called `noop` that says that it would do this, and does nothing.
pub fn noop(effects: Effects) -> Arc<dyn ToolExecutor> {
    Arc::new(Noop { name: ToolName::plain("noop"), effects })
}

/// What a call of it comes to.
pub fn output() -> Box<dyn ToolOutput> {
    Box::new(FunctionToolOutput::from_text("ok", Some(true)))
}

#[async_trait]
impl ToolExecutor for Noop {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function(self.name.name(), "Does nothing.", JsonSchema::object([], &[]))
    }

    fn parallel(&self) -> bool {
        true
    }

    async fn prepare(&self, _: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        Ok(Box::new(Prepared(self.effects.clone())))
    }
}

struct Prepared(Effects);

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.0
    }

    async fn run(self: Box<Self>, _: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        Ok(output())
    }
}
