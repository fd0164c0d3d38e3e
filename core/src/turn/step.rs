//! The snapshot of one request. Its tools stay as the model was shown them, even for calls that run later.

use std::sync::Arc;

use tenon_tools::{Event, Prompt, StepContext};

use super::Turn;
use crate::dispatch::DispatchEnvironment;
use crate::runtime::{Gate, ToolCallRuntime};

/// What one request is made of and its calls run in.
pub(crate) struct Step {
    pub(super) runtime: ToolCallRuntime,
    pub(crate) prompt: Prompt,
}

impl Turn<'_> {
    pub(super) fn step_context(&self) -> StepContext {
        self.session.step_context(self.turn_id.clone(), self.mode)
    }

    /// Takes the snapshot: what is true now is what this request and its calls go by.
    pub(crate) fn step(&mut self) -> Step {
        let step = Arc::new(self.step_context());
        let (registry, left_out) = self.session.registry();
        for duplicate in left_out {
            self.session.emit(Event::Warning { message: duplicate.to_string() });
        }
        let prompt = Prompt {
            model: step.model.clone(),
            instructions: self.session.instructions().to_owned(),
            input: self.session.history().for_prompt(&step.abilities),
            tools: Arc::new(self.session.specs(&registry)),
            session_id: step.session_id.clone(),
        };
        let env = Arc::new(DispatchEnvironment {
            registry: Arc::new(registry),
            step,
            hooks: self.session.hooks().clone(),
            policy: self.session.policy(),
            approvals: self.session.approvals(),
            limits: self.session.limits(),
            journal: self.session.journal(),
            observers: self.session.observers(),
            host: self.session.host().clone(),
            tracker: self.tracker.clone(),
            interrupt: self.cancellation.clone(),
            mark_external_context: self.session.options().mark_external_context,
        });
        self.session.newest_step(&env);
        let runtime = ToolCallRuntime::new(env, Gate::default(), self.session.numbers());
        Step { runtime, prompt }
    }
}
