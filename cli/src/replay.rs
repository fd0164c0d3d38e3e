//! Recorded model streams: [`input`] reads a file into answers, [`model`] gives them as a model would.

mod events;
mod input;
mod items;
mod looked;
mod model;
mod rollout;
mod scenario;

pub(crate) use input::{RecordedFile, Recording, read};
pub(crate) use model::ReplayModel;
