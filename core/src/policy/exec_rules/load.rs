//! The rule files of a home folder.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{ExecRules, RuleError};

/// Where rule files lie, below the home folder.
pub const RULES_FOLDER: &str = "rules";
/// The file that amendments are written to.
pub const DEFAULT_RULES: &str = "default.rules";
/// What a rule file's name ends with.
const EXTENSION: &str = "rules";
/// The longest rule file that is read.
pub(super) const MAX_FILE_BYTES: u64 = 1024 * 1024;

impl ExecRules {
    /// Reads every `*.rules` of a folder, in the order of their names. A folder that is not there holds none.
    ///
    /// # Errors
    /// At the first file that cannot be read, or holds anything else than rules: rules that forbid are not left out
    /// in silence.
    pub fn load(folder: &Path) -> Result<Self, RuleError> {
        let mut rules = Self::default();
        for file in files(folder)? {
            rules.extend(load_file(&file)?);
        }
        Ok(rules)
    }
}

fn load_file(file: &Path) -> Result<ExecRules, RuleError> {
    let fault = |error: std::io::Error| RuleError::of_file(file, error.to_string());
    let length = fs::metadata(file).map_err(fault)?.len();
    if length > MAX_FILE_BYTES {
        return Err(RuleError::of_file(file, format!("longer than {MAX_FILE_BYTES} bytes")));
    }
    ExecRules::read(&fs::read_to_string(file).map_err(fault)?, file)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, RuleError> {
    let fault = |error: std::io::Error| RuleError::of_file(folder, error.to_string());
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fault(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(fault)?.path();
        if path.extension().is_some_and(|extension| extension == EXTENSION) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
