//! Files that a user has written for us: [`read`] and [`change`].

mod change;
mod read;

pub use change::{UserFileError, change_user_file};
pub use read::read_user_file;
