//! The exec policy: rules on commands by their first words (runtime.md D10).
//!
//! A rule file consists of literal calls in the syntax of Starlark, [`read`](reader::read) here without an interpreter:
//!
//! ```text
//! # rules/git.rules
//! prefix_rule(
//!     pattern = ["git", ["status", "log"]],
//!     decision = "allow",
//!     match = ["git status -sb", ["git", "log"]],
//!     not_match = ["git push"],
//! )
//! ```
//!
//! [`ExecRules`] is what all files together say. It speaks about one command, as a list of words; which commands a
//! script consists of is decided elsewhere ([`super::commands`]).

mod amend;
mod error;
mod fit;
mod load;
mod reader;
mod rule;
mod token;

pub use amend::AmendError;
pub use error::{Position, RuleError};
pub use load::{DEFAULT_RULES, RULES_FOLDER};
pub use rule::{Decision, HostExecutable, NetworkRule, PatternWord, PrefixRule};

use std::path::Path;

use fit::{Fit, fit};

/// The rules of all files, in the order in which they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecRules {
    prefixes: Vec<PrefixRule>,
    executables: Vec<HostExecutable>,
    networks: Vec<NetworkRule>,
}

/// What rules say of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched<'r> {
    /// The strictest decision of all that match.
    pub decision: Decision,
    /// The rules that match with it.
    pub rules: Vec<&'r PrefixRule>,
}

impl ExecRules {
    /// Reads one file's text. `file` names it in errors.
    ///
    /// # Errors
    /// At the first thing that is no literal call of a known function, or an example that does not hold.
    pub fn read(text: &str, file: &Path) -> Result<Self, RuleError> {
        let rules = reader::read(text).and_then(|read| {
            read.check()?;
            Ok(read.rules)
        });
        rules.map_err(|error| error.in_file(file))
    }

    /// Adds what another file says.
    pub fn extend(&mut self, other: Self) {
        let Self { prefixes, executables, networks } = other;
        self.prefixes.extend(prefixes);
        self.executables.extend(executables);
        self.networks.extend(networks);
    }

    /// The rules on commands.
    pub fn prefixes(&self) -> &[PrefixRule] {
        &self.prefixes
    }

    /// The rules on hosts. They are read and kept; nothing of ours stands between a command and the network yet.
    pub fn networks(&self) -> &[NetworkRule] {
        &self.networks
    }

    /// What is said of a command whose words are known as far as they are `Some`: a rule matches as far as they go.
    ///
    /// A rule that restricts also matches where options stand between the program and the rest of its words
    /// (`git -C dir push`), and for a program that is given by any path. One that allows matches word for word, and a
    /// path only where a `host_executable` says that this file is the one.
    ///
    /// `certain` says that the program will get exactly these words: without, no rule that allows matches.
    pub fn matching(&self, words: &[Option<&str>], certain: bool) -> Option<Matched<'_>> {
        let found = |rule: &&PrefixRule| match rule.decision {
            Decision::Allow => certain && (rule.speaks_of(words) || self.matches_by_name(rule, words)),
            Decision::Prompt | Decision::Forbidden => rule.speaks_of(words),
        };
        let all: Vec<&PrefixRule> = self.prefixes.iter().filter(found).collect();
        let decision = all.iter().map(|rule| rule.decision).max()?;
        Some(Matched { decision, rules: all.into_iter().filter(|rule| rule.decision == decision).collect() })
    }

    /// Whether a rule that restricts may match a command, for all that is known of its words: one that is not known,
    /// or that a glob stands for, may be any number of words.
    pub fn may_restrict(&self, words: &[Option<&str>]) -> bool {
        self.restricting().any(|rule| fit(&rule.pattern, words) != Fit::No)
    }

    /// Whether there is a rule that restricts.
    pub fn restricts(&self) -> bool {
        self.restricting().next().is_some()
    }

    fn restricting(&self) -> impl Iterator<Item = &PrefixRule> {
        self.prefixes.iter().filter(|rule| rule.decision > Decision::Allow)
    }

    /// A rule that allows, for a program that is known by its path.
    fn matches_by_name(&self, rule: &PrefixRule, words: &[Option<&str>]) -> bool {
        let Some((Some(program), rest)) = words.split_first() else { return false };
        let Some((_, name)) = program.rsplit_once('/') else { return false };
        let known = self.executables.iter().any(|host| host.is(name, program));
        let by_name: Vec<Option<&str>> = std::iter::once(Some(name)).chain(rest.iter().copied()).collect();
        known && rule.matches(&by_name)
    }
}

#[cfg(test)]
#[path = "exec_rules_tests.rs"]
mod tests;
