//! What the journal costs: 100 parallel no-op calls that are written down, against writing and syncing the same bytes in
//! the same groups.
//!
//! `cargo bench -p tenon-core --bench journal`; with `-- sizes` it tells what 100 calls with a picture each leave on the
//! disk. The file lies in the folder for temporary files: where that is in memory,
//! a sync costs nothing and says nothing; `TMPDIR` names another.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::indexing_slicing, clippy::print_stderr)]

mod support;

use std::fs::OpenOptions;
use std::hint::black_box;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tempfile::TempDir;
use tenon_core::rollout::{AppendFile, LineFile, RecorderHost, RolloutRecorder, Tail};
use tenon_core::{CallJournal, DispatchEnvironment, ToolCallRuntime};
use tenon_protocol::{
    CallFinished, CallId, CallOutcome, FunctionCallOutputBody, FunctionCallOutputContentItem,
    FunctionCallOutputPayload, ResponseInputItem, ResponseItem, ToolName,
};
use tenon_tools::{Effects, Host, ToolCall, ToolCallSource, ToolPayload};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

const CALLS: u64 = 100;

/// What was written between two syncs, for each sync.
#[derive(Default)]
struct Groups {
    synced: Vec<Vec<u8>>,
    open: Vec<u8>,
}

/// The recorder's own file, that notes what is done to it.
struct Noted {
    file: AppendFile,
    groups: Arc<Mutex<Groups>>,
}

impl LineFile for Noted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.groups.lock().unwrap().open.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        let mut groups = self.groups.lock().unwrap();
        let group = std::mem::take(&mut groups.open);
        groups.synced.push(group);
        Ok(())
    }

    fn reopen(&mut self) -> io::Result<Tail> {
        self.file.reopen()
    }
}

fn runtime(recorder: &RolloutRecorder) -> ToolCallRuntime {
    // It says that it might do something: so its start must be durable first.
    let effects = Effects { other: Some("nothing".to_owned()), ..Effects::none() };
    let journal = Arc::new(recorder.clone());
    support::runtime(DispatchEnvironment { journal, ..support::environment(effects) })
}

/// All calls at once, up to the moment at which the next request may go out.
async fn round(runtime: &ToolCallRuntime, recorder: &RolloutRecorder) {
    let token = CancellationToken::new();
    let mut running = Vec::new();
    for n in 0..CALLS {
        let call = ToolCall {
            tool_name: ToolName::plain("noop").with_default_namespace(),
            call_id: CallId::from(format!("call_{n}")),
            payload: ToolPayload::Function { arguments: "{}".to_owned() },
            encrypted_function_args: None,
        };
        running.push(runtime.hand_over(call, ToolCallSource::Direct, token.child_token()));
    }
    for call in running {
        black_box(call.end().await.response.unwrap());
    }
    recorder.sync().await.unwrap();
}

/// Runs all calls with a fresh file; gives the time and what was written.
fn measured(executor: &Runtime, folder: &Path) -> (Duration, Groups) {
    let path = folder.join("tenon.jsonl");
    let groups = Arc::new(Mutex::new(Groups::default()));
    let file = Noted { file: AppendFile::create(&path).unwrap(), groups: Arc::clone(&groups) };
    let recorder =
        RolloutRecorder::with_file(path.clone(), Box::new(file), RecorderHost::from(&Host::detached()))
            .unwrap();
    let runtime = runtime(&recorder);
    // The folder's entry is made durable once a file, not once a group.
    executor.block_on(recorder.sync()).unwrap();
    *groups.lock().unwrap() = Groups::default();
    let begun = Instant::now();
    executor.block_on(round(&runtime, &recorder));
    let took = begun.elapsed();
    let groups = std::mem::take(&mut *groups.lock().unwrap());
    executor.block_on(recorder.shutdown()).unwrap();
    std::fs::remove_file(&path).unwrap();
    (took, groups)
}

/// Writes each group at once and syncs it.
fn floor(groups: &Groups, folder: &Path) -> Duration {
    let path = folder.join("floor.jsonl");
    let mut file = OpenOptions::new().append(true).create_new(true).open(&path).unwrap();
    file.sync_all().unwrap();
    let begun = Instant::now();
    for group in &groups.synced {
        file.write_all(group).unwrap();
        file.sync_data().unwrap();
    }
    let took = begun.elapsed();
    std::fs::remove_file(&path).unwrap();
    took
}

fn journal(c: &mut Criterion) {
    let executor = Runtime::new().unwrap();
    let folder = TempDir::new().unwrap();
    let (_, groups) = measured(&executor, folder.path());
    let bytes: usize = groups.synced.iter().map(Vec::len).sum();
    eprintln!("a round of {CALLS} calls: {} groups, {bytes} bytes", groups.synced.len());
    let mut group = c.benchmark_group("journal");
    group.throughput(Throughput::Elements(CALLS));
    group.bench_function("floor", |bench| {
        bench.iter_custom(|rounds| {
            (0..rounds).map(|_| floor(&measured(&executor, folder.path()).1, folder.path())).sum()
        });
    });
    group.bench_function("tenon", |bench| {
        bench.iter_custom(|rounds| (0..rounds).map(|_| measured(&executor, folder.path()).0).sum());
    });
    group.finish();
}

/// An output with data of 2 MiB that no other one has.
fn picture(n: u64) -> ResponseItem {
    let data: String = format!("{n:08}").repeat((2 << 20) / 8);
    let image_url = Some(format!("data:image/png;base64,{data}"));
    let entry = FunctionCallOutputContentItem::InputImage { image_url, file_id: None, detail: None };
    let body = FunctionCallOutputBody::ContentItems(vec![entry]);
    let output = FunctionCallOutputPayload { body, success: Some(true) };
    ResponseItem::from(ResponseInputItem::FunctionCallOutput {
        call_id: CallId::from(format!("call_{n}")),
        output,
    })
}

async fn sizes_of_pictures(recorder: &RolloutRecorder, source: &ToolCallSource) {
    for n in 0..CALLS {
        let output = picture(n);
        let line = CallFinished {
            call_id: CallId::from(format!("call_{n}")),
            occurrence: 0,
            outcome: CallOutcome::Completed,
            output: output.clone(),
            aside: Vec::new(),
            at: String::new(),
        };
        CallJournal::finished(recorder, line, source).await;
        if !source.is_nested() {
            recorder.record_items(&[Arc::new(output)]).await;
        }
        recorder.sync().await.unwrap();
    }
}

/// What lies on the disk after 100 calls that each gave a picture.
fn sizes(_: &mut Criterion) {
    if !std::env::args().any(|arg| arg == "sizes") {
        return;
    }
    let executor = Runtime::new().unwrap();
    let nested = ToolCallSource::CodeMode { cell_id: "1".to_owned(), runtime_tool_call_id: "1".to_owned() };
    for (name, source) in [("direct", ToolCallSource::Direct), ("nested", nested)] {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("tenon.jsonl");
        let file = Box::new(AppendFile::create(&path).unwrap());
        let host = RecorderHost::from(&Host::detached());
        let recorder = RolloutRecorder::with_file(path.clone(), file, host).unwrap();
        executor.block_on(sizes_of_pictures(&recorder, &source));
        executor.block_on(recorder.shutdown()).unwrap();
        let beside = std::fs::read_dir(path.with_extension("copies")).into_iter().flatten();
        let beside: u64 = beside.map(|copy| copy.unwrap().metadata().unwrap().len()).sum();
        eprintln!("{name} calls: {} bytes in the file, {beside} beside it", path.metadata().unwrap().len());
    }
}

criterion_group!(benches, journal, sizes);
criterion_main!(benches);
