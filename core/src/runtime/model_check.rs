//! The gate, the claim of a call's one end and its cancellation, in many orders of what threads do between their locks.
//!
//! `cargo test -p tenon-core --lib --features model-check model_check`. What is checked is the code that runs, with
//! shuttle's locks in the place of the standard library's: whole calls, from the gate to their end. Where somebody waits
//! for a wake-up that never comes, shuttle says that all threads are blocked. What others keep under locks of their own
//! (the token of tokio-util, for one) happens at once here.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use shuttle::future::{block_on, yield_now};
use shuttle::thread;
use tenon_protocol::{CallId, ItemStatus, ToolName, TurnItem};
use tenon_tools::{
    AbortedToolOutput, Effects, Event, EventSink, FunctionCallError, FunctionToolOutput, Host, JsonSchema,
    LifecycleOutcome, PreparedCall, ShownAs, ToolCall, ToolCallSource, ToolExecutor, ToolInvocation,
    ToolOutput, ToolPayload, ToolSpec,
};
use tokio_util::sync::CancellationToken;

use super::ToolCallRuntime;
use super::gate::{Gate, GateMode};
use super::testing::runtime_of;

/// Orders that are tried at random, and again with few changes of the thread that runs.
const ORDERS: usize = 1_000;
/// The most changes of those.
const CHANGES: usize = 3;

fn check(model: impl Fn() + Send + Sync + Clone + 'static) {
    shuttle::check_random(model.clone(), ORDERS);
    shuttle::check_pct(model, ORDERS, CHANGES);
}

/// How many are where only parallel calls may be together.
#[derive(Default)]
struct Inside {
    parallel: AtomicUsize,
    exclusive: AtomicUsize,
}

impl Inside {
    fn enter(&self, mode: GateMode) {
        let counter = self.counter(mode);
        counter.fetch_add(1, Ordering::SeqCst);
        let (parallel, exclusive) =
            (self.parallel.load(Ordering::SeqCst), self.exclusive.load(Ordering::SeqCst));
        assert!(exclusive == 0 || (exclusive == 1 && parallel == 0), "{exclusive} beside {parallel}");
    }

    fn leave(&self, mode: GateMode) {
        self.counter(mode).fetch_sub(1, Ordering::SeqCst);
    }

    fn counter(&self, mode: GateMode) -> &AtomicUsize {
        match mode {
            GateMode::Parallel => &self.parallel,
            GateMode::Exclusive => &self.exclusive,
        }
    }
}

#[test]
fn the_gate_wakes_everybody_and_keeps_exclusive_calls_alone() {
    const MODES: [GateMode; 5] = [
        GateMode::Parallel,
        GateMode::Exclusive,
        GateMode::Parallel,
        GateMode::Exclusive,
        GateMode::Parallel,
    ];
    check(|| {
        let (gate, inside) = (Gate::default(), Arc::new(Inside::default()));
        // The first exclusive one leaves the queue, or the gate, at any moment.
        let given_up = 1;
        let threads: Vec<_> = MODES
            .into_iter()
            .enumerate()
            .map(|(at, mode)| {
                let (mut ticket, inside) = (gate.enter(mode), Arc::clone(&inside));
                thread::spawn(move || {
                    if at == given_up {
                        return;
                    }
                    block_on(ticket.admitted());
                    inside.enter(mode);
                    thread::yield_now();
                    inside.leave(mode);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        block_on(gate.enter(GateMode::Exclusive).admitted());
    });
}

/// What a tool does when it runs.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    /// Works for a while.
    Work,
    /// Waits for its cancellation and answers itself.
    TearDown,
    /// Works, and has an item of its own that another thread completes.
    OwnItem,
}

struct Tool {
    name: ToolName,
    mode: GateMode,
    does: Does,
    inside: Arc<Inside>,
    done: Arc<AtomicUsize>,
}

struct Prepared {
    effects: Effects,
    mode: GateMode,
    does: Does,
    inside: Arc<Inside>,
    done: Arc<AtomicUsize>,
}

#[async_trait]
impl ToolExecutor for Tool {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function(self.name.name(), "Does what it is told.", JsonSchema::object([], &[]))
    }

    fn parallel(&self) -> bool {
        self.mode == GateMode::Parallel
    }

    fn waits_for_cancellation(&self) -> bool {
        self.does == Does::TearDown
    }

    async fn prepare(&self, _: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        Ok(Box::new(Prepared {
            effects: Effects::none(),
            mode: self.mode,
            does: self.does,
            inside: Arc::clone(&self.inside),
            done: Arc::clone(&self.done),
        }))
    }
}

/// Is inside as long as it lives, so that a call that is dropped leaves too.
struct Visit(Arc<Inside>, GateMode);

impl Visit {
    fn of(inside: &Arc<Inside>, mode: GateMode) -> Self {
        inside.enter(mode);
        Self(Arc::clone(inside), mode)
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.leave(self.1);
    }
}

fn own_item(id: &str) -> TurnItem {
    TurnItem::CommandExecution {
        id: id.to_owned(),
        command: vec!["true".to_owned()],
        aggregated_output: String::new(),
        exit_code: None,
        status: ItemStatus::InProgress,
    }
}

#[async_trait]
impl PreparedCall for Prepared {
    fn effects(&self) -> &Effects {
        &self.effects
    }

    fn shown_as(&self) -> ShownAs {
        match self.does {
            Does::OwnItem => ShownAs::Item(own_item("call_0")),
            Does::Work | Does::TearDown => ShownAs::Generic,
        }
    }

    async fn run(self: Box<Self>, call: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        let _visit = Visit::of(&self.inside, self.mode);
        match self.does {
            Does::Work => yield_now().await,
            Does::TearDown => {
                call.cancellation.cancelled().await;
                yield_now().await;
                self.done.fetch_add(1, Ordering::SeqCst);
                return Ok(Box::new(AbortedToolOutput { message: "torn down".to_owned() }));
            }
            Does::OwnItem => {
                let events = Arc::clone(&call.host.events);
                thread::spawn(move || {
                    events.emit(Event::ItemCompleted(own_item("call_0").with_status(ItemStatus::Completed)));
                });
                yield_now().await;
            }
        }
        self.done.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(FunctionToolOutput::from_text("ok", Some(true))))
    }
}

/// What a client and the observers were told.
#[derive(Default)]
struct Told {
    started: AtomicUsize,
    completed: AtomicUsize,
    ended: AtomicUsize,
}

impl EventSink for Told {
    fn emit(&self, event: Event) {
        let counter = match event {
            Event::ItemStarted(_) => &self.started,
            Event::ItemCompleted(_) => &self.completed,
            Event::CallEnded { .. } => &self.ended,
            _ => return,
        };
        counter.fetch_add(1, Ordering::SeqCst);
    }
}

impl Told {
    fn counts(&self) -> [usize; 3] {
        [&self.started, &self.completed, &self.ended].map(|counter| counter.load(Ordering::SeqCst))
    }
}

/// A runtime with one tool.
struct World {
    runtime: ToolCallRuntime,
    told: Arc<Told>,
    done: Arc<AtomicUsize>,
}

fn world(mode: GateMode, does: Does) -> World {
    let (told, done) = (Arc::new(Told::default()), Arc::new(AtomicUsize::new(0)));
    let inside = Arc::new(Inside::default());
    let tool = Tool { name: ToolName::plain("tool"), mode, does, inside, done: Arc::clone(&done) };
    let host = Host { events: Arc::clone(&told) as _, ..Host::detached() };
    let runtime = runtime_of(Arc::new(tool), host);
    World { runtime, told, done }
}

/// Hands over so many calls in order, each to be polled by a thread of its own, and cancels one meanwhile. Gives the
/// outcomes.
fn run(world: &World, calls: usize, cancelled: usize) -> Vec<LifecycleOutcome> {
    let tokens: Vec<_> = (0..calls).map(|_| CancellationToken::new()).collect();
    let threads: Vec<_> = tokens
        .iter()
        .enumerate()
        .map(|(at, token)| {
            let call = ToolCall {
                tool_name: ToolName::plain("tool"),
                call_id: CallId::from(format!("call_{at}")),
                payload: ToolPayload::Function { arguments: "{}".to_owned() },
                encrypted_function_args: None,
            };
            let end = world.runtime.run_in_place(call, ToolCallSource::Direct, token.clone());
            thread::spawn(move || block_on(end).outcome)
        })
        .collect();
    if let Some(token) = tokens.get(cancelled).cloned() {
        thread::spawn(move || token.cancel()).join().unwrap();
    }
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

const COMPLETED: LifecycleOutcome = LifecycleOutcome::Completed { success: true };

#[test]
fn a_cancelled_call_has_one_end_and_a_result_that_is_there_stays() {
    check(|| {
        let world = world(GateMode::Parallel, Does::Work);
        let outcomes = run(&world, 1, 0);
        let done = world.done.load(Ordering::SeqCst);
        let expected = if done == 1 { COMPLETED } else { LifecycleOutcome::Aborted };
        assert_eq!(outcomes, [expected]);
        let [started, completed, ended] = world.told.counts();
        assert_eq!((completed, ended), (1, 1));
        assert!(started <= 1);
    });
}

#[test]
fn a_tool_that_waits_for_its_teardown_answers_itself_once_it_runs() {
    check(|| {
        let world = world(GateMode::Parallel, Does::TearDown);
        let outcomes = run(&world, 1, 0);
        assert_eq!(outcomes, [LifecycleOutcome::Aborted]);
        let [started, completed, ended] = world.told.counts();
        assert_eq!((completed, ended), (1, 1));
        // It has run to its end, or never begun.
        assert_eq!(world.done.load(Ordering::SeqCst), started);
    });
}

#[test]
fn an_item_that_another_thread_completes_is_completed_once() {
    check(|| {
        let world = world(GateMode::Parallel, Does::OwnItem);
        run(&world, 1, 0);
        let [_, completed, ended] = world.told.counts();
        assert_eq!(ended, 1);
        // The other thread may still be on its way: what it says comes once, and nothing comes twice.
        assert!(completed <= 1);
    });
}

#[test]
fn a_call_that_is_cancelled_at_the_gate_holds_nobody_up() {
    check(|| {
        let world = world(GateMode::Exclusive, Does::Work);
        let outcomes = run(&world, 3, 1);
        assert_eq!((outcomes[0], outcomes[2]), (COMPLETED, COMPLETED));
        let aborted = usize::from(outcomes[1] == LifecycleOutcome::Aborted);
        assert_eq!(world.done.load(Ordering::SeqCst), 3 - aborted);
        let [_, completed, ended] = world.told.counts();
        assert_eq!((completed, ended), (3, 3));
    });
}
