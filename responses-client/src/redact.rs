//! Keeps secrets out of messages: a server may repeat what it was sent.

use crate::{ProviderConfig, Secret};

/// The shortest text that counts as a secret. What local servers take for a key ("none", "ollama") is none, and blotting
/// it out would only mangle messages.
const SHORTEST_SECRET: usize = 8;
/// What stands in a secret's place.
const MARK: &str = "[redacted]";
/// Words in the name of a URL parameter that make its value a secret.
const SECRET_NAMES: [&str; 5] = ["key", "token", "secret", "sig", "password"];

/// Knows the secrets of one configuration.
#[derive(Clone)]
pub(crate) struct Redactor {
    secrets: Vec<String>,
}

impl Redactor {
    pub(crate) fn new(config: &ProviderConfig) -> Self {
        let key = config.api_key.iter().map(Secret::reveal);
        // A header's value may be a scheme and a secret; a server may repeat the secret alone.
        let headers = config.headers.values().flat_map(|value| {
            [Some(value.as_str()), value.split_once(' ').map(|(_, secret)| secret.trim())]
                .into_iter()
                .flatten()
        });
        let params =
            config.query_params.iter().filter(|(name, _)| is_secret(name)).map(|(_, value)| &**value);
        let mut secrets: Vec<String> = key
            .chain(headers)
            .chain(params)
            .filter(|secret| secret.len() >= SHORTEST_SECRET)
            .map(str::to_owned)
            .collect();
        // The longest first: one secret may be a part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self { secrets }
    }

    /// The text with a mark in place of every secret.
    pub(crate) fn clean(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), MARK) } else { text }
        })
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|word| name.contains(word))
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
