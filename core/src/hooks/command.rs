//! One configured hook: a command in the user's shell (core.md 8.4).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tenon_tools::{CommandError, CommandOutcome, CommandRequest, CommandRunner, HookEventName};

use super::handler::{Handler, Ran, Subject};
use super::{
    ConfiguredHook, HookContract, PermissionRequest, PermissionRequestAction, PostToolUse, PostToolUseAction,
    PreToolUse, PreToolUseAction, PromptSubmit, PromptSubmitAction, SessionStart, SessionStartAction, Stop,
    StopAction, decision, input,
};

/// How much of each of a hook's output streams is kept, in bytes.
pub const HOOK_OUTPUT_MAX_BYTES: usize = 1024 * 1024;

/// The shell where the environment names none.
const DEFAULT_SHELL: &str = "/bin/sh";

/// How many characters of a command the operator is shown.
const NAME_MAX_CHARS: usize = 80;

/// A configured hook, with what it takes to run it.
pub(crate) struct CommandHook {
    config: ConfiguredHook,
    runner: Arc<dyn CommandRunner>,
    environment: Arc<BTreeMap<OsString, OsString>>,
}

impl CommandHook {
    /// The hook, run by `runner` in the host's own `environment`.
    pub(crate) fn new(
        config: ConfiguredHook,
        runner: Arc<dyn CommandRunner>,
        environment: Arc<BTreeMap<OsString, OsString>>,
    ) -> Self {
        Self { config, runner, environment }
    }

    fn is_closed(&self) -> bool {
        self.config.contract.is_closed()
    }

    /// Runs the command in the turn's folder and makes an answer of how it ended.
    async fn run<A: Default>(
        &self,
        cwd: &Path,
        document: Map<String, Value>,
        what: &str,
        decide: impl FnOnce(&CommandOutcome) -> Ran<A> + Send,
    ) -> Ran<A> {
        let stdin = match serde_json::to_vec(&document) {
            Ok(stdin) => stdin,
            Err(error) => return Ran::failed(format!("failed to serialize {what} hook input: {error}")),
        };
        drop(document);
        match self.runner.run(self.request(cwd, stdin)).await {
            Ok(outcome) => decide(&outcome).warned(dropped(&outcome)),
            Err(error) => Ran::failed(failure(&error)),
        }
    }

    fn request(&self, cwd: &Path, stdin: Vec<u8>) -> CommandRequest {
        let shell = self.environment.get(OsStr::new("SHELL")).filter(|shell| !shell.is_empty());
        let shell = shell.cloned().unwrap_or_else(|| DEFAULT_SHELL.into());
        CommandRequest {
            argv: vec![shell, "-lc".into(), self.config.command.clone().into()],
            cwd: cwd.to_owned(),
            environment: BTreeMap::clone(&self.environment),
            stdin,
            timeout: self.config.timeout,
            max_output_bytes: HOOK_OUTPUT_MAX_BYTES,
        }
    }
}

/// The words of core.md 8.4.
fn failure(error: &CommandError) -> String {
    match error {
        CommandError::Spawn(_) | CommandError::Unavailable => error.to_string(),
        CommandError::Stdin(reason) => format!("failed to write hook stdin: {reason}"),
        CommandError::TimedOut(after) => format!("hook timed out after {}s", after.as_secs()),
    }
}

fn dropped(outcome: &CommandOutcome) -> Option<String> {
    let bytes = outcome.dropped_bytes;
    (bytes > 0).then(|| format!("it printed more than is kept; {bytes} bytes were dropped"))
}

#[async_trait]
impl Handler for CommandHook {
    /// The command, on one line.
    fn name(&self) -> Cow<'_, str> {
        let line = self.config.command.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut shown: String = line.chars().take(NAME_MAX_CHARS).collect();
        if shown.len() < line.len() {
            shown.push('…');
        }
        Cow::Owned(format!("`{shown}`"))
    }

    fn contract(&self) -> HookContract {
        self.config.contract
    }

    fn wants(&self, event: HookEventName, subject: Subject<'_>) -> bool {
        let matcher = &self.config.matcher;
        self.config.event == event
            && match subject {
                Subject::Tool(name, aliases) => {
                    matcher.matches([name].into_iter().chain(aliases.iter().copied()))
                }
                Subject::Source(name) => matcher.matches([name].into_iter()),
                Subject::Nothing => true,
            }
    }

    fn configured(&self) -> Option<&ConfiguredHook> {
        Some(&self.config)
    }

    async fn pre_tool_use(&self, event: &PreToolUse) -> Ran<PreToolUseAction> {
        let document = input::pre_tool_use(event, self.config.contract.extended);
        let decide = |outcome: &_| decision::pre_tool_use(outcome, self.config.contract);
        self.run(&event.context.cwd, document, "pre tool use", decide).await
    }

    async fn permission_request(&self, event: &PermissionRequest) -> Ran<PermissionRequestAction> {
        let document = input::permission_request(event, self.config.contract.extended);
        let decide = |outcome: &_| decision::permission_request(outcome, self.is_closed());
        self.run(&event.context.cwd, document, "permission request", decide).await
    }

    async fn post_tool_use(&self, event: &PostToolUse) -> Ran<PostToolUseAction> {
        let document = input::post_tool_use(event, self.config.contract.extended);
        let decide = |outcome: &_| decision::post_tool_use(outcome, self.config.contract);
        self.run(&event.context.cwd, document, "post tool use", decide).await
    }

    async fn prompt_submit(&self, event: &PromptSubmit) -> Ran<PromptSubmitAction> {
        let decide = |outcome: &_| decision::prompt_submit(outcome, self.is_closed());
        self.run(&event.context.cwd, input::prompt_submit(event), "user prompt submit", decide).await
    }

    async fn session_start(&self, event: &SessionStart) -> Ran<SessionStartAction> {
        let decide = |outcome: &_| decision::session_start(outcome, self.is_closed());
        self.run(&event.context.cwd, input::session_start(event), "session start", decide).await
    }

    async fn stop(&self, event: &Stop) -> Ran<StopAction> {
        let decide = |outcome: &_| decision::stop(outcome, self.is_closed());
        self.run(&event.context.cwd, input::stop(event), "stop", decide).await
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
