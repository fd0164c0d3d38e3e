//! What the engine asks of a cell while its script runs, on the script's thread.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tenon_protocol::{CallId, FunctionCallOutputContentItem, FunctionCallOutputPayload, ResponseInputItem};
use tenon_tools::{PendingInput, PendingInputError};

use super::call::{self, CANCELLED, Callers, STOPPED};
use super::call_ids::CallIds;
use super::cell::Cell;
use crate::engine::{CallNumber, CallResult, ScriptCall, ScriptEnd, ScriptHost, Settler};
use crate::nested_tool::NestedTool;
use crate::surface::EXEC;

/// The host of one script.
pub(super) struct CellHost {
    pub(super) cell: Arc<Cell>,
    pub(super) tools: Arc<[NestedTool]>,
    pub(super) callers: Callers,
    pub(super) pending_input: Arc<dyn PendingInput>,
    pub(super) call_ids: CallIds,
    /// The `exec` call that began the cell: notifications carry its id.
    pub(super) exec_call_id: CallId,
}

impl ScriptHost for CellHost {
    fn put_out(&self, item: FunctionCallOutputContentItem) {
        self.cell.put_out(item);
    }

    fn yield_control(&self) {
        self.cell.yield_control();
    }

    /// Where no turn runs that could take it, the script goes on all the same (runtime.md C7.5). Where the turn takes
    /// no more, the script is told: it can wait, or say it otherwise.
    fn notify(&self, text: String) -> Result<(), String> {
        if text.trim().is_empty() || !self.cell.listens() {
            return Ok(());
        }
        let item = ResponseInputItem::CustomToolCallOutput {
            call_id: self.exec_call_id.clone(),
            name: Some(EXEC.to_owned()),
            output: FunctionCallOutputPayload::text(text),
        };
        match self.pending_input.add(item) {
            Ok(()) => Ok(()),
            Err(error @ PendingInputError::Full) => Err(self.not_injected(error)),
            Err(error @ PendingInputError::NoActiveTurn) => {
                tracing::warn!("{}", self.not_injected(error));
                Ok(())
            }
        }
    }

    /// The call is begun here and now: where nothing in it has to wait, its result is there without a change of
    /// threads, and calls begin in the order of the script.
    fn call(&self, call: ScriptCall, settler: &Settler) -> Option<CallResult> {
        if self.cell.cancellation.is_cancelled() {
            return Some(Err(CANCELLED.to_owned()));
        }
        let Some(tool) = self.tools.get(call.tool) else { return Some(Err(STOPPED.to_owned())) };
        let (number, source) = (call.number, call::source(&self.cell.id, &call));
        let tool_call = match call::tool_call(tool, call.argument, &self.call_ids) {
            Ok(tool_call) => tool_call,
            Err(complaint) => return Some(Err(complaint)),
        };
        let cancellation = self.cell.cancellation.child_token();
        let mut work = Box::pin(call::run(self.callers.clone(), tool_call, source, cancellation));
        let _entered = self.cell.runtime.enter();
        match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => Some(result),
            Poll::Pending => {
                self.go_on(number, work, settler);
                None
            }
        }
    }

    fn ended(&self, end: ScriptEnd) {
        self.cell.script_ended(end);
    }
}

impl CellHost {
    fn not_injected(&self, error: PendingInputError) -> String {
        format!("failed to inject exec notify message for cell {}: {error}", self.cell.id)
    }

    /// Runs a call that has to wait as a task.
    fn go_on(
        &self,
        number: CallNumber,
        work: Pin<Box<dyn Future<Output = CallResult> + Send>>,
        settler: &Settler,
    ) {
        let mut settles = SettlesOnce { number, settler: settler.clone(), settled: false };
        let task = async move {
            let result = work.await;
            settles.settle(result);
        };
        self.cell.calls.spawn_on(task, &self.cell.runtime);
    }
}

/// Settles a call even where its task is dropped: a script must not wait for a runtime that is gone.
struct SettlesOnce {
    number: CallNumber,
    settler: Settler,
    settled: bool,
}

impl SettlesOnce {
    fn settle(&mut self, result: CallResult) {
        self.settled = true;
        self.settler.settle(self.number, result);
    }
}

impl Drop for SettlesOnce {
    fn drop(&mut self) {
        if !self.settled {
            self.settle(Err(STOPPED.to_owned()));
        }
    }
}
