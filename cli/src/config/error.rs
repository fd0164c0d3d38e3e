//! Why there is no configuration: one line each, with where and what would be right.

use std::path::PathBuf;

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The file is there and cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is larger than any configuration.
    #[error("{} is larger than {limit} bytes: this is no configuration", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How large it may be.
        limit: u64,
    },
    /// The file is no TOML, or a value in it is of the wrong kind.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Counted in characters, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// A `-c` option does not fit.
    #[error("-c {option}: {message}")]
    Override {
        /// The option as it was written.
        option: String,
        /// What is wrong with it.
        message: String,
    },
    /// The choices don't go together.
    #[error("{key}: {message}")]
    Invalid {
        /// The key, or the flag.
        key: String,
        /// What is wrong, and what would be right.
        message: String,
    },
}

impl ConfigError {
    /// The error of a choice that does not go together with the rest.
    pub(crate) fn invalid(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { key: key.into(), message: message.into() }
    }
}

/// Line and column of a byte in a text, both from 1; the column counts characters.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before.get(start..).unwrap_or_default().chars().count() + 1)
}

/// What serde says, on one line and without names of Rust's types or of ours.
pub(crate) fn in_plain_words(message: &str) -> String {
    const EXPECTED: &str = ", expected ";
    let line = one_line(message);
    let Some((found, expected)) = line.rsplit_once(EXPECTED) else { return line };
    let plain = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" | "a nonzero u64" => "a whole number from 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        named if named.starts_with("struct ") || named.starts_with("internally tagged") => "a table",
        other => other,
    };
    format!("{found}{EXPECTED}{plain}")
}

/// The same words on one line.
fn one_line(message: &str) -> String {
    message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}
