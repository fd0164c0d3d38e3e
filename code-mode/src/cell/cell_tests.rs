//! Cells from their beginning to their end, with scripts that really run.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tenon_protocol::{CallFact, CallOutcome, FunctionCallOutputContentItem, ResponseInputItem, ToolName};
use tenon_tools::{
    FunctionCallError, PendingInput, PendingInputError, Progress, ToolCall, ToolCallSource, ToolCaller,
    ToolInvocation, ToolPayload,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::cell::Seen;
use super::{CodeMode, WaitFor};
use crate::engine::testing;
use crate::engine::{Engine, Outcome, RunningScript, Script, ScriptEnd, ScriptHost, StartError, Stored};
use crate::limits::{MAX_ABANDONED_THREADS, MAX_IDLE_CELLS, MAX_SOURCE_BYTES, STOP_DEADLINE, ScriptLimits};
use crate::nested_tool::NestedTools;
use crate::reply::{CellReply, CellStatus};

/// Longer than anything here takes.
const LONG_MS: u64 = 60_000;

/// Answers nested calls: `{"do": "hang" | "wait" | "fail" | "fatal"}`, else with its own arguments.
#[derive(Default)]
struct Tools {
    calls: Mutex<Vec<(ToolCall, ToolCallSource)>>,
    called: Notify,
    /// Lets one call go on.
    release: Notify,
    torn_down: Mutex<usize>,
}

#[async_trait]
impl ToolCaller for Tools {
    async fn call(
        &self,
        call: ToolCall,
        source: ToolCallSource,
        cancellation: CancellationToken,
    ) -> Result<Value, FunctionCallError> {
        let payload = call.payload.clone();
        self.calls.lock().unwrap().push((call, source));
        self.called.notify_waiters();
        let arguments: Value = match &payload {
            ToolPayload::Function { arguments } => serde_json::from_str(arguments).unwrap(),
            other => json!(other.log_payload()),
        };
        match arguments["do"].as_str() {
            Some("fail") => return Err("did not work".into()),
            Some("fatal") => return Err(FunctionCallError::Fatal("broken".to_owned())),
            Some("wait") => self.release.notified().await,
            Some("hang") => {
                cancellation.cancelled().await;
                tokio::task::yield_now().await;
                *self.torn_down.lock().unwrap() += 1;
            }
            _ => {}
        }
        Ok(arguments)
    }
}

impl Tools {
    async fn until_called(&self, times: usize) {
        loop {
            let called = self.called.notified();
            if self.calls.lock().unwrap().len() >= times {
                return;
            }
            called.await;
        }
    }
}

#[derive(Default)]
struct Facts(Mutex<Vec<CallFact>>);

impl Progress for Facts {
    fn record(&self, fact: CallFact) {
        self.0.lock().unwrap().push(fact);
    }
}

/// Takes so many notes, or says why it takes none.
struct Notes {
    room: usize,
    refusal: PendingInputError,
    items: Mutex<Vec<ResponseInputItem>>,
}

impl PendingInput for Notes {
    fn add(&self, item: ResponseInputItem) -> Result<(), PendingInputError> {
        let mut items = self.items.lock().unwrap();
        if items.len() >= self.room {
            return Err(self.refusal);
        }
        items.push(item);
        Ok(())
    }
}

impl Notes {
    fn with_room(room: usize, refusal: PendingInputError) -> Arc<Self> {
        Arc::new(Self { room, refusal, items: Mutex::default() })
    }
}

/// A session's code mode, with what its host has heard.
struct Bench {
    code_mode: CodeMode,
    tools: Arc<Tools>,
    facts: Arc<Facts>,
    notes: Arc<Notes>,
    call: ToolInvocation,
}

impl Bench {
    fn new() -> Self {
        Self::on(CodeMode::new(NestedTools::default()))
    }

    fn on(code_mode: CodeMode) -> Self {
        code_mode.tools().replace(testing::tools());
        let (tools, facts) = (Arc::new(Tools::default()), Arc::new(Facts::default()));
        let notes = Notes::with_room(usize::MAX, PendingInputError::Full);
        let payload = ToolPayload::Custom { input: String::new() };
        let mut call = ToolInvocation::detached(ToolName::plain("exec"), payload);
        call.host.tools = Arc::clone(&tools) as _;
        call.host.pending_input = Arc::clone(&notes) as _;
        call.host.progress = Arc::clone(&facts) as _;
        Self { code_mode, tools, facts, notes, call }
    }

    async fn exec_for(&self, source: &str, yield_time_ms: u64) -> Result<CellReply, FunctionCallError> {
        self.code_mode.exec(source.to_owned(), yield_time_ms, &self.call).await
    }

    async fn exec(&self, source: &str) -> (CellStatus, Vec<String>, Option<String>) {
        told(self.exec_for(source, LONG_MS).await.unwrap())
    }

    async fn wait_as(
        &self,
        cell_id: &str,
        yield_time_ms: u64,
        terminate: bool,
    ) -> Result<CellReply, FunctionCallError> {
        self.code_mode.wait(WaitFor { cell_id: cell_id.to_owned(), yield_time_ms, terminate }).await
    }

    async fn wait(&self, cell_id: &str) -> (CellStatus, Vec<String>, Option<String>) {
        told(self.wait_as(cell_id, LONG_MS, false).await.unwrap())
    }

    async fn terminate(&self, cell_id: &str) -> (CellStatus, Vec<String>, Option<String>) {
        told(self.wait_as(cell_id, LONG_MS, true).await.unwrap())
    }
}

fn told(reply: CellReply) -> (CellStatus, Vec<String>, Option<String>) {
    let texts =
        reply.items.iter().filter_map(FunctionCallOutputContentItem::as_text).map(str::to_owned).collect();
    (reply.status, texts, reply.error)
}

fn said(status: CellStatus, texts: &[&str]) -> (CellStatus, Vec<String>, Option<String>) {
    (status, texts.iter().map(|text| (*text).to_owned()).collect(), None)
}

fn running(cell_id: &str) -> CellStatus {
    CellStatus::Running { cell_id: cell_id.to_owned() }
}

fn not_found(cell_id: &str) -> (CellStatus, Vec<String>, Option<String>) {
    (CellStatus::Failed, vec![], Some(format!("exec cell {cell_id} not found")))
}

const HANG: &str = "await new Promise(r => setTimeout(r, 1e9))";

#[tokio::test]
async fn a_cell_is_told_of_once() {
    let bench = Bench::new();
    assert_eq!(bench.exec("text('a')").await, said(CellStatus::Completed, &["a"]));
    assert_eq!(bench.wait("1").await, not_found("1"));
    let failed = bench.exec("text('b'); throw 'no'").await;
    assert_eq!(failed, (CellStatus::Failed, vec!["b".to_owned()], Some("no".to_owned())));
    for odd in ["", "nope", "02", "-1", "99999999999999999999999"] {
        assert_eq!(bench.wait(odd).await, not_found(odd));
    }
}

#[tokio::test]
async fn a_script_that_hands_control_back_goes_on_and_is_read_later() {
    let bench = Bench::new();
    let source = "text('one'); yield_control(); await tools.echo({do: 'wait'}); text('two'); yield_control(); text('three')";
    assert_eq!(bench.exec(source).await, said(running("1"), &["one"]));
    bench.tools.release.notify_one();
    assert_eq!(bench.wait("1").await, said(running("1"), &["two"]));
    assert_eq!(bench.wait("1").await, said(CellStatus::Completed, &["three"]));
    assert_eq!(bench.wait("1").await, not_found("1"));
}

#[tokio::test]
async fn the_time_to_yield_leaves_the_script_alone() {
    let bench = Bench::new();
    let first = told(bench.exec_for(&format!("text('a'); {HANG}"), 0).await.unwrap());
    assert_eq!(first.0, running("1"));
    let second = told(bench.wait_as("1", 5, false).await.unwrap());
    assert_eq!(second.0, running("1"));
    let (status, texts, error) = bench.terminate("1").await;
    assert_eq!((status, error), (CellStatus::Terminated, None));
    assert_eq!([first.1, second.1, texts].concat(), ["a"]);
}

/// C8.14.
#[tokio::test]
async fn a_reply_is_held_while_a_call_of_the_script_waits_for_an_answer() {
    let bench = Bench::new();
    let ask = |cell_id: &str| {
        let source = ToolCallSource::CodeMode {
            cell_id: cell_id.to_owned(),
            runtime_tool_call_id: "tool-1".to_owned(),
        };
        bench.call.host.questions.open(&source)
    };
    let another = ask("2");
    assert_eq!(bench.exec(&format!("yield_control(); {HANG}")).await.0, running("1"));
    drop(another);
    let question = ask("2");
    let source = "text('a'); yield_control(); await tools.echo({do: 'wait'}); text('b'); await tools.echo({do: 'wait'})";
    let mut exec = Box::pin(bench.exec(source));
    tokio::select! {
        biased;
        reply = &mut exec => panic!("{reply:?}"),
        () = bench.tools.until_called(1) => {}
    }
    assert!(futures_poll(&mut exec).await, "the script has handed control back, but somebody is asked");
    drop(question);
    assert_eq!(exec.await, said(running("2"), &["a"]));
    // The time to yield does not end it either, and what has ended is told at once.
    let question = ask("2");
    let mut wait = Box::pin(bench.wait_as("2", 0, false));
    assert!(futures_poll(&mut wait).await);
    bench.tools.release.notify_one();
    bench.tools.until_called(2).await;
    assert!(futures_poll(&mut wait).await);
    bench.tools.release.notify_one();
    assert_eq!(bench.code_mode.cell("2").unwrap().look_until(None).await, Seen::Ended(Outcome::Completed));
    drop(question);
    assert_eq!(told(wait.await.unwrap()), said(CellStatus::Completed, &["b"]));
    let _question = ask("1");
    assert_eq!(bench.terminate("1").await, said(CellStatus::Terminated, &[]));
}

#[tokio::test]
async fn a_result_that_nobody_read_is_kept_and_wins_over_a_terminate() {
    let bench = Bench::new();
    assert_eq!(bench.exec("yield_control(); text('late')").await.0, running("1"));
    let cell = bench.code_mode.cell("1").unwrap();
    assert_eq!(cell.observe(None).await, Seen::Ended(Outcome::Completed));
    assert_eq!(bench.terminate("1").await, said(CellStatus::Completed, &["late"]));
    assert_eq!(bench.terminate("1").await, not_found("1"));
}

#[tokio::test]
async fn one_observer_at_a_time_and_one_that_goes_makes_room() {
    let bench = Arc::new(Bench::new());
    assert_eq!(bench.exec(&format!("yield_control(); {HANG}")).await.0, running("1"));
    {
        let mut first = Box::pin(bench.wait_as("1", LONG_MS, false));
        assert!(futures_poll(&mut first).await);
        let busy = bench.wait_as("1", 0, false).await.unwrap_err();
        assert_eq!(busy.text(), "exec cell 1 already has an active observer");
    }
    let again = told(bench.wait_as("1", 0, false).await.unwrap());
    assert_eq!(again, said(running("1"), &[]));
    assert_eq!(bench.terminate("1").await, said(CellStatus::Terminated, &[]));
}

/// Polls once; whether it is pending.
async fn futures_poll<F: Future + Unpin>(future: &mut F) -> bool {
    std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx).is_pending()))
        .await
}

#[tokio::test]
async fn an_exec_that_is_dropped_leaves_its_cell_running() {
    let bench = Bench::new();
    {
        let mut exec =
            Box::pin(bench.exec_for("text('a'); await tools.echo({do: 'wait'}); text('b')", LONG_MS));
        assert!(futures_poll(&mut exec).await);
    }
    bench.tools.release.notify_one();
    assert_eq!(bench.wait("1").await, said(CellStatus::Completed, &["a", "b"]));
}

#[tokio::test]
async fn calls_are_built_as_the_tool_takes_them() {
    let bench = Bench::new();
    let source = "text(await tools.echo({a: 1})); text(await tools.echo()); text(await tools.patch('p'));
        for (const bad of [null, [1], 'x', 1]) try { await tools.echo(bad) } catch (e) { text(e) }
        for (const bad of [undefined, {}, 1]) try { await tools.patch(bad) } catch (e) { text(e) }
        try { await tools.patch('\\ud800') } catch (e) { text(e.split(':')[0]) }
        for (const bad of ['fail', 'fatal']) try { await tools.echo({do: bad}) } catch (e) { text(typeof e + e) }";
    let object = "tool `echo` expects a JSON object for arguments";
    let string = "tool `patch` expects a string input";
    let surrogate = "failed to serialize JavaScript value";
    let expected = [
        "{\"a\":1}",
        "{}",
        "p",
        object,
        object,
        object,
        object,
        string,
        string,
        string,
        surrogate,
        "stringdid not work",
        "stringbroken",
    ];
    assert_eq!(bench.exec(source).await, said(CellStatus::Completed, &expected));
    let calls = bench.tools.calls.lock().unwrap();
    let sources: Vec<_> = calls.iter().map(|(_, source)| source.clone()).collect();
    let from = |n: u64| ToolCallSource::CodeMode {
        cell_id: "1".to_owned(),
        runtime_tool_call_id: format!("tool-{n}"),
    };
    assert_eq!(sources, [from(1), from(2), from(3), from(12), from(13)]);
    for (call, _) in calls.iter() {
        let id = call.call_id.as_str().strip_prefix("exec-").unwrap();
        assert_eq!(uuid::Uuid::parse_str(id).unwrap().get_version_num(), 4);
    }
}

#[tokio::test]
async fn the_journal_hears_of_each_call_when_it_begins_and_ends() {
    let bench = Bench::new();
    let source = "await tools.echo({}); try { await tools.echo({do: 'fail'}) } catch {} tools.echo({do: 'hang'}); await 0";
    assert_eq!(bench.exec(source).await.0, CellStatus::Completed);
    let calls = bench.tools.calls.lock().unwrap();
    let fact = |n: usize, outcome| CallFact::Nested {
        tool: "echo".to_owned(),
        call_id: calls[n].0.call_id.clone(),
        outcome,
    };
    let expected = vec![
        fact(0, None),
        fact(0, Some(CallOutcome::Completed)),
        fact(1, None),
        fact(1, Some(CallOutcome::Failed)),
        fact(2, None),
        fact(2, Some(CallOutcome::Aborted)),
    ];
    assert_eq!(*bench.facts.0.lock().unwrap(), expected);
}

#[tokio::test]
async fn calls_that_still_run_at_the_end_are_cancelled_and_awaited() {
    for (source, status) in [
        ("tools.echo({do: 'hang'}); tools.echo({do: 'hang'}); await 0", CellStatus::Completed),
        ("tools.echo({do: 'hang'}); tools.echo({do: 'hang'}); throw 1", CellStatus::Failed),
    ] {
        let bench = Bench::new();
        assert_eq!(bench.exec(source).await.0, status);
        assert_eq!(*bench.tools.torn_down.lock().unwrap(), 2);
    }
    let bench = Bench::new();
    let source = "tools.echo({do: 'hang'}); yield_control(); await tools.echo({do: 'hang'})";
    assert_eq!(bench.exec(source).await.0, running("1"));
    bench.tools.until_called(2).await;
    assert_eq!(bench.terminate("1").await, said(CellStatus::Terminated, &[]));
    assert_eq!(*bench.tools.torn_down.lock().unwrap(), 2);
}

#[tokio::test]
async fn notes_carry_the_id_of_the_exec_call() {
    let bench = Bench::new();
    assert_eq!(
        bench.exec("notify('one'); notify({two: 2}); text('x')").await,
        said(CellStatus::Completed, &["x"])
    );
    let items = bench.notes.items.lock().unwrap();
    let brief: Vec<Value> = items
        .iter()
        .map(|item| serde_json::to_value(tenon_protocol::ResponseItem::from(item.clone())).unwrap())
        .collect();
    let note = |text: &str| json!({"type": "custom_tool_call_output", "call_id": "call", "name": "exec", "output": text});
    assert_eq!(brief, [note("one"), note("{\"two\":2}")]);
}

#[tokio::test]
async fn a_note_that_no_turn_takes_is_swallowed() {
    let mut bench = Bench::new();
    bench.call.host.pending_input = Notes::with_room(0, PendingInputError::NoActiveTurn);
    assert_eq!(bench.exec("notify('one'); text('x')").await, said(CellStatus::Completed, &["x"]));
}

#[tokio::test]
async fn a_note_for_which_there_is_no_room_throws() {
    let mut bench = Bench::new();
    let notes = Notes::with_room(2, PendingInputError::Full);
    bench.call.host.pending_input = Arc::clone(&notes) as _;
    let text = "failed to inject exec notify message for cell 1: too many items wait for the next request";
    let source = "notify('one'); notify('two'); try { notify('three') } catch (e) { text(e) }";
    assert_eq!(bench.exec(source).await, said(CellStatus::Completed, &[text]));
    assert_eq!(notes.items.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn stored_values_are_kept_of_what_ended_by_itself() {
    let bench = Bench::new();
    assert_eq!(bench.exec("store('a', 1); store('b', 1)").await.0, CellStatus::Completed);
    assert_eq!(bench.exec("store('b', 2); throw 1").await.0, CellStatus::Failed);
    let source = format!("store('a', 3); yield_control(); {HANG}");
    assert_eq!(bench.exec(&source).await.0, running("3"));
    assert_eq!(bench.exec("text([load('a'), load('b')])").await, said(CellStatus::Completed, &["[1,2]"]));
    assert_eq!(bench.terminate("3").await.0, CellStatus::Terminated);
    assert_eq!(bench.exec("text([load('a'), load('b')])").await, said(CellStatus::Completed, &["[1,2]"]));
}

#[tokio::test]
async fn a_cell_reads_what_was_stored_when_it_began_and_the_last_to_end_wins() {
    let bench = Bench::new();
    let slow = "store('k', 'slow'); yield_control(); await tools.echo({do: 'wait'}); text(load('k')); text(load('other'))";
    assert_eq!(bench.exec(slow).await.0, running("1"));
    assert_eq!(bench.exec("store('k', 'quick'); store('other', 1)").await.0, CellStatus::Completed);
    bench.tools.release.notify_one();
    assert_eq!(bench.wait("1").await, said(CellStatus::Completed, &["slow", "undefined"]));
    assert_eq!(
        bench.exec("text([load('k'), load('other')])").await,
        said(CellStatus::Completed, &["[\"slow\",1]"])
    );
}

#[tokio::test]
async fn the_oldest_idle_cell_makes_room_for_one_more() {
    let bench = Bench::new();
    let yields = format!("yield_control(); {HANG}");
    for id in 1..=MAX_IDLE_CELLS {
        assert_eq!(bench.exec(&yields).await.0, running(&id.to_string()));
    }
    // Whoever is looked at again is no longer the oldest.
    assert_eq!(told(bench.wait_as("1", 0, false).await.unwrap()).0, running("1"));
    assert_eq!(bench.code_mode.cell_count(), MAX_IDLE_CELLS);
    let next = (MAX_IDLE_CELLS + 1).to_string();
    assert_eq!(bench.exec(&yields).await.0, running(&next));
    assert_eq!(bench.code_mode.cell_count(), MAX_IDLE_CELLS);
    assert_eq!(bench.wait("2").await, not_found("2"));
    for id in ["1", "3", &next] {
        assert_eq!(bench.terminate(id).await.0, CellStatus::Terminated, "{id}");
    }
    bench.code_mode.shutdown().await;
}

#[tokio::test]
async fn a_hundred_cells_that_nobody_reads_are_no_more_than_may_be_left() {
    let bench = Bench::new();
    for _ in 0..100 {
        bench.exec("yield_control(); text('x')").await;
    }
    assert!(bench.code_mode.cell_count() <= MAX_IDLE_CELLS);
    bench.code_mode.shutdown().await;
}

#[tokio::test]
async fn a_session_that_shuts_down_stops_its_cells_and_begins_none() {
    let bench = Bench::new();
    assert_eq!(bench.exec("yield_control(); await tools.echo({do: 'hang'})").await.0, running("1"));
    bench.tools.until_called(1).await;
    bench.code_mode.shutdown().await;
    assert_eq!(*bench.tools.torn_down.lock().unwrap(), 1);
    assert_eq!(bench.wait("1").await, not_found("1"));
    let refused = bench.exec_for("text(1)", 0).await.unwrap_err();
    assert_eq!(refused.text(), "code mode session is shutting down");
}

#[tokio::test]
async fn dropping_a_session_stops_its_scripts() {
    let bench = Bench::new();
    assert_eq!(bench.exec("yield_control(); for (;;) await 0").await.0, running("1"));
    let cell = bench.code_mode.cell("1").unwrap();
    drop(bench);
    assert_eq!(cell.terminate().await, Outcome::Stopped);
}

#[tokio::test]
async fn as_long_a_source_as_there_may_be() {
    let bench = Bench::new();
    let longest = format!("text(1)//{}", "x".repeat(MAX_SOURCE_BYTES - 9));
    assert_eq!(longest.len(), MAX_SOURCE_BYTES);
    assert_eq!(bench.exec(&longest).await, said(CellStatus::Completed, &["1"]));
    let refused = bench.exec_for(&format!("{longest}x"), 0).await.unwrap_err();
    assert_eq!(refused.text(), "the script has 1048577 bytes; exec takes at most 1048576");
}

/// An engine whose scripts take no notice of being stopped until they are let go.
struct Stubborn(Arc<(Mutex<bool>, std::sync::Condvar)>);

impl Stubborn {
    fn let_go(lock: &(Mutex<bool>, std::sync::Condvar)) {
        *lock.0.lock().unwrap() = true;
        lock.1.notify_all();
    }
}

impl Engine for Stubborn {
    fn start(&self, script: Script, host: Box<dyn ScriptHost>) -> Result<RunningScript, StartError> {
        let lock = Arc::clone(&self.0);
        let running = RunningScript::detached();
        std::thread::spawn(move || {
            host.put_out(FunctionCallOutputContentItem::InputText { text: script.source });
            host.yield_control();
            drop(lock.1.wait_while(lock.0.lock().unwrap(), |go| !*go).unwrap());
            host.put_out(FunctionCallOutputContentItem::InputText { text: "too late".to_owned() });
            host.ended(ScriptEnd { outcome: Outcome::Completed, writes: Stored::new() });
        });
        Ok(running)
    }
}

#[tokio::test]
async fn a_thread_that_does_not_stop_is_given_up_and_counted_and_past_two_no_script_begins() {
    let lock = Arc::default();
    let engine = Box::new(Stubborn(Arc::clone(&lock)));
    let bench = Bench::on(CodeMode::on(engine, ScriptLimits::default(), NestedTools::default()));
    for n in 1..=MAX_ABANDONED_THREADS + 1 {
        let id = n.to_string();
        assert_eq!(bench.exec("stuck").await, said(running(&id), &["stuck"]));
        let began = std::time::Instant::now();
        assert_eq!(bench.terminate(&id).await, said(CellStatus::Terminated, &[]));
        assert!(began.elapsed() >= STOP_DEADLINE);
        assert_eq!(bench.code_mode.abandoned_threads(), n);
    }
    let refused = bench.exec_for("text(1)", 0).await.unwrap_err();
    assert_eq!(refused.text(), "exec is refused: 3 scripts before could not be stopped and still run");
    Stubborn::let_go(&lock);
    while bench.code_mode.abandoned_threads() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(bench.exec("on").await.1[0], "on");
}

#[tokio::test]
async fn native_work_that_cannot_be_stopped_does_not_hold_up_terminate() {
    let bench = Bench::new();
    let source = "yield_control(); Array.prototype.reverse.call({length: 2 ** 53 - 1})";
    assert_eq!(bench.exec(source).await.0, running("1"));
    assert_eq!(bench.terminate("1").await, said(CellStatus::Terminated, &[]));
    assert_eq!(bench.code_mode.abandoned_threads(), 1);
    assert_eq!(bench.exec("text('on')").await, said(CellStatus::Completed, &["on"]));
}

#[tokio::test]
async fn a_script_does_not_wait_for_a_runtime_that_is_gone() {
    let (code_mode, cell) = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::new();
            let source = "yield_control(); await tools.echo({do: 'wait'}).catch(e => store('e', e))";
            assert_eq!(bench.exec(source).await.0, running("1"));
            bench.tools.until_called(1).await;
            let cell = bench.code_mode.cell("1").unwrap();
            (bench.code_mode, cell)
        })
    })
    .join()
    .unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(30), cell.observe(None));
    assert!(ended.await.is_ok());
    drop(code_mode);
}

#[path = "cases_tests.rs"]
mod cases;
