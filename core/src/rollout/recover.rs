//! What is done about calls that were left open, beyond telling the model what is known: those that wait for an answer
//! are asked about again, and those that were cut off are run again or looked into, where their tools say so.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tenon_protocol::{CallFinished, CallOutcome, ResponseItem, RolloutItem};
use tenon_tools::{
    CutOffCall, FunctionCallError, Recovery, ToolCall, ToolExecutor, ToolOutput, failure_response,
};

use super::settle::{Left, SettledCall, Settlement, Unsettled};
use crate::router::ToolRouter;

/// How long a tool may take to say how a call came out. After that its outcome is unknown.
pub const CHECK_PATIENCE: Duration = Duration::from_secs(30);

/// The host's word on calls that were cut off: whether this may be done about this one.
pub type MayRecover = Arc<dyn Fn(&CutOffCall, Recovery) -> bool + Send + Sync>;

/// What may be done about calls that were left open. By default nothing: the model is told what is known.
#[derive(Clone, Default)]
pub struct Recovering {
    /// The tools of the session that goes on.
    pub tools: Vec<Arc<dyn ToolExecutor>>,
    /// Whether calls that wait for an answer are left to the session, to be asked about again.
    pub ask_again: bool,
    /// The host's word; none lets tools have their way.
    pub may_recover: Option<MayRecover>,
}

impl fmt::Debug for Recovering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recovering").field("ask_again", &self.ask_again).finish_non_exhaustive()
    }
}

/// A call that the session takes up again: it has no output yet.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenCall {
    /// The model's item.
    pub item: ResponseItem,
    /// Which call of its id and kind it is, from 0.
    pub occurrence: u32,
    /// Why it is taken up.
    pub why: Reopened,
}

/// Why a call is taken up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reopened {
    /// Somebody was asked about it, and had not answered. Nothing of it had happened.
    AskAgain,
    /// It had started, and its tool says that it may be run again.
    RunAgain,
}

/// What is to be written of calls that were left open, and what is left to the session.
#[derive(Debug, Default)]
pub(super) struct Recovered {
    pub(super) settled: Vec<SettledCall>,
    pub(super) open: Vec<OpenCall>,
    pub(super) lines: Vec<RolloutItem>,
}

impl Recovering {
    /// Settles what can be settled.
    pub(super) async fn of(&self, unsettled: Vec<Unsettled>, now: &str) -> Recovered {
        let mut recovered = Recovered::default();
        for call in unsettled {
            if let Some(why) = self.reopens(&call) {
                let Unsettled { call: item, occurrence, .. } = call;
                recovered.open.push(OpenCall { item, occurrence, why });
                continue;
            }
            let checked = self.checked(&call).await;
            if let Some((settled, outcome)) = &checked {
                recovered.lines.push(RolloutItem::CallFinished(CallFinished {
                    call_id: settled.call_id.clone(),
                    occurrence: settled.occurrence,
                    outcome: *outcome,
                    output: settled.output.clone(),
                    aside: Vec::new(),
                    at: now.to_owned(),
                }));
            }
            let settled = match checked {
                Some((settled, _)) => Some(settled),
                None => looked_at(call.settled()).await,
            };
            if let Some(settled) = settled {
                recovered.lines.push(RolloutItem::ResponseItem(settled.output.clone()));
                recovered.settled.push(settled);
            }
        }
        recovered
    }

    fn reopens(&self, call: &Unsettled) -> Option<Reopened> {
        match &call.left {
            Left::NotStarted { asked: true } if self.ask_again => {
                let is_call = matches!(ToolRouter::build_tool_call(&call.call), Ok(Some(_)));
                is_call.then_some(Reopened::AskAgain)
            }
            Left::CutOff { cut_off: Some(cut_off), .. } => {
                let tool = self.tool(&cut_off.call).filter(|tool| tool.recovery() == Recovery::RunAgain);
                tool.filter(|_| self.may(cut_off, Recovery::RunAgain)).map(|_| Reopened::RunAgain)
            }
            Left::NotStarted { .. } | Left::CutOff { .. } | Left::Ended(_) => None,
        }
    }

    /// What the tool knows of a call that was cut off, in time and without a panic.
    async fn checked(&self, call: &Unsettled) -> Option<(SettledCall, CallOutcome)> {
        let Left::CutOff { cut_off: Some(cut_off), .. } = &call.left else { return None };
        let tool = self.tool(&cut_off.call).filter(|tool| tool.recovery() == Recovery::Check)?;
        if !self.may(cut_off, Recovery::Check) {
            return None;
        }
        let asking = AssertUnwindSafe(tool.outcome_of(cut_off)).catch_unwind();
        let answer = tokio::time::timeout(CHECK_PATIENCE, asking).await.ok()?.ok()??;
        let (output, outcome) = item(&cut_off.call, answer).await?;
        let (call_id, occurrence) = (call.call_id.clone(), call.occurrence);
        Some((SettledCall { call_id, occurrence, settlement: Settlement::Checked, output }, outcome))
    }

    fn tool(&self, call: &ToolCall) -> Option<&Arc<dyn ToolExecutor>> {
        let name = call.tool_name.clone().with_default_namespace();
        self.tools.iter().find(|tool| tool.name().clone().with_default_namespace() == name)
    }

    fn may(&self, call: &CutOffCall, what: Recovery) -> bool {
        self.may_recover.as_ref().is_none_or(|may| may(call, what))
    }
}

/// The model's item of an answer; none of one that is a fault of the tool's.
async fn item(
    call: &ToolCall,
    answer: Result<Box<dyn ToolOutput>, FunctionCallError>,
) -> Option<(ResponseItem, CallOutcome)> {
    match answer {
        Ok(output) => {
            let item = ResponseItem::from(output.to_response_item(&call.call_id, &call.payload));
            let item = if output.pictures_are_checked() { item } else { checked_pictures(item).await };
            Some((item, CallOutcome::Completed))
        }
        Err(FunctionCallError::RespondToModel(text)) => {
            let response = failure_response(&call.payload, &call.call_id, &text);
            Some((ResponseItem::from(response), CallOutcome::Failed))
        }
        Err(FunctionCallError::Fatal(error)) => {
            tracing::error!(call_id = %call.call_id, error, "a tool could not say how a call came out");
            None
        }
    }
}

/// A recorded output with the pictures that a model takes: who wrote it down may not have looked at them.
async fn looked_at(settled: Option<SettledCall>) -> Option<SettledCall> {
    let SettledCall { call_id, occurrence, settlement, output } = settled?;
    let output = match settlement {
        Settlement::Recorded | Settlement::OutputLost => checked_pictures(output).await,
        Settlement::NotRun | Settlement::OutcomeUnknown | Settlement::Checked => output,
    };
    Some(SettledCall { call_id, occurrence, settlement, output })
}

/// Looks at the pictures of an output before it is written into the history.
#[cfg(feature = "images")]
async fn checked_pictures(output: ResponseItem) -> ResponseItem {
    // Boxed, since few outputs hold any.
    Box::pin(crate::pictures::with_checked_pictures(output)).await
}

#[cfg(not(feature = "images"))]
async fn checked_pictures(output: ResponseItem) -> ResponseItem {
    output
}
