//! What a person has typed.

use tenon_tools::{ApprovalDecision, ApprovalScope};

/// What a line comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    /// A decision.
    Decision(ApprovalDecision),
    /// The prefix is shown, to be taken or changed.
    Prefix(Vec<String>),
    /// Nothing that can be answered.
    Unclear,
}

/// Reads an answer to a question with these scopes.
pub(super) fn read(line: &str, scopes: &[ApprovalScope]) -> Typed {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let prefix = scopes.iter().find_map(|scope| match scope {
        ApprovalScope::Prefix { prefix, file: _ } => Some(prefix),
        ApprovalScope::Once | ApprovalScope::Session | ApprovalScope::McpTool { .. } => None,
    });
    let always = scopes.iter().any(|scope| matches!(scope, ApprovalScope::McpTool { .. }));
    match (word.to_lowercase().as_str(), prefix) {
        ("n" | "no", _) => {
            let reason = Some(rest.trim().to_owned()).filter(|reason| !reason.is_empty());
            Typed::Decision(ApprovalDecision::Denied { reason })
        }
        // Only a no may have words behind it: a slip must not approve.
        (_, _) if !rest.is_empty() => Typed::Unclear,
        ("y" | "yes", _) => Typed::Decision(ApprovalDecision::Approved),
        ("s", _) if scopes.contains(&ApprovalScope::Session) => {
            Typed::Decision(ApprovalDecision::ApprovedForSession)
        }
        ("a", _) if always => Typed::Decision(ApprovalDecision::ApprovedMcpPolicyAmendment),
        ("p", Some(prefix)) => Typed::Prefix(prefix.clone()),
        ("q", _) => Typed::Decision(ApprovalDecision::Abort),
        (_, _) => Typed::Unclear,
    }
}

/// Reads the words of a prefix; an empty line takes those that were shown. None for what is no line of a shell.
pub(super) fn prefix(line: &str, shown: Vec<String>) -> Option<Vec<String>> {
    if line.trim().is_empty() {
        return Some(shown);
    }
    shlex::split(line)
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
