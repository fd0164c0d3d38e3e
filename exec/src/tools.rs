//! The tools: [`ExecCommand`] starts commands, [`WriteStdin`] goes on with those that still run.

mod abort;
mod command;
mod exec_command;
mod intercepted;
mod permissions;
mod running;
mod write_stdin;

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use tenon_tools::{ExecCommandToolOutput, HookIdentity, HookInputForm, JsonSchema, StepContext};

use crate::ids::chunk_id;
use crate::session::{Collected, Session};

pub(crate) use exec_command::ExecCommand;
pub(crate) use write_stdin::WriteStdin;

/// The least that any call waits (runtime.md B1).
const MIN_YIELD: Duration = Duration::from_millis(250);

/// The most that a call waits which starts a command or writes to one.
const MAX_YIELD: Duration = Duration::from_secs(30);

/// How hooks know both tools: as Bash, by the command.
fn bash_identity() -> HookIdentity {
    HookIdentity::named("Bash".into(), HookInputForm::CommandMember { member: "cmd" })
}

/// What both tools give to scripts (runtime.md B2.1).
fn output_schema() -> JsonSchema {
    let members = [
        ("chunk_id", JsonSchema::string("Name of this piece of output.")),
        ("wall_time_seconds", JsonSchema::number("How long the call took, in seconds.")),
        ("exit_code", JsonSchema::number("How the command ended. Absent while it runs.")),
        (
            "session_id",
            JsonSchema::number("What write_stdin takes to go on. Absent once the command has ended."),
        ),
        ("original_token_count", JsonSchema::number("Approximate tokens of the output before any cut.")),
        ("output", JsonSchema::string("What the command printed, perhaps with its middle cut out.")),
    ];
    JsonSchema::object(members, &["wall_time_seconds", "output"])
}

/// The answer to one collection of a session's output.
fn answer(
    session: &Session,
    collected: Collected,
    since: Instant,
    max_output_tokens: Option<usize>,
    step: &StepContext,
) -> ExecCommandToolOutput {
    let Collected { output, exit_code } = collected;
    ExecCommandToolOutput {
        event_call_id: session.report.call_id().clone(),
        chunk_id: chunk_id(),
        wall_time: since.elapsed(),
        max_output_tokens,
        process_id: exit_code.is_none().then_some(session.id),
        exit_code,
        retry: None,
        original_token_count: Some(output.tokens()),
        output_omitted_bytes: NonZeroU64::new(output.dropped()),
        raw_output: output.into_bytes(),
        hook_command: Some(session.command.clone()),
        truncation_policy: step.truncation,
    }
}
