//! A hook of the program itself.

use std::borrow::Cow;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt;
use tenon_tools::HookEventName;

use super::handler::{Handler, Ran, Subject};
use super::{
    ConfiguredHook, Hook, HookContract, PermissionRequest, PermissionRequestAction, PostToolUse,
    PostToolUseAction, PreToolUse, PreToolUseAction, PromptSubmit, PromptSubmitAction, SessionStart,
    SessionStartAction, Stop, StopAction,
};
use crate::dispatch::panic_text;

/// What a model may read of a hook that panicked. The panic's own text is the operator's.
const PANICKED: &str = "the hook failed unexpectedly";

/// A [`Hook`] in the chain.
pub(crate) struct InProcess(pub(crate) Arc<dyn Hook>);

#[async_trait]
impl Handler for InProcess {
    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.name())
    }

    fn contract(&self) -> HookContract {
        self.0.contract()
    }

    fn wants(&self, _: HookEventName, subject: Subject<'_>) -> bool {
        match subject {
            Subject::Tool(name, aliases) => self.0.matches(name, aliases),
            Subject::Source(_) | Subject::Nothing => true,
        }
    }

    fn configured(&self) -> Option<&ConfiguredHook> {
        None
    }

    async fn pre_tool_use(&self, event: &PreToolUse) -> Ran<PreToolUseAction> {
        caught(self.0.pre_tool_use(event)).await
    }

    async fn permission_request(&self, event: &PermissionRequest) -> Ran<PermissionRequestAction> {
        caught(self.0.permission_request(event)).await
    }

    async fn post_tool_use(&self, event: &PostToolUse) -> Ran<PostToolUseAction> {
        let ran = caught(self.0.post_tool_use(event)).await;
        if ran.action.updated_output.is_some() && !self.0.contract().extended {
            return Ran::failed("the hook put another output in place and is not extended");
        }
        ran
    }

    async fn prompt_submit(&self, event: &PromptSubmit) -> Ran<PromptSubmitAction> {
        caught(self.0.prompt_submit(event)).await
    }

    async fn session_start(&self, event: &SessionStart) -> Ran<SessionStartAction> {
        caught(self.0.session_start(event)).await
    }

    async fn stop(&self, event: &Stop) -> Ran<StopAction> {
        caught(self.0.stop(event)).await
    }
}

/// Runs a hook; its panic is its failure and nobody else's.
async fn caught<A: Default>(hook: impl Future<Output = A>) -> Ran<A> {
    match AssertUnwindSafe(hook).catch_unwind().await {
        Ok(action) => Ran::of(action),
        Err(panic) => {
            let text = panic_text(panic.as_ref());
            tracing::error!(panic = text, "a hook panicked");
            Ran::failed(PANICKED).warned(Some(format!("panicked: {text}")))
        }
    }
}
