//! Pictures on their way to the model: those of files, and those in the outputs of tools.

mod memory;
mod outputs;
mod picture;

pub(crate) use memory::DecodingMemory;
pub(crate) use outputs::{check_pictures, has_pictures, with_checked_pictures};
#[cfg(test)]
pub(crate) use picture::{MAX_SIDE_HIGH, fit_original};
pub(crate) use picture::{data_url, memory_needed};
