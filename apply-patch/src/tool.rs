//! The tool `apply_patch` (core.md 9.3, runtime.md A1), and the interceptor for shell commands.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use tenon_protocol::{CallId, ToolName};
use tenon_tools::{
    CommandInterceptor, Event, EventSink, FunctionCallError, HookIdentity, HookInputForm, InputObserver,
    LeftBehind, PreparedCall, ToolExecutor, ToolInvocation, ToolPayload, ToolSpec,
};

use crate::error::VerifyError;
use crate::fs::Fs;
use crate::grammar::LARK_GRAMMAR;
use crate::intercept::{IMPLICIT, PatchCommand, patch_command};
use crate::leftover::sweep;
use crate::parser::parse_patch;
use crate::plan::plan_again;
use crate::prepared::PreparedPatch;
use crate::retry::Retries;
use crate::stream::PatchPreview;
use crate::walk::RealFs;

/// The tool's name, for the model and for hooks.
const NAME: &str = "apply_patch";
/// Names by which hooks may select it as well (core.md 5.3).
const HOOK_ALIASES: &[&str] = &["Write", "Edit"];

const DESCRIPTION: &str = "Edits files: adds, changes, moves and deletes them. This is a freeform tool: its input \
     is the patch itself, as plain text, and must not be wrapped in JSON.";

const UNSUPPORTED: &str = "apply_patch handler received unsupported payload";
const NO_SELECTION: &str = "apply_patch environment selection is unavailable for this turn";
const EMPTY: &str = "patch rejected: empty patch";

/// The tool `apply_patch`, and the one that takes patches out of shell commands: register it as both,
/// one a clone of the other. Clones share what they know of patches that failed half-way, so that one of
/// these can be tried again safely.
#[derive(Debug, Clone)]
pub struct ApplyPatchTool {
    name: ToolName,
    fs: Arc<dyn Fs>,
    retries: Retries,
}

impl Default for ApplyPatchTool {
    fn default() -> Self {
        Self::on(Arc::new(RealFs))
    }
}

impl ApplyPatchTool {
    /// The tool on another file system.
    #[must_use]
    pub fn on(fs: Arc<dyn Fs>) -> Self {
        Self { name: ToolName::plain(NAME), fs, retries: Retries::default() }
    }

    /// Parses and verifies a patch whose paths start from `cwd`.
    async fn verify(
        &self,
        text: &str,
        cwd: &Path,
        call: &ToolInvocation,
    ) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        let mut patch = parse_patch(text).map_err(|error| unverified(&error))?;
        if patch.environment_id.is_some() {
            return Err(FunctionCallError::respond(NO_SELECTION));
        }
        if patch.hunks.is_empty() {
            return Err(FunctionCallError::respond(EMPTY));
        }
        let (fs, retries, call_id) = (Arc::clone(&self.fs), self.retries.clone(), call.call_id.clone());
        let (text, cwd) = (text.to_owned(), cwd.to_owned());
        // Files are read and searched: too long for a thread that serves others.
        let planned = tokio::task::spawn_blocking(move || {
            let attempt = retries.attempt(&text, &mut patch, &cwd, fs.as_ref());
            let plan = plan_again(&patch, &cwd, fs.as_ref(), attempt.torn())?;
            Ok(PreparedPatch::new(call_id, plan, attempt, fs))
        });
        match planned.await {
            Ok(Ok(prepared)) => Ok(Box::new(prepared)),
            Ok(Err(error)) => Err(unverified::<VerifyError>(&error)),
            Err(error) => Err(crate::prepared::not_run(error)),
        }
    }
}

/// A patch that is wrong, or does not fit (A7.4).
fn unverified<E: std::fmt::Display>(error: &E) -> FunctionCallError {
    FunctionCallError::respond(format!("apply_patch verification failed: {error}"))
}

#[async_trait]
impl ToolExecutor for ApplyPatchTool {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::lark(NAME, DESCRIPTION, LARK_GRAMMAR)
    }

    /// A patch that was cut off may have left temporary files beside the files that it was to write.
    async fn tidy_up(&self, left: &LeftBehind) {
        let folders: BTreeSet<PathBuf> =
            left.written.iter().filter_map(|path| path.parent()).map(Path::to_owned).collect();
        let fs = Arc::clone(&self.fs);
        // A task that panicked has said so.
        let _ =
            tokio::task::spawn_blocking(move || folders.iter().for_each(|folder| sweep(fs.as_ref(), folder)))
                .await;
    }

    fn accepts(&self, payload: &ToolPayload) -> bool {
        match payload {
            ToolPayload::Custom { .. } => true,
            ToolPayload::Function { .. } | ToolPayload::ToolSearch { .. } => false,
        }
    }

    /// A patch that is landing is not torn off: the answer says what stands.
    fn waits_for_cancellation(&self) -> bool {
        true
    }

    fn hook_identity(&self) -> Option<HookIdentity> {
        Some(HookIdentity::named(NAME.into(), HookInputForm::CommandText).with_aliases(HOOK_ALIASES))
    }

    fn input_observer(&self, call_id: Option<CallId>) -> Option<Box<dyn InputObserver>> {
        Some(Box::new(PatchObserver { call_id, preview: PatchPreview::default() }))
    }

    async fn prepare(&self, call: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        match &call.payload {
            ToolPayload::Custom { input } => self.verify(input, &call.step.cwd, call).await,
            ToolPayload::Function { .. } | ToolPayload::ToolSearch { .. } => {
                Err(FunctionCallError::respond(UNSUPPORTED))
            }
        }
    }
}

#[async_trait]
impl CommandInterceptor for ApplyPatchTool {
    async fn intercept(
        &self,
        argv: &[String],
        cwd: &Path,
        call: &ToolInvocation,
    ) -> Option<Result<Box<dyn PreparedCall>, FunctionCallError>> {
        match patch_command(argv)? {
            PatchCommand::Implicit => Some(Err(unverified(&IMPLICIT))),
            PatchCommand::Explicit { patch, cd } => {
                let cwd = cd.map_or_else(|| cwd.to_owned(), |cd| cwd.join(cd));
                Some(self.verify(&patch, &cwd, call).await)
            }
        }
    }
}

/// Shows a patch while the model still writes it (A12).
struct PatchObserver {
    /// Some servers tell it only with the whole item; until then nothing can be shown.
    call_id: Option<CallId>,
    preview: PatchPreview,
}

impl InputObserver for PatchObserver {
    fn delta(&mut self, delta: &str, events: &dyn EventSink) {
        let changes = self.preview.push(delta, Instant::now());
        if let (Some(call_id), Some(changes)) = (&self.call_id, changes) {
            events.emit(Event::PatchProgress { call_id: call_id.clone(), changes });
        }
    }

    fn done(&mut self, call_id: &CallId, events: &dyn EventSink) {
        if let Some(changes) = self.preview.finish() {
            events.emit(Event::PatchProgress { call_id: call_id.clone(), changes });
        }
    }
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;
