//! `update_plan`: the model tells what it is going to do and how far it is (core.md 9.2).

use async_trait::async_trait;
use tenon_protocol::{StepStatus, TodoItem, ToolName, TurnItem, UpdatePlanArgs};
use tenon_tools::{
    Effects, Event, FunctionCallError, JsonSchema, PlanToolOutput, PreparedCall, ShownAs, ToolExecutor,
    ToolInvocation, ToolOutput, ToolSpec, TurnMode, parse_arguments,
};

const NAME: &str = "update_plan";
const DESCRIPTION: &str = "Tells the user what you are going to do and how far you are. Send the whole list each time; \
at most one step is in progress.";
const NOT_IN_PLAN_MODE: &str = "update_plan is a TODO/checklist tool and is not allowed in Plan mode";
/// The plan is one item, however often it changes.
const ITEM_ID: &str = "plan";

/// The tool.
#[derive(Debug)]
pub struct UpdatePlan {
    name: ToolName,
}

impl Default for UpdatePlan {
    fn default() -> Self {
        Self { name: ToolName::plain(NAME) }
    }
}

#[async_trait]
impl ToolExecutor for UpdatePlan {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        let step = JsonSchema::object(
            [
                ("step", JsonSchema::string("What is to be done.")),
                ("status", JsonSchema::string("One of: pending, in_progress, completed")),
            ],
            &["step", "status"],
        );
        let parameters = JsonSchema::object(
            [
                ("explanation", JsonSchema::string("Why the plan changed, if it did.")),
                ("plan", JsonSchema::array(step, "The list of steps")),
            ],
            &["plan"],
        );
        ToolSpec::function(NAME, DESCRIPTION, parameters)
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let arguments = call.function_arguments(NAME)?;
        if call.step.mode == TurnMode::Plan {
            return Err(FunctionCallError::respond(NOT_IN_PLAN_MODE));
        }
        Ok(Box::new(Prepared { plan: parse_arguments(arguments)?, effects: Effects::none() }))
    }
}

struct Prepared {
    plan: UpdatePlanArgs,
    effects: Effects,
}

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    fn shown_as(&self) -> ShownAs {
        ShownAs::PartOfAnother
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let items = self.plan.plan.iter().map(|step| TodoItem {
            text: step.step.clone(),
            completed: step.status == StepStatus::Completed,
        });
        let id = format!("{ITEM_ID}-{}", call.step.turn_id);
        call.host.events.emit(Event::ItemUpdated(TurnItem::TodoList { id, items: items.collect() }));
        call.host.events.emit(Event::PlanUpdated { call_id: call.call_id.clone(), plan: self.plan });
        Ok(Box::new(PlanToolOutput))
    }
}
