//! What hooks cost.
//!
//! `cargo bench -p tenon-core --bench hooks` measures a dispatch with no hook configured, and one with one command
//! hook against the bare start of the same command.
//!
//! What the stages cost where no hook is configured is the difference to a build without them, in a target folder of
//! its own: `RUSTFLAGS="--cfg tenon_without_hook_stages" cargo bench -p tenon-core --bench hooks -- none`. Both are too
//! close to tell apart on a machine that does anything else: run them in turns. What was measured: docs/performance.md.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use tenon_core::hooks::{HookChain, HookConfig};
use tenon_core::{DispatchEnvironment, ToolCallRuntime};
use tenon_exec::{ExecConfig, ExecService};
use tenon_protocol::{CallId, ToolName};
use tenon_tools::{Effects, StepContext, ToolCall, ToolCallSource, ToolPayload};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

/// Calls of one sample without a hook: so many that starting and stopping the executor does not show.
const CALLS: usize = 200;

/// What the hook does.
const COMMAND: &str = "exit 0";

fn runtime(hooks: HookChain) -> ToolCallRuntime {
    let step = Arc::new(StepContext { cwd: "/".into(), ..StepContext::default() });
    support::runtime(DispatchEnvironment { step, hooks, ..support::environment(Effects::none()) })
}

async fn call(runtime: &ToolCallRuntime, token: &CancellationToken) {
    let call = ToolCall {
        tool_name: ToolName::plain("noop").with_default_namespace(),
        call_id: CallId::from("call"),
        payload: ToolPayload::Function { arguments: "{}".to_owned() },
        encrypted_function_args: None,
    };
    let end = runtime.hand_over(call, ToolCallSource::Direct, token.child_token()).end().await;
    black_box(end.response.unwrap());
}

/// One thread, so that what is measured is the work and not the waking of another thread.
fn executor() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn none(c: &mut Criterion) {
    let executor = executor();
    let (runtime, token) = (runtime(HookChain::default()), CancellationToken::new());
    c.bench_function("none/dispatch", |bench| {
        bench.iter(|| {
            executor.block_on(async {
                for _ in 0..CALLS {
                    call(&runtime, &token).await;
                }
            });
        });
    });
}

fn environment() -> BTreeMap<OsString, OsString> {
    [("PATH", "/usr/bin:/bin"), ("SHELL", "/bin/sh"), ("HOME", "/nonexistent")]
        .map(|(name, value)| (name.into(), value.into()))
        .into()
}

/// The barest way to ask the same command: start it, write its document, read both streams to the end, reap it.
fn bare(environment: &BTreeMap<OsString, OsString>, document: &[u8]) -> bool {
    let mut child = Command::new("/bin/sh")
        .args(["-lc", COMMAND])
        .env_clear()
        .envs(environment)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have ended before it is written to.
    let _ = child.stdin.take().unwrap().write_all(document);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    child.stdout.take().unwrap().read_to_end(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_end(&mut err).unwrap();
    child.wait().unwrap().success()
}

fn document() -> Vec<u8> {
    let members: Value = json!({
        "session_id": "01a22c5a-555e-7495-9ec5-36f8658b441f", "turn_id": "01a22c5a-555e-7495-9ec5-36f8658b441f",
        "transcript_path": null, "cwd": "/", "hook_event_name": "PreToolUse", "model": "a-model",
        "permission_mode": "default", "tool_name": "noop", "tool_input": {}, "tool_use_id": "call",
    });
    members.to_string().into_bytes()
}

fn command(c: &mut Criterion) {
    let executor = executor();
    let environment = environment();
    let hooks = json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": COMMAND}]}]}});
    let service = ExecService::new(ExecConfig::new(environment.clone()));
    let config = HookConfig::parse(&hooks.to_string(), Path::new("/hooks.json"));
    let chain = HookChain::configured(config, &service.command_runner(), environment.clone());
    let (runtime, token, document) = (runtime(chain), CancellationToken::new(), document());
    let mut group = c.benchmark_group("command");
    group.bench_function("bare", |bench| bench.iter(|| assert!(bare(&environment, &document))));
    group.bench_function("hook", |bench| bench.iter(|| executor.block_on(call(&runtime, &token))));
    group.finish();
    executor.block_on(service.shutdown());
}

criterion_group!(benches, none, command);
criterion_main!(benches);
