//! Lines for people: each call as it starts and as it settles, patches as a short diff, a plan as a checklist; at the
//! end what was changed, tokens and time.
//!
//! Everything that a model or a tool wrote passes [`neutral`] and is bounded before it is shown.

mod diff;
mod style;
mod words;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tenon_protocol::{FileChangeKind, ItemStatus, StepStatus, TokenUsage, TurnItem, UpdatePlanArgs};
use tenon_tools::{AbortReason, Event};

use super::text::{clip, excerpt, first_line, neutral};
use super::{Printer, mcp_trouble};
use diff::Diffs;
pub(crate) use style::Style;
use style::Tone;

/// How many lines of one output are shown.
pub(crate) const OUTPUT_MAX_LINES: usize = 20;
/// How many characters of one line are shown.
pub(crate) const LINE_MAX_CHARS: usize = 400;

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
                self.diffs = Diffs::default();
                self.changed.clear();
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
                self.diffs.show_new(&unified_diff, &self.style, |path| words::short(cwd, path), out)
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
            Event::McpServer { server, state } => match mcp_trouble(&server, state) {
                Some(trouble) => self.warning(out, &trouble),
                None => Ok(()),
            },
            Event::ItemUpdated(_)
            | Event::AgentMessageDelta { .. }
            | Event::ReasoningDelta { .. }
            | Event::ExecOutputDelta { .. }
            | Event::TerminalInteraction { .. }
            | Event::PatchProgress { .. }
            | Event::ImageViewed { .. }
            | Event::HookStarted { .. }
            | Event::HookCompleted { .. }
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
        let Some(what) = words::what(item, &self.cwd) else { return Ok(()) };
        self.calls += 1;
        self.running.insert(item.id().to_owned(), (self.calls, (self.now)()));
        self.call_line(out, self.calls, Tone::Plain, &what)
    }

    fn completed(&mut self, out: &mut dyn Write, item: &TurnItem) -> io::Result<()> {
        match item {
            TurnItem::AgentMessage { id: _, text } => message(out, text),
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
        let (tone, how) = words::verdict(item);
        self.call_line(out, number, tone, &format!("{how}, {}", words::seconds(took)))?;
        if let TurnItem::FileChange { changes, status: ItemStatus::Completed, .. } = item {
            self.changed.extend(changes.iter().map(|change| (change.path.clone(), change.kind)));
        }
        self.indented(out, &words::outcome(item), Tone::Dim)
    }

    fn path(&self, path: &Path) -> String {
        words::short(&self.cwd, path)
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

    /// A foreign text under the line it belongs to, bounded.
    fn indented(&self, out: &mut dyn Write, text: &str, tone: Tone) -> io::Result<()> {
        for line in excerpt(&neutral(text), OUTPUT_MAX_LINES) {
            writeln!(out, "    {}", self.style.paint(tone, &self.fit(&line)))?;
        }
        Ok(())
    }

    fn note(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        writeln!(out, "{}", self.style.paint(Tone::Dim, &words::one_line(text)))
    }

    fn warning(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        writeln!(out, "{} {}", self.style.paint(Tone::Warning, "warning:"), first_line(text, LINE_MAX_CHARS))
    }

    fn plan(&self, out: &mut dyn Write, plan: &UpdatePlanArgs) -> io::Result<()> {
        writeln!(out, "plan")?;
        for step in &plan.plan {
            let (mark, tone) = match step.status {
                StepStatus::Completed => ("[x]", Tone::Good),
                StepStatus::InProgress => ("[>]", Tone::Plain),
                StepStatus::Pending => ("[ ]", Tone::Dim),
            };
            writeln!(
                out,
                "    {}",
                self.style.paint(tone, &format!("{mark} {}", words::one_line(&step.step)))
            )?;
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
        let files = self.changed_files();
        if !files.is_empty() {
            writeln!(out, "{} {}", self.style.paint(Tone::Dim, "changed:"), self.fit(&files.join(", ")))?;
        }
        let took = words::seconds((self.now)().duration_since(self.turn_started));
        let spent = match self.usage {
            Some(usage) if usage != TokenUsage::default() => format!("tokens: {}; ", words::tokens(usage)),
            Some(_) | None => String::new(),
        };
        self.note(out, &format!("{spent}time: {took}"))
    }

    /// The files that look different from what they were when the turn began: by the turn's diff where there is one,
    /// else by what the patches said.
    fn changed_files(&self) -> Vec<String> {
        let by_diff = !self.diffs.is_empty();
        let shown = |(path, kind): (&PathBuf, &FileChangeKind)| match self.diffs.counts(path) {
            Some((added, removed)) => Some(format!("{} (+{added} -{removed})", self.path(path))),
            None if by_diff => None,
            None => Some(format!("{} ({})", self.path(path), words::kind(*kind))),
        };
        self.changed.iter().filter_map(shown).collect()
    }

    /// A line cut to what is shown of one.
    fn fit(&self, line: &str) -> String {
        clip(line, LINE_MAX_CHARS.min(self.style.columns())).into_owned()
    }
}

/// What the model says, with room around it.
fn message(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "\n{}\n", neutral(text.trim_end()))
}

#[cfg(test)]
#[path = "human_tests.rs"]
mod tests;
