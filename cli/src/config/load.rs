//! Reads `config.toml` and lays the `-c` options over it.

use std::path::Path;

use serde::Deserialize;
use tenon_core::read_user_file;
use toml::Table;

use super::error::{ConfigError, in_plain_words, position};
use super::file::ConfigFile;
use super::overrides::ConfigOverride;

/// How large `config.toml` may be, in bytes.
pub(crate) const CONFIG_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The configuration as written, and what there is to say of it.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) file: ConfigFile,
    /// For the operator: keys that mean nothing.
    pub(crate) warnings: Vec<String>,
}

/// Reads a configuration file, if there is one, and lays `overrides` over it in their order.
///
/// # Errors
/// When the file cannot be read or is broken, or when an option does not fit.
pub(crate) fn load(path: &Path, overrides: &[ConfigOverride]) -> Result<Loaded, ConfigError> {
    let text = read(path)?;
    let file: ConfigFile = toml::from_str(&text).map_err(|error| broken(path, &text, &error))?;
    let written = ignored_keys(&file);
    let mut warnings: Vec<String> =
        written.iter().map(|ignored| format!("{}: {ignored}", path.display())).collect();
    if overrides.is_empty() {
        return Ok(Loaded { file, warnings });
    }
    let file = overlay(path, &text, overrides)?;
    let added = ignored_keys(&file).into_iter().filter(|ignored| !written.contains(ignored));
    warnings.extend(added.map(|ignored| format!("-c: {ignored}")));
    Ok(Loaded { file, warnings })
}

/// What is said of keys that are unknown, or have no effect.
fn ignored_keys(file: &ConfigFile) -> Vec<String> {
    let unknown = file.unknown_keys().into_iter().map(|key| format!("unknown key `{key}` is ignored"));
    unknown.chain(file.idle_keys()).collect()
}

/// The file with the options over it. Each is tried by itself, so that an error names the one that is at fault.
fn overlay(path: &Path, text: &str, overrides: &[ConfigOverride]) -> Result<ConfigFile, ConfigError> {
    let mut table: Table = toml::from_str(text).map_err(|error| broken(path, text, &error))?;
    let mut file = ConfigFile::default();
    for item in overrides {
        let fault = |message: String| ConfigError::Override { option: item.option.clone(), message };
        item.apply(&mut table).map_err(fault)?;
        file =
            ConfigFile::deserialize(table.clone()).map_err(|error| fault(in_plain_words(error.message())))?;
    }
    Ok(file)
}

fn read(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
    let Some(bytes) = read_user_file(path, CONFIG_MAX_BYTES).map_err(unreadable)? else {
        return Ok(String::new());
    };
    if bytes.len() as u64 > CONFIG_MAX_BYTES {
        return Err(ConfigError::TooLarge { path: path.to_owned(), limit: CONFIG_MAX_BYTES });
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes());
        let (line, column) = position(&text, valid);
        ConfigError::Broken {
            path: path.to_owned(),
            line,
            column,
            message: "this is no UTF-8 text".to_owned(),
        }
    })
}

pub(super) fn broken(path: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let (line, column) = position(text, error.span().map_or(0, |span| span.start));
    ConfigError::Broken { path: path.to_owned(), line, column, message: in_plain_words(error.message()) }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
