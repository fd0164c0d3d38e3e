//! Plays a recorded session again and compares every request to the model by its hashes.
//!
//! # Layout
//! `fingerprint`: a request by its hashes, as a rollout has them. `recording`: what a file tells of its turns.
//! `difference`: what of a request is not what it was, and where.

mod difference;
mod fingerprint;
mod recording;

use std::path::{Path, PathBuf};

use tenon_protocol::ResponseItem;

pub use difference::{Difference, DifferentPart, DifferentText};
pub(crate) use fingerprint::{Fingerprint, Fingerprints};

use crate::rollout::{LoadedRollout, RolloutError};
use crate::session::{BuildError, Session, SessionBuilder};
use crate::turn::Turn;
use fingerprint::item_text;
use recording::RecordedTurn;

/// What came of playing a session again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verification {
    /// Every request is what it was.
    Same {
        /// How many were compared.
        requests: usize,
    },
    /// One is not. What comes after it was not compared.
    Differs(Difference),
}

/// Why a session could not be played again.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The file cannot be read.
    #[error(transparent)]
    Rollout(#[from] RolloutError),
    /// There is no session to play it with.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The file holds no `model_request` line: nothing can be compared.
    #[error("{0} does not tell what the model was asked: it holds no model_request line")]
    NothingToCompare(PathBuf),
}

/// Plays the session of a file with what `builder` has now, and compares every request with the recorded one: model,
/// instructions, tools, and each item of the input. The session's own code routes the model's recorded items, keeps
/// the history and builds the requests; the recorded outputs stand in for the handlers, so that nothing runs, nothing
/// is asked and nothing is written. What the user, hooks and the surroundings said is taken from the file as well.
///
/// Every turn begins with the history that the file tells of. Sources of tools that are still starting are not waited
/// for: start them before.
///
/// # Errors
/// When the file cannot be read or tells of no request, or no session can be built.
pub async fn verify(rollout: &Path, builder: SessionBuilder) -> Result<Verification, VerifyError> {
    let path = rollout.to_owned();
    let read = tokio::task::spawn_blocking(move || LoadedRollout::load(&path));
    let rollout =
        read.await.map_err(|error| RolloutError::io("read", rollout, std::io::Error::other(error)))??;
    let turns = recording::turns(&rollout);
    if turns.is_empty() {
        return Err(VerifyError::NothingToCompare(rollout.path));
    }
    let mut session = builder.for_playback().build().await?;
    let mut compared = 0;
    for turn in turns {
        if let Some(difference) = play(&mut session, turn, &rollout, &mut compared).await {
            return Ok(Verification::Differs(difference));
        }
    }
    Ok(Verification::Same { requests: compared })
}

/// Plays one turn, up to the first request that differs.
async fn play(
    session: &mut Session,
    recorded: RecordedTurn,
    rollout: &LoadedRollout,
    compared: &mut usize,
) -> Option<Difference> {
    let policy = session.options().truncation;
    let lines = rollout.lines.iter().take(recorded.lines_before).cloned().collect();
    let before = LoadedRollout {
        lines,
        skipped: Vec::new(),
        mended: Vec::new(),
        skipped_count: 0,
        path: rollout.path.clone(),
        meta: rollout.meta.clone(),
    };
    session.go_on_from(before.history(), before.loaded_tools());
    let (mut turn, mut fingerprints) = (Turn::played(session), Fingerprints::default());
    for request in recorded.requests {
        let step = turn.step();
        let now = fingerprints.of(&step.prompt);
        if let Some(part) = difference::difference(&request.asked, now, &step.prompt, rollout, policy) {
            return Some(Difference { request: *compared + 1, line: request.line, part });
        }
        *compared += 1;
        turn.hear_again(step, request.answer, request.after).await;
    }
    None
}

/// Whether two items are the same but for their ids.
pub(crate) fn same_but_for_id(a: &ResponseItem, b: &ResponseItem) -> bool {
    item_text(a) == item_text(b)
}
