//! Lines for people: each call as it starts and as it settles, patches as a short diff, a plan as a checklist; at the
//! end what was changed, tokens and time.
//!
//! Everything that a model or a tool wrote passes [`neutral`] and is bounded before it is shown.

mod diff;
mod style;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tenon_protocol::{
    FileChangeEntry, FileChangeKind, ItemStatus, StepStatus, TokenUsage, TurnItem, UpdatePlanArgs,
};
use tenon_tools::{AbortReason, Event};

use super::text::{clip, excerpt, first_line, neutral};
use super::{Printer, shell_words};
use diff::Diffs;
pub(crate) use style::Style;
use style::Tone;

/// How many lines of one output are shown.
pub(crate) const OUTPUT_MAX_LINES: usize = 20;
/// How many characters of one line are shown.
pub(crate) const LINE_MAX_CHARS: usize = 400;
/// How many characters of a call's arguments are shown.
pub(crate) const ARGUMENTS_MAX_CHARS: usize = 160;

/// Where time comes from: none but tests have another than [`Instant::now`].
type Now = Box<dyn Fn() -> Instant + Send>;

/// Writes events for people.
pub(crate) struct HumanPrinter {
    style: Style,
    /// Paths below it are shown without it.
    cwd: PathBuf,
    now: Now,
    turn_started: Instant,
    /// Calls that have started, by id: their number and when.
    running: HashMap<String, (usize, Instant)>,
    calls: usize,
    diffs: Diffs,
    changed: BTreeMap<PathBuf, FileChangeKind>,
    usage: Option<TokenUsage>,
}

impl Printer for HumanPrinter {
    fn print(&mut self, event: Event, out: &mut dyn Write) -> io::Result<()> {
        match event {
            Event::SessionStarted { session_id, rollout_path: _ } => {
                self.note(out, &format!("session {session_id}"))
            }
            Event::TurnStarted { turn_id: _ } => {
                self.turn_started = (self.now)();
                Ok(())
            }
            Event::TurnCompleted { turn_id: _, usage, last_message: _ } => {
                self.usage = Some(usage);
                self.turn_ends(out)
            }
            // The reason is told by whoever ends the program with it.
            Event::TurnFailed { turn_id: _, message: _ } => self.turn_ends(out),
            Event::TurnAborted { turn_id: _, reason, aborted_calls } => {
                self.aborted(out, reason, aborted_calls.len())?;
                self.turn_ends(out)
            }
            Event::ItemStarted(item) => self.started(out, &item),
            Event::ItemCompleted(item) => self.completed(out, &item),
            Event::PlanUpdated { call_id: _, plan } => self.plan(out, &plan),
            Event::TurnDiff { unified_diff } => {
                let cwd = &self.cwd;
                self.diffs.show_new(&unified_diff, &self.style, |path| short(cwd, path), out)
            }
            Event::BackgroundExit { call_id: _, process_id, exit_code } => {
                self.note(out, &format!("background session {process_id} ended with exit code {exit_code}"))
            }
            Event::ExternalContext { call_id: _, tool_name, reason: _ } => self.note(
                out,
                &format!("{} gave text from outside this machine", neutral(&tool_name.to_string())),
            ),
            Event::Retrying { attempt, max, message } => {
                self.warning(out, &format!("trying again ({attempt} of {max}): {message}"))
            }
            Event::Warning { message } => self.warning(out, &message),
            Event::ItemUpdated(_)
            | Event::AgentMessageDelta { .. }
            | Event::ReasoningDelta { .. }
            | Event::ExecOutputDelta { .. }
            | Event::TerminalInteraction { .. }
            | Event::PatchProgress { .. }
            | Event::ImageViewed { .. }
            | Event::CallEnded { .. } => Ok(()),
        }
    }
}

impl HumanPrinter {
    /// A printer for a session that works in `cwd`.
    pub(crate) fn new(style: Style, cwd: PathBuf) -> Self {
        Self::with_clock(style, cwd, Box::new(Instant::now))
    }

    fn with_clock(style: Style, cwd: PathBuf, now: Now) -> Self {
        Self {
            style,
            cwd,
            turn_started: now(),
            now,
            running: HashMap::new(),
            calls: 0,
            diffs: Diffs::default(),
            changed: BTreeMap::new(),
            usage: None,
        }
    }

    fn started(&mut self, out: &mut dyn Write, item: &TurnItem) -> io::Result<()> {
        let Some(what) = self.what(item) else { return Ok(()) };
        self.calls += 1;
        self.running.insert(item.id().to_owned(), (self.calls, (self.now)()));
        self.call_line(out, self.calls, Tone::Plain, &what)
    }

    fn completed(&mut self, out: &mut dyn Write, item: &TurnItem) -> io::Result<()> {
        match item {
            TurnItem::AgentMessage { id: _, text } => self.message(out, text),
            TurnItem::Reasoning { id: _, text } => self.indented(out, text, Tone::Dim),
            TurnItem::WebSearch { id: _, query, action: _ } => {
                self.note(out, &format!("web search: {query}"))
            }
            TurnItem::ImageGeneration { .. } => self.note(out, "an image was made"),
            TurnItem::Error { id: _, message } => self.warning(out, message),
            TurnItem::UserMessage { .. } | TurnItem::TodoList { .. } => Ok(()),
            TurnItem::CommandExecution { .. }
            | TurnItem::FileChange { .. }
            | TurnItem::McpToolCall { .. }
            | TurnItem::ToolCall { .. } => self.settled(out, item),
        }
    }

    /// A call has come to its end: its number, how it went and how long it took, then what it gave.
    fn settled(&mut self, out: &mut dyn Write, item: &TurnItem) -> io::Result<()> {
        let (number, took) = match self.running.remove(item.id()) {
            Some((number, start)) => (number, (self.now)().duration_since(start)),
            None => {
                // It ended before it could start: refused, or its arguments are none.
                self.started(out, item)?;
                self.running.remove(item.id());
                (self.calls, Duration::ZERO)
            }
        };
        let (tone, mut how) = verdict(item.status());
        if let TurnItem::CommandExecution { exit_code: Some(code), .. } = item {
            how = format!("exit {code}");
        }
        self.call_line(out, number, tone, &format!("{how}, {}", seconds(took)))?;
        if let TurnItem::FileChange { changes, status: ItemStatus::Completed, .. } = item {
            self.changed.extend(changes.iter().map(|change| (change.path.clone(), change.kind)));
        }
        self.indented(out, &outcome(item), Tone::Dim)
    }

    /// What a call is about to do, on one line; none for what is no call.
    fn what(&self, item: &TurnItem) -> Option<String> {
        Some(match item {
            TurnItem::CommandExecution { command, .. } => format!("$ {}", one_line(&script(command))),
            TurnItem::FileChange { changes, .. } => format!("patch: {}", self.changes(changes)),
            TurnItem::McpToolCall { server, tool, arguments, .. } => {
                format!("{} {}", neutral(&format!("{server}.{tool}")), one_line(&arguments.to_string()))
            }
            TurnItem::ToolCall { name, arguments, .. } => {
                format!("{} {}", neutral(name), one_line(arguments))
            }
            TurnItem::UserMessage { .. }
            | TurnItem::AgentMessage { .. }
            | TurnItem::Reasoning { .. }
            | TurnItem::WebSearch { .. }
            | TurnItem::ImageGeneration { .. }
            | TurnItem::TodoList { .. }
            | TurnItem::Error { .. } => return None,
        })
    }

    fn changes(&self, changes: &[FileChangeEntry]) -> String {
        let shown =
            |change: &FileChangeEntry| format!("{} {}", kind_word(change.kind), self.path(&change.path));
        one_line(&changes.iter().map(shown).collect::<Vec<_>>().join(", "))
    }

    fn path(&self, path: &Path) -> String {
        short(&self.cwd, path)
    }

    fn call_line(&self, out: &mut dyn Write, number: usize, tone: Tone, text: &str) -> io::Result<()> {
        let text = self.fit(text);
        writeln!(
            out,
            "{} {}",
            self.style.paint(Tone::Dim, &format!("[{number}]")),
            self.style.paint(tone, &text)
        )
    }

    fn message(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        writeln!(out, "\n{}\n", neutral(text.trim_end()))
    }

    /// A foreign text under the line it belongs to, bounded.
    fn indented(&self, out: &mut dyn Write, text: &str, tone: Tone) -> io::Result<()> {
        for line in excerpt(&neutral(text), OUTPUT_MAX_LINES) {
            writeln!(out, "    {}", self.style.paint(tone, &self.fit(&line)))?;
        }
        Ok(())
    }

    fn note(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        writeln!(out, "{}", self.style.paint(Tone::Dim, &one_line(text)))
    }

    fn warning(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        writeln!(out, "{} {}", self.style.paint(Tone::Warning, "warning:"), one_line(text))
    }

    fn plan(&self, out: &mut dyn Write, plan: &UpdatePlanArgs) -> io::Result<()> {
        writeln!(out, "plan")?;
        for step in &plan.plan {
            let (mark, tone) = match step.status {
                StepStatus::Completed => ("[x]", Tone::Good),
                StepStatus::InProgress => ("[>]", Tone::Plain),
                StepStatus::Pending => ("[ ]", Tone::Dim),
            };
            writeln!(out, "    {}", self.style.paint(tone, &format!("{mark} {}", one_line(&step.step))))?;
        }
        Ok(())
    }

    fn aborted(&self, out: &mut dyn Write, reason: AbortReason, calls: usize) -> io::Result<()> {
        let why = match reason {
            AbortReason::Interrupted => "interrupted",
            AbortReason::Replaced => "replaced by another turn",
            AbortReason::BudgetLimited => "stopped: the budget is used up",
        };
        let cut = match calls {
            0 => String::new(),
            1 => "; 1 call was cut short".to_owned(),
            more => format!("; {more} calls were cut short"),
        };
        writeln!(out, "{}", self.style.paint(Tone::Bad, &format!("{why}{cut}")))
    }

    /// What stands: changed files, tokens and time.
    fn turn_ends(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !self.changed.is_empty() {
            let shown = |(path, kind): (&PathBuf, &FileChangeKind)| match self.diffs.counts(path) {
                Some((added, removed)) => format!("{} (+{added} -{removed})", self.path(path)),
                None => format!("{} ({})", self.path(path), kind_word(*kind)),
            };
            let files: Vec<String> = self.changed.iter().map(shown).collect();
            writeln!(out, "{} {}", self.style.paint(Tone::Dim, "changed:"), self.fit(&files.join(", ")))?;
        }
        let took = seconds((self.now)().duration_since(self.turn_started));
        let spent = match self.usage {
            Some(usage) if usage != TokenUsage::default() => format!("tokens: {}; ", tokens(usage)),
            Some(_) | None => String::new(),
        };
        self.note(out, &format!("{spent}time: {took}"))
    }

    /// A line cut to what is shown of one.
    fn fit(&self, line: &str) -> String {
        clip(line, LINE_MAX_CHARS.min(self.style.columns())).into_owned()
    }
}

fn verdict(status: Option<ItemStatus>) -> (Tone, String) {
    let (tone, word) = match status {
        Some(ItemStatus::Completed) | None => (Tone::Good, "ok"),
        Some(ItemStatus::Failed) => (Tone::Bad, "failed"),
        Some(ItemStatus::Declined) => (Tone::Bad, "declined"),
        Some(ItemStatus::InProgress) => (Tone::Plain, "goes on"),
    };
    (tone, word.to_owned())
}

/// What a settled call gave, as a text.
fn outcome(item: &TurnItem) -> Cow<'_, str> {
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

/// A path without the folder that everything happens in.
fn short(cwd: &Path, path: &Path) -> String {
    neutral(&path.strip_prefix(cwd).unwrap_or(path).to_string_lossy()).into_owned()
}

fn kind_word(kind: FileChangeKind) -> &'static str {
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
fn one_line(text: &str) -> String {
    first_line(text, ARGUMENTS_MAX_CHARS)
}

fn seconds(duration: Duration) -> String {
    format!("{:.1}s", duration.as_secs_f64())
}

fn tokens(usage: TokenUsage) -> String {
    let part = |count: u64, word: &str| if count == 0 { String::new() } else { format!(" ({count} {word})") };
    format!(
        "{} in{}, {} out{}",
        usage.input_tokens,
        part(usage.cached_input_tokens, "cached"),
        usage.output_tokens,
        part(usage.reasoning_output_tokens, "reasoning")
    )
}

#[cfg(test)]
#[path = "human_tests.rs"]
mod tests;
