//! One rule.

use super::fit::{Fit, fit};

/// What a rule, or all of them together, say of a command. In the order of strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// It may run, without a sandbox.
    Allow,
    /// Somebody is asked first.
    Prompt,
    /// It may not.
    Forbidden,
}

impl Decision {
    /// The word that stands for it in a file.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        match word {
            "allow" => Some(Self::Allow),
            "prompt" => Some(Self::Prompt),
            "forbidden" => Some(Self::Forbidden),
            _ => None,
        }
    }
}

/// One word of a pattern: it, or one of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternWord(pub(super) Vec<String>);

impl PatternWord {
    /// The words it stands for.
    pub fn alternatives(&self) -> &[String] {
        &self.0
    }
}

/// A rule on all commands that begin with certain words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefixRule {
    pub(super) pattern: Vec<PatternWord>,
    pub(super) decision: Decision,
    pub(super) justification: Option<String>,
}

impl PrefixRule {
    /// A rule that allows what begins with these words.
    pub(super) fn allowing(prefix: &[String]) -> Self {
        let pattern = prefix.iter().map(|word| PatternWord(vec![word.clone()])).collect();
        Self { pattern, decision: Decision::Allow, justification: None }
    }

    /// What begins like this.
    pub fn pattern(&self) -> &[PatternWord] {
        &self.pattern
    }

    /// What becomes of it.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Why, for people and for the model.
    pub fn justification(&self) -> Option<&str> {
        self.justification.as_deref()
    }

    /// Whether a command begins with the pattern, word for word. A word that is not known matches nothing.
    pub(super) fn matches(&self, words: &[Option<&str>]) -> bool {
        let known = |(pattern, word): (&PatternWord, &Option<&str>)| {
            word.is_some_and(|word| pattern.0.iter().any(|alternative| alternative == word))
        };
        words.len() >= self.pattern.len() && self.pattern.iter().zip(words).all(known)
    }

    /// Whether the rule is one on this command: one that allows word for word, one that restricts with options passed
    /// over as well.
    pub(super) fn speaks_of(&self, words: &[Option<&str>]) -> bool {
        match self.decision {
            Decision::Allow => self.matches(words),
            Decision::Prompt | Decision::Forbidden => matches!(fit(&self.pattern, words), Fit::At(_)),
        }
    }

    /// The words of a command that a rule which matches speaks of: as many as the pattern has, without the options that
    /// it passes over.
    pub(in crate::policy) fn spoken_of(&self, words: &[String]) -> Vec<String> {
        let known: Vec<Option<&str>> = words.iter().map(|word| Some(word.as_str())).collect();
        let place = match fit(&self.pattern, &known) {
            Fit::At(place) => place,
            Fit::No | Fit::Perhaps => 1,
        };
        let rest = words.iter().skip(place).take(self.pattern.len().saturating_sub(1));
        words.iter().take(1).chain(rest).cloned().collect()
    }
}

/// The files that a bare program name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostExecutable {
    pub(super) name: String,
    pub(super) paths: Vec<String>,
}

impl HostExecutable {
    pub(super) fn is(&self, name: &str, path: &str) -> bool {
        self.name == name && self.paths.iter().any(|known| known == path)
    }
}

/// A rule on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRule {
    pub(super) host: String,
    pub(super) protocol: String,
    pub(super) decision: Decision,
    pub(super) justification: Option<String>,
}

impl NetworkRule {
    /// The host.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// What is spoken with it.
    pub fn protocol(&self) -> &str {
        &self.protocol
    }

    /// What becomes of it.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Why.
    pub fn justification(&self) -> Option<&str> {
        self.justification.as_deref()
    }
}
