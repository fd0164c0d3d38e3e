//! What a cell costs beside the bare engine doing the same on one thread.
//!
//! `cargo bench -p tenon-code-mode`; with `-- WORDS`, only the cases whose names hold them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, missing_docs)]

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rquickjs::function::Opt;
use rquickjs::{Context, Ctx, Function, Module, Object, Runtime, Value};
use tenon_code_mode::{CodeMode, ExecTool, NestedTools};
use tenon_protocol::ToolName;
use tenon_tools::{
    FunctionCallError, JsonSchema, PreparedCall, ToolCall, ToolCallSource, ToolCaller, ToolExecutor,
    ToolInvocation, ToolPayload, ToolSpec,
};
use tokio_util::sync::CancellationToken;

const TOOLS: usize = 20;
const DESCRIPTION_BYTES: usize = 1024;
const ROUNDS: usize = 60;
/// Set for the child that keeps cells idle: how many.
const IDLE: &str = "TENON_BENCH_IDLE_CELLS";

const EMPTY: &str = "const x = 1;";
const SEQUENTIAL: &str = "for (let i = 0; i < 1000; i++) await tools.t0({})";
const AT_ONCE: &str = "await Promise.all(Array.from({length: 1000}, () => tools.t0({})))";
const MANY: &str = "await Promise.all(Array.from({length: 10000}, () => tools.t0({})))";

/// A tool that does nothing: what is left is the way there and back.
struct NoOp;

#[async_trait]
impl ToolCaller for NoOp {
    async fn call(
        &self,
        _: ToolCall,
        _: ToolCallSource,
        _: CancellationToken,
    ) -> Result<serde_json::Value, FunctionCallError> {
        Ok(serde_json::Value::Object(serde_json::Map::new()))
    }
}

/// A tool that scripts can call by its name.
struct Listed(ToolName);

#[async_trait]
impl ToolExecutor for Listed {
    fn name(&self) -> &ToolName {
        &self.0
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec::function(self.0.name(), "x".repeat(DESCRIPTION_BYTES), JsonSchema::object([], &[]))
    }

    async fn prepare(&self, _: &ToolInvocation) -> Result<Box<dyn PreparedCall>, FunctionCallError> {
        Err("only listed".into())
    }
}

fn tools() -> Vec<Arc<dyn ToolExecutor>> {
    (0..TOOLS).map(|n| Arc::new(Listed(ToolName::plain(format!("t{n}")))) as Arc<dyn ToolExecutor>).collect()
}

/// The engine alone: runtime, context, module, and for each call a promise that is settled on the next turn.
fn bare(source: &str) {
    let runtime = Runtime::new().unwrap();
    let context = Context::full(&runtime).unwrap();
    context.with(|ctx| {
        let waiting: Rc<RefCell<Vec<(Function<'_>, Function<'_>)>>> = Rc::default();
        let tools = Object::new(ctx.clone()).unwrap();
        tools.set("t0", call(&ctx, Rc::clone(&waiting))).unwrap();
        ctx.globals().set("tools", tools).unwrap();
        let (_, promise) = Module::declare(ctx.clone(), "bare.mjs", source).unwrap().eval().unwrap();
        loop {
            while ctx.execute_pending_job() {}
            if promise.result::<Value<'_>>().is_some() {
                break;
            }
            for (resolve, _reject) in std::mem::take(&mut *waiting.borrow_mut()) {
                let value = ctx.json_parse("{}").unwrap();
                resolve.call::<_, ()>((value,)).unwrap();
            }
        }
    });
}

fn call<'js>(ctx: &Ctx<'js>, waiting: Rc<RefCell<Vec<(Function<'js>, Function<'js>)>>>) -> Function<'js> {
    let called = move |ctx: Ctx<'js>, argument: Opt<Value<'js>>| -> rquickjs::Result<Value<'js>> {
        let json = argument.0.map(|value| ctx.json_stringify(value)).transpose()?.flatten();
        std::hint::black_box(json.map(|json| json.to_string()).transpose()?);
        let (promise, resolve, reject) = ctx.promise()?;
        waiting.borrow_mut().push((resolve, reject));
        Ok(promise.into_value())
    };
    Function::new(ctx.clone(), called).unwrap()
}

struct Cells {
    exec: ExecTool,
    code_mode: CodeMode,
}

impl Cells {
    fn new() -> Self {
        let nested = NestedTools::default();
        nested.offer(&tools());
        let code_mode = CodeMode::new(nested);
        Self { exec: ExecTool::new(code_mode.clone()), code_mode }
    }

    async fn run(&self, source: &str) {
        let payload = ToolPayload::Custom { input: source.to_owned() };
        let mut call = ToolInvocation::detached(ToolName::plain("exec"), payload);
        call.host.tools = Arc::new(NoOp);
        let output = self.exec.prepare(&call).await.unwrap().run(&call).await.unwrap();
        assert!(output.success_for_logging(), "{}", output.log_preview());
    }
}

/// CPU time of all threads: on a busy machine, a cell's thread waits for a processor as the bare engine's does not.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

fn times(ours: Duration, floor: Duration) -> f64 {
    ours.as_secs_f64() / floor.as_secs_f64()
}

fn median(mut measured: Vec<Duration>) -> Duration {
    measured.sort_unstable();
    measured[measured.len() / 2]
}

fn compare(what: &str, source: &str, rounds: usize, runtime: &tokio::runtime::Runtime, cells: &Cells) {
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    if wanted.is_some_and(|wanted| !what.contains(&wanted)) {
        return;
    }
    let (mut floor, mut ours) = (Vec::new(), Vec::new());
    let (mut floor_cpu, mut our_cpu) = (Vec::new(), Vec::new());
    // In turns, so that whatever else the machine does meets both.
    for _ in 0..rounds {
        let (began, used) = (Instant::now(), cpu_time());
        bare(source);
        floor.push(began.elapsed());
        floor_cpu.push(cpu_time() - used);
        let (began, used) = (Instant::now(), cpu_time());
        runtime.block_on(cells.run(source));
        ours.push(began.elapsed());
        our_cpu.push(cpu_time() - used);
    }
    let cpu = times(median(our_cpu), median(floor_cpu));
    let (floor, ours) = (median(floor), median(ours));
    let times = times(ours, floor);
    println!("{what:<32} bare {floor:>10.1?}   cell {ours:>10.1?}   {times:.2} x   of CPU time {cpu:.2} x");
}

/// Resident memory of this process, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn idle(count: u64, runtime: &tokio::runtime::Runtime) {
    let cells = Cells::new();
    let source = "yield_control(); await new Promise(r => setTimeout(r, 1e9))";
    // What the first cell loads is not the next one's cost.
    runtime.block_on(cells.run("text(1)"));
    let before = resident();
    for _ in 0..count {
        runtime.block_on(cells.run(source));
    }
    println!("{:<32} {} KiB", "an idle cell", (resident() - before) / count);
    runtime.block_on(cells.code_mode.shutdown());
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if let Some(count) = std::env::var(IDLE).ok().and_then(|count| count.parse().ok()) {
        return idle(count, &runtime);
    }
    let cells = Cells::new();
    compare("an empty cell", EMPTY, 10 * ROUNDS, &runtime, &cells);
    compare("1,000 calls, one after another", SEQUENTIAL, ROUNDS, &runtime, &cells);
    compare("1,000 calls at once", AT_ONCE, ROUNDS, &runtime, &cells);
    compare("10,000 calls at once", MANY, 10, &runtime, &cells);
    let child =
        std::process::Command::new(std::env::current_exe().unwrap()).env(IDLE, "12").output().unwrap();
    print!("{}", String::from_utf8(child.stdout).unwrap());
}
