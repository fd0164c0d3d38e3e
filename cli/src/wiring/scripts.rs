//! Code mode, where the configuration wants it.

use std::sync::Arc;

use tenon_code_mode::{CodeMode, CodeModeLayer, DirectTools, NestedTools, with_code_mode};
use tenon_tools::{SpecLayer, ToolExecutor};

use crate::config::ToolMode;

/// The scripts of one session.
pub(crate) struct Scripts {
    code_mode: CodeMode,
    layer: Arc<CodeModeLayer>,
}

impl Scripts {
    /// Scripts in this mode; none where tools are only called directly.
    pub(crate) fn of(mode: ToolMode) -> Option<Self> {
        let direct = match mode {
            ToolMode::Direct => return None,
            ToolMode::CodeMode => DirectTools::Shown,
            ToolMode::CodeModeOnly => DirectTools::Hidden,
        };
        let nested = NestedTools::default();
        let layer = Arc::new(CodeModeLayer::new(direct, nested.clone()));
        Some(Self { code_mode: CodeMode::new(nested), layer })
    }

    /// The cells.
    pub(super) fn code_mode(&self) -> CodeMode {
        self.code_mode.clone()
    }

    /// `exec` and `wait` before these tools.
    pub(crate) fn with_tools(&self, others: Vec<Arc<dyn ToolExecutor>>) -> Vec<Arc<dyn ToolExecutor>> {
        with_code_mode(&self.code_mode, others)
    }

    /// What makes of them the list that the model is shown.
    pub(crate) fn layer(&self) -> Arc<dyn SpecLayer> {
        Arc::clone(&self.layer) as _
    }

    /// Stops every script, and waits for the calls that they made.
    pub(crate) async fn shutdown(self) {
        self.code_mode.shutdown().await;
    }
}
