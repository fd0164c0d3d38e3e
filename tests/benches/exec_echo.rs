//! The program as a whole: one turn with one `exec_command`, from start to exit, against a model on loopback.
//!
//! `cargo build --release -p tenon && cargo bench -p tenon-tests --bench exec_echo`
//! (`TENON=path` names another program; `ROUNDS=n` another number of runs.)
//!
//! The floor, in the same run: the same shell running the same command, by spawn and wait alone.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tenon_tests::server::{Answer, ScriptedServer, Step};

const ROUNDS: usize = 40;
/// How often the memory of a running process is looked at. Its high-water mark only grows.
const LOOK_EVERY: Duration = Duration::from_micros(200);
const GOAL_MS: f64 = 30.0;
const GOAL_MIB: f64 = 28.0;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let rounds = std::env::var("ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROUNDS);
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(run_program(&runtime));
        floor.push(run_shell());
    }
    let (time, peak) =
        (median(ours.iter().map(|run| run.0)), ours.iter().map(|run| run.1).fold(0.0, f64::max));
    let shell = median(floor.into_iter());
    println!("one-turn exec-echo, {rounds} runs");
    println!("  tenon   median {time:6.1} ms (goal {GOAL_MS}), peak memory {peak:5.1} MiB (goal {GOAL_MIB})");
    println!("  shell   median {shell:6.1} ms (the same command by spawn and wait alone)");
}

/// One run of the program: milliseconds, and its peak memory in MiB.
fn run_program(runtime: &tokio::runtime::Runtime) -> (f64, f64) {
    let call = json!({"type": "function_call", "name": "exec_command", "call_id": "c1",
        "arguments": "{\"cmd\": \"echo hi\"}"});
    let said = json!({"type": "message", "role": "assistant", "id": "m",
        "content": [{"type": "output_text", "text": "done"}]});
    let answers = [call, said].map(|item| Answer::stream([Step::item(&item), Step::completed("r")]));
    let server = runtime.block_on(ScriptedServer::start(answers)).unwrap();
    let home = tempfile::tempdir().unwrap();
    let config = format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"mock\"\n[model_providers.mock]\nname = \"mock\"\n\
         base_url = \"{}\"\nwire_api = \"responses\"\n",
        server.base_url()
    );
    std::fs::write(home.path().join("config.toml"), config).unwrap();
    let mut command = Command::new(program());
    command
        .args(["exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "-C"])
        .arg(home.path())
        .arg("go");
    command.env("TENON_HOME", home.path()).env("HOME", home.path());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let start = Instant::now();
    let child = command.spawn().expect("build it first: cargo build --release -p tenon");
    let peak = watch(&child);
    let output = child.wait_with_output().unwrap();
    let time = milliseconds(start);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("\"aggregated_output\":\"hi\\n\""), "{text}");
    (time, peak.join().unwrap())
}

fn run_shell() -> f64 {
    let start = Instant::now();
    let output = Command::new("/bin/bash").args(["-lc", "echo hi"]).env("HOME", "/").output().unwrap();
    assert_eq!(output.stdout, b"hi\n");
    milliseconds(start)
}

/// Watches the high-water mark of a process until it is gone.
fn watch(child: &Child) -> std::thread::JoinHandle<f64> {
    let status = format!("/proc/{}/status", child.id());
    std::thread::spawn(move || {
        let mut peak = 0.0;
        while let Some(mib) = std::fs::read_to_string(&status).ok().as_deref().and_then(high_water) {
            peak = mib;
            std::thread::sleep(LOOK_EVERY);
        }
        peak
    })
}

fn high_water(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib / 1024.0)
}

fn program() -> PathBuf {
    std::env::var_os("TENON").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/release/tenon"),
        PathBuf::from,
    )
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
