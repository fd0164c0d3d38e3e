//! Scripts of a session: begin one, wait for one, stop one.

use std::sync::Arc;
use std::time::Duration;

use tenon_tools::{FunctionCallError, ToolInvocation};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::call::Callers;
use super::call_ids::CallIds;
use super::cell::{Abandoned, Busy, Cell, Seen, Store};
use super::cells::Cells;
use super::host::CellHost;
use super::observer::Observer;
use crate::engine::{Engine, Outcome, QuickJs, Script};
use crate::limits::{MAX_ABANDONED_THREADS, MAX_SESSION_BYTES, MAX_SOURCE_BYTES, ScriptLimits};
use crate::nested_tool::NestedTools;
use crate::reply::{CellReply, CellStatus};

/// How long `exec` and `wait` wait where they are not told, in milliseconds (runtime.md C8.2, C8.5).
pub(crate) const DEFAULT_YIELD_TIME_MS: u64 = 10_000;

/// Whoever wishes to wait so long is given [`GRACE`] more (C8.2).
const GRACE_FROM_MS: u64 = 10_000;
const GRACE: Duration = Duration::from_secs(1);

/// Scripts of one session: its cells, what they have stored, and the tools they may call. Cheap to clone; the clones
/// are one. Dropping the last one stops all scripts.
#[derive(Clone)]
pub struct CodeMode(Arc<Session>);

struct Session {
    engine: Box<dyn Engine>,
    limits: ScriptLimits,
    cells: Arc<Cells>,
    store: Store,
    tools: NestedTools,
    abandoned: Abandoned,
}

/// What `wait` asks for.
pub(crate) struct WaitFor {
    pub(crate) cell_id: String,
    pub(crate) yield_time_ms: u64,
    pub(crate) terminate: bool,
}

impl std::fmt::Debug for CodeMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeMode").field("cells", &self.0.cells.len()).finish_non_exhaustive()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for cell in self.cells.close() {
            cell.stop();
        }
    }
}

impl CodeMode {
    /// No cells yet. Scripts may call what `tools` lists when they begin.
    pub fn new(tools: NestedTools) -> Self {
        Self::on(Box::new(QuickJs), ScriptLimits::default(), tools)
    }

    /// As [`new`](Self::new), on another engine or with other limits.
    pub(crate) fn on(engine: Box<dyn Engine>, limits: ScriptLimits, tools: NestedTools) -> Self {
        let (cells, store, abandoned) = (Arc::default(), Store::default(), Abandoned::default());
        Self(Arc::new(Session { engine, limits, cells, store, tools, abandoned }))
    }

    /// The list of tools that scripts may call.
    pub fn tools(&self) -> &NestedTools {
        &self.0.tools
    }

    /// How many threads of scripts were given up and still run.
    pub(crate) fn abandoned_threads(&self) -> usize {
        self.0.abandoned.count()
    }

    /// Lets the ids of cells go on after this number: those of an earlier run of the session then name no cell.
    pub(crate) fn number_cells_after(&self, number: u64) {
        self.0.cells.number_after(number);
    }

    /// Stops all cells and waits for them and their calls; no further cell is begun.
    pub async fn shutdown(&self) {
        let cells = self.0.cells.close();
        for cell in &cells {
            cell.stop();
        }
        for cell in cells {
            cell.terminate().await;
        }
        self.0.cells.freed().await;
    }

    /// Begins a cell and waits for its end, for its script to hand control back, or for `yield_time_ms`. Where the
    /// future is dropped, the cell goes on and can be waited for.
    ///
    /// # Errors
    /// When no script is started.
    pub(crate) async fn exec(
        &self,
        source: String,
        yield_time_ms: u64,
        call: &ToolInvocation,
    ) -> Result<CellReply, FunctionCallError> {
        let asked = Instant::now();
        let observer = self.begin(source, call)?;
        let seen = observer.cell().observe(deadline(asked, yield_time_ms)).await;
        Ok(self.reply(&observer, seen, asked))
    }

    /// Waits for a cell as [`exec`](Self::exec) does, or stops it.
    ///
    /// # Errors
    /// When somebody else waits for it. A cell that is not there is a reply.
    pub(crate) async fn wait(&self, wanted: WaitFor) -> Result<CellReply, FunctionCallError> {
        let asked = Instant::now();
        let WaitFor { cell_id, yield_time_ms, terminate } = wanted;
        let Some(cell) = self.0.cells.get(&cell_id) else { return Ok(not_found(&cell_id, asked)) };
        let observer = Observer::attach(cell, &self.0.cells, terminate).map_err(|busy| busy.of(&cell_id))?;
        let seen = if terminate {
            Seen::Ended(observer.cell().terminate().await)
        } else {
            observer.cell().observe(deadline(asked, yield_time_ms)).await
        };
        Ok(self.reply(&observer, seen, asked))
    }

    fn begin(&self, source: String, call: &ToolInvocation) -> Result<Observer, FunctionCallError> {
        let session = &self.0;
        refuse(&source, self.abandoned_threads())?;
        let (store, abandoned) = (session.store.clone(), session.abandoned.clone());
        let (runtime, questions) = (Handle::current(), call.host.questions.clone());
        let room =
            (MAX_SESSION_BYTES / session.limits.memory_bytes.max(1)).saturating_sub(self.abandoned_threads());
        let cell = session.cells.add(room, |id| Cell::new(id, runtime, store, abandoned, questions))?;
        let observer =
            Observer::attach(Arc::clone(&cell), &session.cells, false).map_err(|busy| busy.of(&cell.id))?;
        let tools = session.tools.snapshot();
        let host = CellHost {
            cell: Arc::clone(&cell),
            tools: Arc::clone(&tools),
            callers: Callers {
                tools: Arc::clone(&call.host.tools),
                progress: Arc::clone(&call.host.progress),
            },
            pending_input: Arc::clone(&call.host.pending_input),
            call_ids: CallIds::new(),
            exec_call_id: call.call_id.clone(),
        };
        let script = Script {
            source,
            tools,
            stored: session.store.snapshot(),
            audio_input: call.step.abilities.audio_input,
            limits: session.limits,
        };
        match session.engine.start(script, Box::new(host)) {
            Ok(running) => cell.runs(running),
            Err(error) => {
                session.cells.remove(&cell.id);
                return Err(FunctionCallError::respond(error.to_string()));
            }
        }
        Ok(observer)
    }

    /// What the observer is told. A cell whose end was told is no more.
    fn reply(&self, observer: &Observer, seen: Seen, asked: Instant) -> CellReply {
        let cell = observer.cell();
        let wall_time = asked.elapsed();
        let outcome = match seen {
            Seen::StillRuns => {
                let status = CellStatus::Running { cell_id: cell.id.clone() };
                return CellReply { status, items: cell.take_yielded(), error: None, wall_time };
            }
            Seen::Ended(outcome) => outcome,
        };
        self.0.cells.remove(&cell.id);
        let (status, error) = match outcome {
            Outcome::Completed => (CellStatus::Completed, None),
            Outcome::Failed(text) => (CellStatus::Failed, Some(text)),
            Outcome::Stopped => (CellStatus::Terminated, None),
        };
        CellReply { status, items: cell.take_output(), error, wall_time }
    }
}

/// Why no script is started.
fn refuse(source: &str, abandoned: usize) -> Result<(), FunctionCallError> {
    if abandoned > MAX_ABANDONED_THREADS {
        return Err(FunctionCallError::respond(format!(
            "exec is refused: {abandoned} scripts before could not be stopped and still run"
        )));
    }
    if source.len() > MAX_SOURCE_BYTES {
        let bytes = source.len();
        let text = format!("the script has {bytes} bytes; exec takes at most {MAX_SOURCE_BYTES}");
        return Err(FunctionCallError::respond(text));
    }
    Ok(())
}

/// None for a time that does not come.
fn deadline(asked: Instant, yield_time_ms: u64) -> Option<Instant> {
    let grace = if yield_time_ms >= GRACE_FROM_MS { GRACE } else { Duration::ZERO };
    asked.checked_add(Duration::from_millis(yield_time_ms))?.checked_add(grace)
}

/// A cell that is not there is no error of the tool (runtime.md C8.6).
fn not_found(cell_id: &str, asked: Instant) -> CellReply {
    CellReply {
        status: CellStatus::Failed,
        items: Vec::new(),
        error: Some(format!("exec cell {cell_id} not found")),
        wall_time: asked.elapsed(),
    }
}

impl Busy {
    fn of(self, cell_id: &str) -> FunctionCallError {
        FunctionCallError::respond(match self {
            Self::Observed => format!("exec cell {cell_id} already has an active observer"),
            Self::Terminating => format!("exec cell {cell_id} is already terminating"),
        })
    }
}

/// What tests look at.
#[cfg(test)]
impl CodeMode {
    pub(super) fn cell(&self, id: &str) -> Option<Arc<Cell>> {
        self.0.cells.get(id)
    }

    pub(super) fn cell_count(&self) -> usize {
        self.0.cells.len()
    }
}
