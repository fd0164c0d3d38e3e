//! `tenon replay --verify`: is what the model would be asked now what it was asked then?

use std::path::Path;
use std::sync::Arc;

use tenon_core::{Verification, verify};
use tenon_tools::{Event, EventSink};

use super::Surroundings;
use super::drive::Plan;
use crate::failure::{COMPLETED, Failure};
use crate::wiring::Services;

/// Nobody watches: nothing happens.
struct Unwatched;

impl EventSink for Unwatched {
    fn emit(&self, _: Event) {}
}

/// Plays the rollout with the tools and instructions of `plan`, and compares its requests.
///
/// # Errors
/// With the first difference; or when the rollout cannot be played.
pub(super) async fn run(plan: Plan, rollout: &Path, surroundings: &mut Surroundings) -> Result<u8, Failure> {
    let (services, builder) = Services::start(plan, &surroundings.environment, Arc::new(Unwatched)).await?;
    services.settled().await;
    let verified = verify(rollout, builder).await;
    services.shutdown().await;
    match verified.map_err(Failure::failed)? {
        Verification::Same { requests } => {
            let line = format!("verified: {requests} requests are what they were\n");
            let written = surroundings.stdout.write_all(line.as_bytes());
            written.map_err(|error| Failure::failed(format!("cannot write standard output: {error}")))?;
            Ok(COMPLETED)
        }
        Verification::Differs(difference) => Err(Failure::failed(difference)),
    }
}
