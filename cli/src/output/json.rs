//! `--json`: one object a line (cli.md). Nothing but these lines goes to standard output.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::{Value, json};
use tenon_protocol::{CallToolResult, FileChangeEntry, ItemStatus, TodoItem, TokenUsage, TurnItem};
use tenon_tools::{AbortReason, Event};

use super::{Printer, mcp_trouble};

/// Turns events into lines. Items are numbered in the order in which they first appear.
#[derive(Debug, Default)]
pub(crate) struct JsonPrinter {
    lines: Lines,
}

impl Printer for JsonPrinter {
    fn print(&mut self, event: Event, out: &mut dyn Write) -> io::Result<()> {
        for line in self.lines.of(event) {
            // Built whole, so that a reader never sees a part of a line.
            let mut text = line.to_string();
            text.push('\n');
            out.write_all(text.as_bytes())?;
            out.flush()?;
        }
        Ok(())
    }
}

/// Which of the three a line says of its item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Started,
    Updated,
    Completed,
}

impl Phase {
    fn tag(self) -> &'static str {
        match self {
            Self::Started => "item.started",
            Self::Updated => "item.updated",
            Self::Completed => "item.completed",
        }
    }
}

#[derive(Debug, Default)]
struct Lines {
    /// How many items have appeared.
    seen: usize,
    /// The numbers of items that have appeared and are not completed.
    open: HashMap<String, usize>,
    /// The turn's plan: its number, and the list as it was last shown.
    plan: Option<(usize, Vec<TodoItem>)>,
}

impl Lines {
    fn of(&mut self, event: Event) -> Vec<Value> {
        match event {
            Event::SessionStarted { session_id, rollout_path: _ } => {
                vec![json!({"type": "thread.started", "thread_id": session_id})]
            }
            Event::TurnStarted { turn_id: _ } => vec![json!({"type": "turn.started"})],
            Event::TurnCompleted { turn_id: _, usage, last_message: _ } => self.turn_ends(completed(usage)),
            Event::TurnFailed { turn_id: _, message } => self.turn_ends(failed(&message)),
            Event::TurnAborted { turn_id: _, reason, aborted_calls: _ } => self.turn_ends(failed(word(reason))),
            Event::ItemStarted(item) => self.item(Phase::Started, item),
            Event::ItemUpdated(item) => self.item(Phase::Updated, item),
            Event::ItemCompleted(item) => self.item(Phase::Completed, item),
            Event::Retrying { attempt, max, message } => {
                vec![json!({"type": "error", "message": format!("Reconnecting... {attempt}/{max}: {message}")})]
            }
            Event::Warning { message } => {
                let number = self.next();
                vec![line(Phase::Completed, number, "error", json!({ "message": message }))]
            }
            Event::McpServer { server, state } => {
                let trouble = mcp_trouble(&server, state);
                trouble.into_iter().flat_map(|message| self.of(Event::Warning { message })).collect()
            }
            Event::AgentMessageDelta { .. }
            | Event::ReasoningDelta { .. }
            | Event::ExecOutputDelta { .. }
            | Event::TerminalInteraction { .. }
            | Event::BackgroundExit { .. }
            | Event::PatchProgress { .. }
            | Event::ImageViewed { .. }
            | Event::TurnDiff { .. }
            | Event::ExternalContext { .. }
            | Event::CallEnded { .. }
            // What the operator should know of a hook comes as a warning.
            | Event::HookStarted { .. }
            | Event::HookCompleted { .. }
            // The same plan comes as an item.
            | Event::PlanUpdated { .. } => Vec::new(),
        }
    }

    fn next(&mut self) -> usize {
        let number = self.seen;
        self.seen += 1;
        number
    }

    fn item(&mut self, phase: Phase, item: TurnItem) -> Vec<Value> {
        let item = match item {
            TurnItem::TodoList { id: _, items } => return self.plan(items),
            other => other,
        };
        let Some((kind, members)) = shape(&item, phase) else { return Vec::new() };
        let known = match phase {
            Phase::Started | Phase::Updated => self.open.get(item.id()).copied(),
            Phase::Completed => self.open.remove(item.id()),
        };
        let number = known.unwrap_or_else(|| {
            let number = self.next();
            if phase != Phase::Completed {
                self.open.insert(item.id().to_owned(), number);
            }
            number
        });
        vec![line(phase, number, kind, members)]
    }

    /// The plan as it now stands: one item a turn, started by its first list.
    fn plan(&mut self, items: Vec<TodoItem>) -> Vec<Value> {
        let (phase, number) = match &self.plan {
            Some((number, _)) => (Phase::Updated, *number),
            None => (Phase::Started, self.next()),
        };
        let shown = line(phase, number, "todo_list", json!({ "items": items }));
        self.plan = Some((number, items));
        vec![shown]
    }

    /// The plan's item is completed with the turn.
    fn turn_ends(&mut self, end: Value) -> Vec<Value> {
        let plan = self.plan.take();
        let plan = plan
            .map(|(number, items)| line(Phase::Completed, number, "todo_list", json!({ "items": items })));
        plan.into_iter().chain([end]).collect()
    }
}

fn completed(usage: TokenUsage) -> Value {
    json!({"type": "turn.completed", "usage": {
        "input_tokens": usage.input_tokens,
        "cached_input_tokens": usage.cached_input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_output_tokens": usage.reasoning_output_tokens,
    }})
}

fn failed(message: &str) -> Value {
    json!({"type": "turn.failed", "error": {"message": message}})
}

fn word(reason: AbortReason) -> &'static str {
    match reason {
        AbortReason::Interrupted => "interrupted",
        AbortReason::Replaced => "replaced",
        AbortReason::BudgetLimited => "budget limited",
    }
}

/// A line about one item: `id` and `type` first.
fn line(phase: Phase, number: usize, kind: &str, members: Value) -> Value {
    let mut item = json!({"id": format!("item_{number}"), "type": kind});
    if let (Some(item), Value::Object(members)) = (item.as_object_mut(), members) {
        item.extend(members);
    }
    json!({"type": phase.tag(), "item": item})
}

/// An item's type and members; none for what is not shown: the user's own words, and what the model says or thinks
/// while it is not whole.
fn shape(item: &TurnItem, phase: Phase) -> Option<(&'static str, Value)> {
    Some(match item {
        TurnItem::UserMessage { .. } | TurnItem::TodoList { .. } => return None,
        TurnItem::AgentMessage { .. } | TurnItem::Reasoning { .. } if phase != Phase::Completed => {
            return None;
        }
        TurnItem::AgentMessage { id: _, text } => ("agent_message", json!({ "text": text })),
        TurnItem::Reasoning { id: _, text } if text.is_empty() => return None,
        TurnItem::Reasoning { id: _, text } => ("reasoning", json!({ "text": text })),
        TurnItem::CommandExecution { id: _, command, aggregated_output, exit_code, status } => (
            "command_execution",
            json!({
                "command": super::shell_words(command),
                "aggregated_output": aggregated_output,
                "exit_code": exit_code,
                "status": status,
            }),
        ),
        TurnItem::FileChange { id: _, changes, status } => {
            let mut changes: Vec<_> = changes.iter().collect();
            changes.sort();
            let shown = |change: &&FileChangeEntry| json!({"path": change.path.to_string_lossy(), "kind": change.kind});
            let changes: Vec<_> = changes.iter().map(shown).collect();
            ("file_change", json!({ "changes": changes, "status": status }))
        }
        TurnItem::McpToolCall { id: _, server, tool, arguments, result, error, status, duration: _ } => (
            "mcp_tool_call",
            json!({
                "server": server,
                "tool": tool,
                "arguments": arguments,
                "result": result.as_ref().map(mcp_result),
                "error": error.as_ref().map(|message| json!({ "message": message })),
                "status": status,
            }),
        ),
        TurnItem::WebSearch { id: _, query, action } => {
            ("web_search", json!({"query": query, "action": action}))
        }
        TurnItem::ImageGeneration { id: _, status, revised_prompt, result: _ } => {
            let status = match phase {
                Phase::Started | Phase::Updated => ItemStatus::InProgress,
                Phase::Completed if status == "failed" => ItemStatus::Failed,
                Phase::Completed => ItemStatus::Completed,
            };
            // The API's own tool. Its picture is in the rollout; here it would be one line of megabytes.
            let members = json!({"name": "image_generation", "arguments": "", "output": revised_prompt, "status": status});
            ("tool_call", members)
        }
        TurnItem::ToolCall { id: _, name, arguments, output, status } => {
            ("tool_call", json!({"name": name, "arguments": arguments, "output": output, "status": status}))
        }
        TurnItem::Error { id: _, message } => ("error", json!({ "message": message })),
    })
}

fn mcp_result(result: &CallToolResult) -> Value {
    json!({"content": result.content, "structured_content": result.structured_content})
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
