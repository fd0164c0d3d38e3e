//! What has gone wrong in other runtimes (cases.md J), tried here.

use pretty_assertions::assert_eq;
use tenon_tools::{ModelAbilities, ToolOutput};

use super::*;
use crate::engine::QuickJs;
use crate::limits::MAX_SESSION_BYTES;
use crate::surface::reply_output;

fn failed(texts: &[&str], why: &str) -> (CellStatus, Vec<String>, Option<String>) {
    (CellStatus::Failed, texts.iter().map(|text| (*text).to_owned()).collect(), Some(why.to_owned()))
}

/// J3.
#[tokio::test]
async fn a_script_that_would_not_end_ends_with_what_it_had_said() {
    let limits = ScriptLimits { cpu_time: Duration::from_secs(1), ..ScriptLimits::default() };
    let bench = Bench::on(CodeMode::on(Box::new(QuickJs), limits, NestedTools::default()));
    let computes = "the script was stopped: it computed for 1 s without awaiting anything";
    assert_eq!(bench.exec("text('before'); while (true) {}").await, failed(&["before"], computes));
    let dead = "the script awaits something that no pending call or timer can settle";
    assert_eq!(bench.exec("text('before'); await new Promise(() => {})").await, failed(&["before"], dead));
    // A call that is not awaited has ended when the script is told of.
    let left = bench.exec("tools.echo({do: 'hang'}); text('after')").await;
    assert_eq!(left, said(CellStatus::Completed, &["after"]));
    assert_eq!(*bench.tools.torn_down.lock().unwrap(), 1);
    // A promise is no result, and a module returns nothing: neither can be taken for one.
    assert_eq!(bench.exec("text(tools.echo({}))").await, said(CellStatus::Completed, &["{}"]));
    assert_eq!(bench.exec("return tools.echo({})").await.0, CellStatus::Failed);
}

/// J4.
#[tokio::test]
async fn a_value_that_cannot_be_shown_fails_its_script_alone() {
    let bench = Bench::new();
    let memory = "the script ran out of memory: a cell may use 64 MiB";
    let cases = [
        ("const a = {}; a.a = a; text(a)", "TypeError: circular reference"),
        (
            "let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; text(deep)",
            "RangeError: Maximum call",
        ),
        ("text({n: 1n})", "TypeError: "),
        ("text({get x() { throw new Error('mine') }})", "Error: mine"),
        ("text('x'.repeat(1e8))", memory),
        ("text(new Array(1e9).fill(0))", memory),
    ];
    for (source, why) in cases {
        let (status, texts, error) = bench.exec(&format!("text('before'); {source}")).await;
        assert_eq!((status, texts), (CellStatus::Failed, vec!["before".to_owned()]), "{source}");
        assert!(error.as_ref().is_some_and(|error| error.starts_with(why)), "{source}: {error:?}");
    }
    assert_eq!(bench.exec("text(6 * 7)").await, said(CellStatus::Completed, &["42"]));
}

/// J6.
#[tokio::test]
async fn a_script_that_fails_keeps_what_it_said_and_its_error_comes_last() {
    let bench = Bench::new();
    let source = "text('one'); text('two'); text('three');
                  await Promise.all([tools.echo({}), tools.echo({do: 'fail'}), tools.echo({})])";
    assert_eq!(bench.exec(source).await, failed(&["one", "two", "three"], "did not work"));
    let facts = bench.facts.0.lock().unwrap().clone();
    let calls: Vec<String> =
        bench.tools.calls.lock().unwrap().iter().map(|(call, _)| call.call_id.to_string()).collect();
    let broken = facts.iter().filter_map(|fact| match fact {
        CallFact::Nested { call_id, outcome: Some(CallOutcome::Failed), .. } => Some(call_id.to_string()),
        _ => None,
    });
    assert_eq!(broken.collect::<Vec<_>>(), [calls[1].clone()], "the journal knows which");
    let reply = bench.exec_for("text('x'.repeat(1e5)); throw new Error('the end')", LONG_MS).await.unwrap();
    let output = reply_output(reply, None, ModelAbilities::default());
    let shown: Vec<&str> = output.body.iter().filter_map(FunctionCallOutputContentItem::as_text).collect();
    let shown = shown.join("\n");
    assert!(shown.len() < 50_000, "{}", shown.len());
    assert!(shown.ends_with("Error: the end\n    at <anonymous> (exec_main.mjs:1:34)"), "{shown}");
    assert!(!output.success_for_logging());
}

/// An engine that has no thread left.
struct Exhausted;

impl Engine for Exhausted {
    fn start(&self, _: Script, _: Box<dyn ScriptHost>) -> Result<RunningScript, StartError> {
        Err(std::io::Error::other("no thread is left").into())
    }
}

/// J7: there is no helper process here; what can be missing is a thread.
#[tokio::test]
async fn an_engine_that_cannot_start_is_told_of_and_leaves_nothing_behind() {
    let bench = Bench::on(CodeMode::on(Box::new(Exhausted), ScriptLimits::default(), NestedTools::default()));
    let refused = bench.exec_for("text(1)", 0).await.unwrap_err();
    assert_eq!(refused.text(), "the script could not be started: no thread is left");
    assert_eq!(bench.code_mode.cell_count(), 0);
    assert_eq!(bench.wait("1").await, not_found("1"));
}

/// J2: what cells may use together is bounded as well as their number.
#[tokio::test]
async fn over_the_memory_of_a_session_the_oldest_idle_cell_is_freed_or_no_script_begins() {
    let of_memory = |memory_bytes| {
        let limits = ScriptLimits { memory_bytes, ..ScriptLimits::default() };
        Bench::on(CodeMode::on(Box::new(QuickJs), limits, NestedTools::default()))
    };
    let bench = of_memory(MAX_SESSION_BYTES / 2);
    let yields = format!("yield_control(); {HANG}");
    for id in ["1", "2", "3"] {
        assert_eq!(bench.exec(&yields).await.0, running(id));
    }
    assert_eq!(bench.code_mode.cell_count(), 2);
    assert_eq!(bench.wait("1").await, not_found("1"));
    assert_eq!(bench.terminate("2").await.0, CellStatus::Terminated);
    let full = of_memory(MAX_SESSION_BYTES);
    {
        let mut first = Box::pin(full.exec_for(HANG, LONG_MS));
        assert!(futures_poll(&mut first).await);
        let refused = full.exec_for("text(1)", 0).await.unwrap_err();
        let why = "exec is refused: 1 scripts run or were left alone, and their memory is all that a session may use";
        assert_eq!(refused.text(), why);
    }
    assert_eq!(full.exec("text('on')").await, said(CellStatus::Completed, &["on"]));
    assert_eq!(full.wait("1").await, not_found("1"));
    bench.code_mode.shutdown().await;
}

#[tokio::test]
async fn cells_are_numbered_after_those_of_an_earlier_run() {
    let bench = Bench::new();
    bench.code_mode.number_cells_after(7);
    assert_eq!(bench.exec(&format!("yield_control(); {HANG}")).await.0, running("8"));
    assert_eq!(bench.wait("7").await, not_found("7"));
    bench.code_mode.number_cells_after(3);
    assert_eq!(bench.exec(&format!("yield_control(); {HANG}")).await.0, running("9"));
    bench.code_mode.shutdown().await;
}
