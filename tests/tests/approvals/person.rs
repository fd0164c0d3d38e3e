//! Whoever is asked, and what they answer.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Mutex;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tenon_tools::{ApprovalDecision, ApprovalRequest, ApprovalScope, Approver, Effects};
use tokio_util::sync::CancellationToken;

/// One answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Yes,
    /// Yes, and to the same for the session.
    Session,
    /// Yes, and a rule on these words.
    Prefix(Vec<String>),
    No,
    /// Yes, and not to be asked about this tool again.
    Always,
    /// No, with these words.
    NoBecause(String),
    /// No, and the turn ends.
    Abort,
    /// None: the time runs out, and nobody is heard any more.
    TooLate,
    /// None: the turn is interrupted while it waits.
    Never,
    /// Yes, after these files have been written.
    YesAfterWriting(BTreeMap<String, String>),
}

/// A question, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// `direct` or `nested`.
    from: String,
    /// The command, the files, the MCP tool.
    what: String,
    #[serde(default)]
    reason: Option<String>,
    scopes: Vec<String>,
    #[serde(default)]
    changed: bool,
    /// Whether it has run already, and the sandbox has stopped it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    second_run: bool,
    /// The diff of a patch, the arguments of an MCP tool.
    #[serde(default)]
    detail: Option<String>,
}

pub(crate) struct Person {
    cwd: PathBuf,
    answers: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<Asked>>,
    interrupt: CancellationToken,
}

impl Person {
    pub(crate) fn new(cwd: PathBuf, answers: Vec<Answer>, interrupt: CancellationToken) -> Self {
        Self { cwd, answers: Mutex::new(answers.into()), asked: Mutex::default(), interrupt }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Answers that nobody asked for.
    pub(crate) fn unanswered(&self) -> usize {
        self.answers.lock().unwrap().len()
    }

    fn in_short(&self, request: &ApprovalRequest) -> Asked {
        let cwd = self.cwd.to_str().unwrap();
        let short = |text: String| text.replace(cwd, "<cwd>");
        let scope = |scope: &ApprovalScope| match scope {
            ApprovalScope::Once => "once".to_owned(),
            ApprovalScope::Session => "session".to_owned(),
            ApprovalScope::Prefix { prefix, file: _ } => format!("prefix {}", prefix.join(" ")),
            ApprovalScope::McpTool { server, tool, file: _ } => format!("always {server}/{tool}"),
        };
        let arguments = request.arguments.as_ref().map(ToString::to_string);
        Asked {
            from: if request.source.is_nested() { "nested" } else { "direct" }.to_owned(),
            what: short(what(&request.effects)),
            reason: request.reason.clone().map(short),
            scopes: request.scopes.iter().map(scope).collect(),
            changed: request.changed,
            second_run: request.first_run.is_some(),
            detail: request.diff.clone().or(arguments).map(short),
        }
    }
}

fn what(effects: &Effects) -> String {
    let Effects { reads: _, writes, command, input: _, mcp, other } = effects;
    let command = command.iter().map(|command| format!("$ {}", command.argv.last().unwrap()));
    let writes = writes.iter().map(|file| format!("writes {}", file.path.display()));
    let mcp = mcp.iter().map(|mcp| format!("mcp {}/{}", mcp.server, mcp.tool));
    command.chain(writes).chain(mcp).chain(other.clone()).collect::<Vec<_>>().join(", ")
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, request: ApprovalRequest) -> ApprovalDecision {
        self.asked.lock().unwrap().push(self.in_short(&request));
        let answer = self.answers.lock().unwrap().pop_front().expect("an answer to each question");
        match answer {
            Answer::Yes => ApprovalDecision::Approved,
            Answer::Session => ApprovalDecision::ApprovedForSession,
            Answer::Prefix(prefix) => ApprovalDecision::ApprovedExecPolicyAmendment { prefix },
            Answer::Always => ApprovalDecision::ApprovedMcpPolicyAmendment,
            Answer::No => ApprovalDecision::Denied { reason: None },
            Answer::NoBecause(reason) => ApprovalDecision::Denied { reason: Some(reason) },
            Answer::Abort => ApprovalDecision::Abort,
            Answer::TooLate => std::future::pending().await,
            Answer::Never => {
                self.interrupt.cancel();
                std::future::pending().await
            }
            Answer::YesAfterWriting(files) => {
                for (name, text) in files {
                    std::fs::write(self.cwd.join(name), text).unwrap();
                }
                ApprovalDecision::Approved
            }
        }
    }
}
