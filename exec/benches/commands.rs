//! What a command costs over the barest way to run it: start to result, on pipes and on a terminal, and the reading of
//! a big output.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark")]

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tenon_exec::{Environment, ExecConfig, ExecService, command_environment};
use tenon_protocol::ToolName;
use tenon_tools::{StepContext, ToolExecutor, ToolInvocation, ToolPayload};
use tokio::io::AsyncReadExt;
use tokio::runtime::Runtime;

const SHELL: &str = "/bin/bash";

/// Bytes of the big output.
const FLOOD: u64 = 200 * 1000 * 1000;

fn environment() -> Environment {
    [("PATH".into(), "/usr/bin:/bin".into())].into()
}

/// What every command gets, the bare ones too: a shell that finds a locale takes longer to start.
fn commands_environment() -> Environment {
    let step = StepContext::default();
    command_environment(&environment(), &step.environment, &step.sandbox, &step.session_id).unwrap()
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn tool(service: &ExecService) -> Arc<dyn ToolExecutor> {
    service.tools().into_iter().next().unwrap()
}

fn call(arguments: &str) -> ToolInvocation {
    let payload = ToolPayload::Function { arguments: arguments.to_owned() };
    let mut call = ToolInvocation::detached(ToolName::plain("exec_command"), payload);
    call.step = Arc::new(StepContext { allow_login_shell: false, ..StepContext::default() });
    call
}

async fn ours(tool: &dyn ToolExecutor, arguments: &str) -> usize {
    let call = call(arguments);
    let output = tool.prepare(&call).await.unwrap().run(&call).await.unwrap();
    output.log_preview().len()
}

fn bare_pipe(environment: &Environment) -> usize {
    let child = Command::new(SHELL)
        .args(["-c", "true"])
        .env_clear()
        .envs(environment)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.wait_with_output().unwrap().stdout.len()
}

fn bare_terminal(environment: &Environment) -> usize {
    let size = portable_pty::PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
    let pair = portable_pty::native_pty_system().openpty(size).unwrap();
    let mut command = portable_pty::CommandBuilder::new(SHELL);
    command.args(["-c", "true"]);
    command.cwd("/");
    command.env_clear();
    for (name, value) in environment {
        command.env(name, value);
    }
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut printed = Vec::new();
    reader.read_to_end(&mut printed).unwrap();
    child.wait().unwrap();
    printed.len()
}

async fn bare_reader() -> u64 {
    let mut child = tokio::process::Command::new("/usr/bin/head")
        .args(["-c", &FLOOD.to_string(), "/dev/zero"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut buffer = vec![0; 64 * 1024];
    let mut seen = 0;
    loop {
        match output.read(&mut buffer).await.unwrap() {
            0 => break,
            count => seen += count as u64,
        }
    }
    child.wait().await.unwrap();
    seen
}

fn benchmarks(criterion: &mut Criterion) {
    let runtime = runtime();
    let service =
        ExecService::new(ExecConfig { user_shell: Some(SHELL.into()), ..ExecConfig::new(environment()) });
    let tool = tool(&service);
    let environment = commands_environment();

    let mut group = criterion.benchmark_group("true on pipes");
    group.measurement_time(Duration::from_secs(8));
    group.bench_function("std::process", |bench| bench.iter(|| bare_pipe(&environment)));
    group.bench_function("exec_command", |bench| {
        bench.to_async(&runtime).iter(|| ours(&*tool, r#"{"cmd": "true"}"#));
    });
    group.finish();

    let mut group = criterion.benchmark_group("true on a terminal");
    group.measurement_time(Duration::from_secs(8));
    group.bench_function("portable-pty", |bench| bench.iter(|| bare_terminal(&environment)));
    group.bench_function("exec_command", |bench| {
        bench.to_async(&runtime).iter(|| ours(&*tool, r#"{"cmd": "true", "tty": true}"#));
    });
    group.finish();

    let mut group = criterion.benchmark_group("200 MB");
    group.sample_size(10).throughput(Throughput::Bytes(FLOOD));
    group.bench_function("tokio, 64 KiB", |bench| bench.to_async(&runtime).iter(bare_reader));
    let flood = format!(r#"{{"cmd": "exec head -c {FLOOD} /dev/zero", "yield_time_ms": 30000}}"#);
    group.bench_function("exec_command", |bench| bench.to_async(&runtime).iter(|| ours(&*tool, &flood)));
    group.finish();

    runtime.block_on(service.shutdown());
}

criterion_group!(commands, benchmarks);
criterion_main!(commands);
