//! The user's folder, where configuration and sessions lie.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::invocation::Environment;

/// Where the user's things are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Home {
    /// `$TENON_HOME`, else `~/.tenon`; absolute. It need not be there yet.
    pub(crate) path: PathBuf,
    /// What `~` stands for.
    pub(crate) user: Option<PathBuf>,
}

impl Home {
    /// Finds it. A relative `TENON_HOME` starts at `cwd`.
    ///
    /// # Errors
    /// When neither variable says where it is.
    pub(crate) fn find(environment: &Environment, cwd: &Path) -> Result<Self, Failure> {
        let user = environment.get("HOME").map(|home| cwd.join(home));
        let path = match (environment.get("TENON_HOME"), &user) {
            (Some(home), _) => cwd.join(home),
            (None, Some(user)) => user.join(".tenon"),
            (None, None) => {
                return Err(Failure::usage(
                    "neither TENON_HOME nor HOME is set: set one, so that there is a home folder",
                ));
            }
        };
        Ok(Self { path, user })
    }

    /// The configuration file.
    pub(crate) fn config(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// The file of hooks.
    pub(crate) fn hooks(&self) -> PathBuf {
        self.path.join("hooks.json")
    }
}

#[cfg(test)]
#[path = "home_tests.rs"]
mod tests;
