//! Which subjects a hook hears of (core.md 8.3).

use regex::Regex;

/// A configured matcher.
#[derive(Debug, Clone)]
pub(crate) enum Matcher {
    /// Everything.
    All,
    /// What the expression is found in, anywhere.
    Found(Regex),
}

impl Matcher {
    /// Absent, empty and `*` match everything. Anything else is an expression, which is not anchored: `Edit` also
    /// matches `NotebookEdit`.
    pub(crate) fn parse(text: Option<&str>) -> Result<Self, regex::Error> {
        match text {
            None | Some("" | "*") => Ok(Self::All),
            Some(text) => Regex::new(text).map(Self::Found),
        }
    }

    /// Whether it matches one of these.
    pub(crate) fn matches<'a>(&self, mut subjects: impl Iterator<Item = &'a str>) -> bool {
        match self {
            Self::All => true,
            Self::Found(regex) => subjects.any(|subject| regex.is_match(subject)),
        }
    }
}

#[cfg(test)]
#[path = "matcher_tests.rs"]
mod tests;
