//! What the stages cost: dispatch of a no-op tool, against a floor that does the mandatory parts alone.
//!
//! `cargo bench -p tenon-core --bench dispatch`
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use support::output;
use tenon_core::ToolCallRuntime;
use tenon_protocol::{CallId, ResponseInputItem, ToolName};
use tenon_tools::{Effects, ToolCall, ToolCallSource, ToolOutput, ToolPayload};
use tokio::runtime::Runtime;
use tokio::sync::RwLock;
use tokio_util::sync::CancellationToken;

const IN_FLIGHT: [usize; 3] = [1, 8, 64];

fn call(n: usize) -> ToolCall {
    ToolCall {
        tool_name: ToolName::plain("noop").with_default_namespace(),
        call_id: CallId::from(format!("call_{n}")),
        payload: ToolPayload::Function { arguments: "{}".to_owned() },
        encrypted_function_args: None,
    }
}

/// The parts that nothing can do without: look the tool up, make a child token, take the gate, spawn, box the output,
/// and make the model's item of it.
struct Floor {
    tools: HashMap<ToolName, Arc<dyn Fn() -> Box<dyn ToolOutput> + Send + Sync>>,
    gate: Arc<RwLock<()>>,
    token: CancellationToken,
}

impl Floor {
    async fn round(&self, calls: usize) {
        let mut running = Vec::with_capacity(calls);
        for n in 0..calls {
            let call = call(n);
            let tool = Arc::clone(self.tools.get(&call.tool_name).unwrap());
            let (gate, token) = (Arc::clone(&self.gate), self.token.child_token());
            running.push(tokio::spawn(async move {
                let _permit = gate.read().await;
                tokio::select! {
                    biased;
                    item = async { tool().to_response_item(&call.call_id, &call.payload) } => Some(item),
                    () = token.cancelled() => None,
                }
            }));
        }
        for task in running {
            black_box(task.await.unwrap());
        }
    }
}

async fn round(runtime: &ToolCallRuntime, token: &CancellationToken, calls: usize) {
    let mut running = Vec::with_capacity(calls);
    for n in 0..calls {
        running.push(runtime.hand_over(call(n), ToolCallSource::Direct, token.child_token()));
    }
    for call in running {
        let item: Result<ResponseInputItem, String> = call.end().await.response;
        black_box(item.unwrap());
    }
}

fn dispatch(c: &mut Criterion) {
    let executor = Runtime::new().unwrap();
    let token = CancellationToken::new();
    let floor = Floor {
        tools: HashMap::from([(
            ToolName::plain("noop").with_default_namespace(),
            Arc::new(output) as Arc<dyn Fn() -> Box<dyn ToolOutput> + Send + Sync>,
        )]),
        gate: Arc::default(),
        token: token.clone(),
    };
    let mut group = c.benchmark_group("dispatch");
    for calls in IN_FLIGHT {
        group.throughput(Throughput::Elements(u64::try_from(calls).unwrap()));
        group.bench_function(BenchmarkId::new("floor", calls), |bench| {
            bench.iter(|| executor.block_on(floor.round(calls)));
        });
        group.bench_function(BenchmarkId::new("tenon", calls), |bench| {
            let runtime = support::runtime(support::environment(Effects::none()));
            bench.iter(|| executor.block_on(round(&runtime, &token, calls)));
        });
    }
    group.finish();
}

criterion_group!(benches, dispatch);
criterion_main!(benches);
