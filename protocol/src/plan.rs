//! Arguments of `update_plan` (core.md 1.6).

use serde::{Deserialize, Serialize};

/// The whole plan as the model last stated it. Unknown members are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdatePlanArgs {
    /// Why the plan changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The steps in order.
    pub plan: Vec<PlanItemArg>,
}

/// One step of a plan. Unknown members are refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanItemArg {
    /// What is to be done.
    pub step: String,
    /// How far it is.
    pub status: StepStatus,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
