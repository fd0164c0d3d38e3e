//! Several hooks as one (core.md 8.9).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use tenon_protocol::CallId;
use tenon_tools::{CommandRunner, HookEventName, Host};

use super::asking::{Answered, Asked, Counted, HookServices, Occasion, all_at_once, begin};
use super::command::CommandHook;
use super::decision::STOPPED;
use super::handler::{Handler, Subject};
use super::in_process::InProcess;
use super::spill::Spill;
use super::{
    ConfiguredHook, Hook, HookConfig, HookContext, PermissionRequest, PermissionRequestAction, PostToolUse,
    PostToolUseAction, PreDecision, PreToolUse, PreToolUseAction, PromptSubmit, PromptSubmitAction,
    SessionStart, SessionStartAction, Stop, StopAction,
};

/// All hooks of a session, in configured order.
#[derive(Clone, Default)]
pub struct HookChain(Option<Arc<Chain>>);

struct Chain {
    handlers: Vec<Box<dyn Handler>>,
    services: HookServices,
}

impl fmt::Debug for HookChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hooks = self.0.as_ref().map_or(0, |chain| chain.handlers.len());
        write!(f, "HookChain({hooks})")
    }
}

/// What came of [`PreToolUse`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PreToolUseOutcome {
    /// The reason of the first hook that blocked.
    pub blocked: Option<String>,
    /// The input of the hook that finished last among those that rewrote; none when any blocked.
    pub rewrite: Option<Value>,
    /// The reason of the first hook that wants somebody asked.
    pub ask: Option<String>,
    /// What the model is told, in configured order.
    pub contexts: Vec<String>,
}

/// What came of [`PostToolUse`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PostToolUseOutcome {
    /// What the model reads in place of a direct call's output.
    pub feedback: Option<String>,
    /// What the model is told, in configured order.
    pub contexts: Vec<String>,
    /// What takes the place of the output for everybody: what the last extended hook has left of it, or the word that
    /// it is withheld.
    pub updated_output: Option<Value>,
}

impl HookChain {
    /// These hooks of the program, in this order, with nobody to hear of their failures.
    pub fn new(hooks: Vec<Arc<dyn Hook>>) -> Self {
        let handlers = hooks.into_iter().map(|hook| Box::new(InProcess(hook)) as Box<dyn Handler>);
        Self::of(handlers.collect(), HookServices::new(&Host::detached(), Spill::default()))
    }

    /// The hooks of a file, run by `commands` in this environment, with nobody to hear of their failures. A session
    /// takes them by [`configured_hooks`](crate::SessionBuilder::configured_hooks).
    pub fn configured(
        config: HookConfig,
        commands: &Arc<dyn CommandRunner>,
        environment: BTreeMap<OsString, OsString>,
    ) -> Self {
        let handlers = command_hooks(config.hooks, commands, environment);
        Self::of(handlers, HookServices::new(&Host::detached(), Spill::default()))
    }

    /// These hooks, in this order.
    pub(crate) fn of(handlers: Vec<Box<dyn Handler>>, services: HookServices) -> Self {
        Self((!handlers.is_empty()).then(|| Arc::new(Chain { handlers, services })))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether an extended hook hears of this event of a tool.
    pub fn is_extended_for(&self, event: HookEventName, tool_name: &str, aliases: &[&str]) -> bool {
        let Some(chain) = &self.0 else { return false };
        let subject = Subject::Tool(tool_name, aliases);
        chain.handlers.iter().any(|handler| handler.contract().extended && handler.wants(event, subject))
    }

    /// Asks about a call before it is prepared. `aliases` select hooks beside the canonical name.
    pub async fn pre_tool_use(&self, event: &PreToolUse, aliases: &[&str]) -> PreToolUseOutcome {
        let Some(chain) = &self.0 else { return PreToolUseOutcome::default() };
        let occasion = of_tool(
            HookEventName::PreToolUse,
            &event.context,
            &event.tool_name,
            aliases,
            Some(&event.tool_use_id),
        );
        let answers = all_at_once(chain.begin(occasion), |hook| hook.pre_tool_use(event)).await;
        let mut outcome = PreToolUseOutcome::default();
        let mut last_rewrite = None;
        for answer in chain.counted(occasion, answers, |why| PreToolUseAction::block(why)) {
            outcome.contexts.extend(answer.action.additional_context);
            match answer.action.decision {
                PreDecision::Continue => {}
                PreDecision::Block { reason } => outcome.blocked = outcome.blocked.or(Some(reason)),
                PreDecision::Ask { reason } => outcome.ask = outcome.ask.or(Some(reason)),
                PreDecision::Rewrite { input } => {
                    if last_rewrite.is_none_or(|last| answer.finished > last) {
                        last_rewrite = Some(answer.finished);
                        outcome.rewrite = Some(input);
                    }
                }
            }
        }
        if let Some(reason) = outcome.blocked {
            outcome.rewrite = None;
            outcome.blocked = Some(chain.services.spill.bounded(reason).await);
        }
        outcome.contexts = chain.services.spill.all_bounded(outcome.contexts).await;
        outcome
    }

    /// Tells of a call that has ended. Plain hooks hear of it all at once and see what the tool gave; extended ones
    /// hear of it one after the other, in configured order, each of what the one before it has left.
    pub async fn post_tool_use(&self, event: &PostToolUse, aliases: &[&str]) -> PostToolUseOutcome {
        let Some(chain) = &self.0 else { return PostToolUseOutcome::default() };
        let name = HookEventName::PostToolUse;
        let occasion = of_tool(name, &event.context, &event.tool_name, aliases, Some(&event.tool_use_id));
        let asked = begin(&chain.handlers, &chain.services, occasion, |handler| {
            event.is_plain || handler.contract().extended
        });
        let order: Vec<bool> = asked.iter().map(|asked| asked.handler.contract().extended).collect();
        let (extended, plain): (Vec<_>, Vec<_>) =
            asked.into_iter().partition(|asked| asked.handler.contract().extended);
        let (plain, (extended, response)) =
            tokio::join!(all_at_once(plain, |hook| hook.post_tool_use(event)), one_by_one(extended, event));
        let (mut plain, mut extended) = (plain.into_iter(), extended.into_iter());
        let answers =
            order.iter().filter_map(|is| if *is { extended.next() } else { plain.next() }).collect();
        chain.post_outcome(occasion, event, answers, response).await
    }

    /// Asks for permission: the first refusal wins, otherwise anybody's leave.
    pub async fn permission_request(
        &self,
        event: &PermissionRequest,
        aliases: &[&str],
    ) -> PermissionRequestAction {
        let Some(chain) = &self.0 else { return PermissionRequestAction::Undecided };
        let name = HookEventName::PermissionRequest;
        let occasion = of_tool(name, &event.context, &event.tool_name, aliases, None);
        let answers = all_at_once(chain.begin(occasion), |hook| hook.permission_request(event)).await;
        let denied = |why: &str| PermissionRequestAction::Deny { message: why.to_owned() };
        let mut decision = PermissionRequestAction::Undecided;
        for answer in chain.counted(occasion, answers, denied) {
            match (answer.action, &decision) {
                (PermissionRequestAction::Undecided, _) | (_, PermissionRequestAction::Deny { .. }) => {}
                (action, _) => decision = action,
            }
        }
        match decision {
            PermissionRequestAction::Deny { message } => {
                PermissionRequestAction::Deny { message: chain.services.spill.bounded(message).await }
            }
            decided @ (PermissionRequestAction::Allow | PermissionRequestAction::Undecided) => decided,
        }
    }

    /// Asks about a prompt. The first reason to block stands; the contexts are handed on all the same.
    pub async fn prompt_submit(&self, event: &PromptSubmit) -> (Option<String>, Vec<String>) {
        let Some(chain) = &self.0 else { return (None, Vec::new()) };
        let occasion = of_turn(HookEventName::UserPromptSubmit, &event.context);
        let answers = all_at_once(chain.begin(occasion), |hook| hook.prompt_submit(event)).await;
        let blocked =
            |why: &str| PromptSubmitAction { block: Some(why.to_owned()), additional_context: None };
        let (mut block, mut contexts) = (None, Vec::new());
        for answer in chain.counted(occasion, answers, blocked) {
            let PromptSubmitAction { block: reason, additional_context } = answer.action;
            block = block.or(reason);
            contexts.extend(additional_context);
        }
        (block, chain.services.spill.all_bounded(contexts).await)
    }

    /// Tells of a session's beginning.
    pub async fn session_start(&self, event: &SessionStart) -> (Option<String>, Vec<String>) {
        let Some(chain) = &self.0 else { return (None, Vec::new()) };
        let name = HookEventName::SessionStart;
        let subject = Subject::Source(event.source.name());
        let occasion = Occasion { event: name, subject, turn_id: None, call: None };
        let answers = all_at_once(chain.begin(occasion), |hook| hook.session_start(event)).await;
        let stopped = |why: &str| SessionStartAction { stop: Some(why.to_owned()), additional_context: None };
        let (mut stop, mut contexts) = (None, Vec::new());
        for answer in chain.counted(occasion, answers, stopped) {
            let SessionStartAction { stop: reason, additional_context } = answer.action;
            stop = stop.or(reason);
            contexts.extend(additional_context);
        }
        (stop, chain.services.spill.all_bounded(contexts).await)
    }

    /// Asks whether the turn may end. The prompts of those that say no, none when one says stop; that of a configured
    /// hook names its run. A hook that fails objects at most once in a row: it would do so for ever.
    pub async fn stop(&self, event: &Stop) -> Vec<String> {
        let Some(chain) = &self.0 else { return Vec::new() };
        let occasion = of_turn(HookEventName::Stop, &event.context);
        let answers = all_at_once(chain.begin(occasion), |hook| hook.stop(event)).await;
        let goes_on = |why: &str| match event.stop_hook_active {
            false => StopAction::Block { reason: format!("Stop hook failed: {why}") },
            true => StopAction::Continue,
        };
        let mut prompts = Some(Vec::new());
        for answer in chain.counted(occasion, answers, goes_on) {
            match (answer.action, &mut prompts) {
                (StopAction::Continue, _) | (StopAction::Block { .. }, None) => {}
                (StopAction::Block { reason }, Some(prompts)) => {
                    let reason = chain.services.spill.bounded(reason).await;
                    prompts.push(continuation(answer.run_id.as_deref(), reason));
                }
                (StopAction::Stop, _) => prompts = None,
            }
        }
        prompts.unwrap_or_default()
    }
}

impl Chain {
    fn begin(&self, occasion: Occasion<'_>) -> Vec<Asked<'_>> {
        begin(&self.handlers, &self.services, occasion, |_| true)
    }

    /// What counts of each answer, and everybody told of it.
    fn counted<A: super::actions::Action>(
        &self,
        occasion: Occasion<'_>,
        answers: Vec<Answered<'_, A>>,
        objection: impl Fn(&str) -> A,
    ) -> Vec<Counted<A>> {
        let answers = answers.into_iter();
        answers.map(|answer| answer.counted(occasion.event, &self.services, &objection)).collect()
    }

    async fn post_outcome(
        &self,
        occasion: Occasion<'_>,
        event: &PostToolUse,
        answers: Vec<Answered<'_, PostToolUseAction>>,
        response: Option<Value>,
    ) -> PostToolUseOutcome {
        let mut withheld = None;
        let (mut feedback, mut stop, mut contexts) = (Vec::new(), None, Vec::new());
        for answer in answers {
            let is_extended = answer.is_extended();
            let counted = answer.counted(occasion.event, &self.services, |why| {
                let text = failed_after(event, why);
                if is_extended {
                    withheld = Some(Value::String(format!("{text} Its output is withheld.")));
                    return PostToolUseAction::default();
                }
                PostToolUseAction { feedback: Some(text), ..PostToolUseAction::default() }
            });
            feedback.extend(counted.action.feedback);
            stop = stop.or(counted.action.stop);
            contexts.extend(counted.action.additional_context);
        }
        let feedback = if feedback.is_empty() {
            stop.map(|reason| if reason.trim().is_empty() { STOPPED.to_owned() } else { reason })
        } else {
            Some(feedback.join("\n\n"))
        };
        let spill = &self.services.spill;
        PostToolUseOutcome {
            feedback: match feedback {
                Some(text) => Some(spill.bounded(text).await),
                None => None,
            },
            contexts: spill.all_bounded(contexts).await,
            updated_output: withheld.or(response),
        }
    }
}

/// The hooks of a file as a chain holds them.
pub(crate) fn command_hooks(
    hooks: Vec<ConfiguredHook>,
    commands: &Arc<dyn CommandRunner>,
    environment: BTreeMap<OsString, OsString>,
) -> Vec<Box<dyn Handler>> {
    let environment = Arc::new(environment);
    let hook = |hook| CommandHook::new(hook, Arc::clone(commands), Arc::clone(&environment));
    hooks.into_iter().map(|config| Box::new(hook(config)) as Box<dyn Handler>).collect()
}

/// Asks one after the other. Gives the answers, and what they have left of the response, where one has changed it.
async fn one_by_one<'a>(
    asked: Vec<Asked<'a>>,
    event: &PostToolUse,
) -> (Vec<Answered<'a, PostToolUseAction>>, Option<Value>) {
    let mut seen = Cow::Borrowed(event);
    if let Some(whole) = event.whole_response.as_ref().filter(|_| !asked.is_empty()) {
        let (tool_response, whole_response) = (whole.clone(), None);
        seen = Cow::Owned(PostToolUse { tool_response, whole_response, ..event.clone() });
    }
    let mut left = None;
    let mut answers = Vec::with_capacity(asked.len());
    for asked in asked {
        let ran = asked.handler.post_tool_use(&seen).await;
        if let Some(updated) = &ran.action.updated_output {
            seen.to_mut().tool_response = updated.clone();
            left = Some(updated.clone());
        }
        answers.push(asked.answered(ran, answers.len()));
    }
    (answers, left)
}

/// A hook's failure, and apart from it what is true of the call.
fn failed_after(event: &PostToolUse, why: &str) -> String {
    let fact = match (event.exit_code, event.success) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, _) if !event.finished => "is still running".to_owned(),
        (None, true) => "succeeded".to_owned(),
        (None, false) => "failed".to_owned(),
    };
    format!("PostToolUse hook failed: {why}. The call itself {fact}.")
}

/// What the model is told to go on with.
fn continuation(run_id: Option<&str>, reason: String) -> String {
    let Some(run_id) = run_id else { return reason };
    let (run_id, reason) = (escaped(run_id).replace('"', "&quot;"), escaped(&reason));
    format!("<hook_prompt hook_run_id=\"{run_id}\">{reason}</hook_prompt>")
}

/// A text inside of tags: it cannot close them.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn of_tool<'a>(
    event: HookEventName,
    context: &'a HookContext,
    name: &'a str,
    aliases: &'a [&'a str],
    call: Option<&'a CallId>,
) -> Occasion<'a> {
    Occasion { event, subject: Subject::Tool(name, aliases), turn_id: Some(&context.turn_id), call }
}

fn of_turn(event: HookEventName, context: &HookContext) -> Occasion<'_> {
    Occasion { event, subject: Subject::Nothing, turn_id: Some(&context.turn_id), call: None }
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
