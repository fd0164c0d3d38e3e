//! What is said of a call, a file, a number: harmless and bounded.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use tenon_protocol::{FileChangeEntry, FileChangeKind, ItemStatus, TokenUsage, TurnItem};

use super::style::Tone;
use crate::output::shell_words;
use crate::output::text::{first_line, neutral};

/// How many characters of a call's arguments are shown.
pub(crate) const ARGUMENTS_MAX_CHARS: usize = 160;

/// What a call is about to do, on one line; none for what is no call.
pub(super) fn what(item: &TurnItem, cwd: &Path) -> Option<String> {
    Some(match item {
        TurnItem::CommandExecution { command, .. } => format!("$ {}", one_line(&script(command))),
        TurnItem::FileChange { changes, .. } => format!("patch: {}", change_list(changes, cwd)),
        TurnItem::McpToolCall { server, tool, arguments, .. } => {
            format!("{} {}", neutral(&format!("{server}.{tool}")), one_line(&arguments.to_string()))
        }
        TurnItem::ToolCall { name, arguments, .. } => format!("{} {}", neutral(name), one_line(arguments)),
        TurnItem::UserMessage { .. }
        | TurnItem::AgentMessage { .. }
        | TurnItem::Reasoning { .. }
        | TurnItem::WebSearch { .. }
        | TurnItem::ImageGeneration { .. }
        | TurnItem::TodoList { .. }
        | TurnItem::Error { .. } => return None,
    })
}

/// How a settled call went, in a word.
pub(super) fn verdict(item: &TurnItem) -> (Tone, String) {
    let (tone, word) = match item.status() {
        Some(ItemStatus::Completed) | None => (Tone::Good, "ok"),
        Some(ItemStatus::Failed) => (Tone::Bad, "failed"),
        Some(ItemStatus::Declined) => (Tone::Bad, "declined"),
        Some(ItemStatus::InProgress) => (Tone::Plain, "goes on"),
    };
    match item {
        TurnItem::CommandExecution { exit_code: Some(code), .. } => (tone, format!("exit {code}")),
        _ => (tone, word.to_owned()),
    }
}

/// What a settled call gave, as a text.
pub(super) fn outcome(item: &TurnItem) -> Cow<'_, str> {
    match item {
        TurnItem::CommandExecution { aggregated_output, .. } => Cow::Borrowed(aggregated_output),
        TurnItem::ToolCall { output, .. } => Cow::Borrowed(output.as_deref().unwrap_or_default()),
        TurnItem::McpToolCall { error: Some(error), .. } => Cow::Borrowed(error),
        TurnItem::McpToolCall { result, .. } => {
            let blocks = result.iter().flat_map(|result| &result.content);
            Cow::Owned(blocks.filter_map(|block| block.get("text")?.as_str()).collect::<Vec<_>>().join("\n"))
        }
        TurnItem::FileChange { .. }
        | TurnItem::UserMessage { .. }
        | TurnItem::AgentMessage { .. }
        | TurnItem::Reasoning { .. }
        | TurnItem::WebSearch { .. }
        | TurnItem::ImageGeneration { .. }
        | TurnItem::TodoList { .. }
        | TurnItem::Error { .. } => Cow::Borrowed(""),
    }
}

fn change_list(changes: &[FileChangeEntry], cwd: &Path) -> String {
    let shown = |change: &FileChangeEntry| format!("{} {}", kind(change.kind), short(cwd, &change.path));
    one_line(&changes.iter().map(shown).collect::<Vec<_>>().join(", "))
}

/// A path without the folder that everything happens in.
pub(super) fn short(cwd: &Path, path: &Path) -> String {
    neutral(&path.strip_prefix(cwd).unwrap_or(path).to_string_lossy()).into_owned()
}

/// The word for what happens to a file.
pub(super) fn kind(kind: FileChangeKind) -> &'static str {
    match kind {
        FileChangeKind::Add => "add",
        FileChangeKind::Delete => "delete",
        FileChangeKind::Update => "update",
    }
}

/// The script of a shell's argument vector, else the whole of it.
fn script(argv: &[String]) -> String {
    match argv {
        [shell, flag, script] if shell.ends_with("sh") && matches!(flag.as_str(), "-c" | "-lc") => {
            script.clone()
        }
        argv => shell_words(argv),
    }
}

/// The first line of a text, as much of it as is shown of a call.
pub(super) fn one_line(text: &str) -> String {
    first_line(text, ARGUMENTS_MAX_CHARS)
}

/// A duration in seconds, to a tenth.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{:.1}s", duration.as_secs_f64())
}

/// What was spent.
pub(super) fn tokens(usage: TokenUsage) -> String {
    let part = |count: u64, word: &str| if count == 0 { String::new() } else { format!(" ({count} {word})") };
    format!(
        "{} in{}, {} out{}",
        usage.input_tokens,
        part(usage.cached_input_tokens, "cached"),
        usage.output_tokens,
        part(usage.reasoning_output_tokens, "reasoning")
    )
}
