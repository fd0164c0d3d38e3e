//! Calls that other calls make: through the same stages, by the newest step, under a gate of their own.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::Value;
use tenon_tools::{FunctionCallError, ToolCall, ToolCallSource, ToolCaller, ToolExecutor};
use tokio_util::sync::CancellationToken;

use crate::dispatch::DispatchEnvironment;
use crate::runtime::{CallNumbers, Gate, ToolCallRuntime};

/// The session's [`ToolCaller`].
pub(super) struct NestedCalls {
    step: Mutex<Option<Arc<DispatchEnvironment>>>,
    gate: Gate,
    numbers: Arc<CallNumbers>,
    /// What hooks of nested calls have to tell the model.
    told: Mutex<Vec<String>>,
}

impl NestedCalls {
    pub(super) fn new(numbers: Arc<CallNumbers>) -> Self {
        Self { step: Mutex::new(None), gate: Gate::default(), numbers, told: Mutex::default() }
    }

    /// What hooks of nested calls have had to tell the model since the last time: their contexts, and their feedback,
    /// since a script keeps the value it called for (core.md 5.5).
    pub(super) fn take_told(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn go_by(&self, env: &Arc<DispatchEnvironment>) {
        *self.step.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(env));
    }

    pub(super) fn forget_step(&self) {
        *self.step.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn newest(&self) -> Option<Arc<DispatchEnvironment>> {
        self.step.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl ToolCaller for NestedCalls {
    async fn call(
        &self,
        call: ToolCall,
        source: ToolCallSource,
        cancellation: CancellationToken,
    ) -> Result<Value, FunctionCallError> {
        let Some(env) = self.newest() else {
            return Err(FunctionCallError::respond("the session has ended"));
        };
        let runtime = ToolCallRuntime::new(env, self.gate.clone(), Arc::clone(&self.numbers));
        let end = runtime.run_in_place(call, source, cancellation).await;
        let feedback = end.result.as_ref().ok().and_then(|result| result.feedback.clone());
        let told = end.contexts.into_iter().chain(feedback);
        self.told.lock().unwrap_or_else(PoisonError::into_inner).extend(told);
        end.result.map(|result| result.code_mode_result())
    }

    async fn late_tools(&self) -> Option<Vec<Arc<dyn ToolExecutor>>> {
        let env = self.newest()?;
        let all = env.registry.complete().await?;
        Some(all.tools().to_vec())
    }
}
