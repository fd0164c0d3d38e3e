use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use pretty_assertions::assert_eq;
use tenon_protocol::ToolName;
use tenon_tools::{StepContext, ToolPayload};

use super::*;

fn number(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

fn call(tool: &str, turn: &str, arguments: &str) -> ToolInvocation {
    let payload = ToolPayload::Function { arguments: arguments.to_owned() };
    let step = Arc::new(StepContext { turn_id: turn.to_owned(), ..StepContext::default() });
    ToolInvocation { step, ..ToolInvocation::detached(ToolName::plain(tool), payload) }
}

fn of_tool(tool: &str, limit: ToolLimit) -> Limits {
    Limits::new(LimitOptions { tools: [(tool.to_owned(), limit)].into(), ..LimitOptions::default() })
}

fn refused(limits: &Limits, call: &ToolInvocation) -> Option<String> {
    limits.admit(call, Instant::now()).err()
}

#[test]
fn nothing_is_limited_unless_it_is_set() {
    let limits = Limits::default();
    for _ in 0..1000 {
        assert!(limits.admit(&call("t", "1", "{}"), Instant::now()).is_ok_and(|watched| watched.is_none()));
    }
}

#[test]
fn calls_of_a_turn() {
    let limits = Limits::new(LimitOptions { calls_per_turn: Some(2), ..LimitOptions::default() });
    for tool in ["a", "b"] {
        assert_eq!(refused(&limits, &call(tool, "1", "{}")), None);
    }
    let text = "not run: this turn has made 2 calls, the most it may; the limit ends with the turn";
    assert_eq!(refused(&limits, &call("c", "1", "{}")).as_deref(), Some(text));
    assert_eq!(refused(&limits, &call("c", "2", "{}")), None);
}

#[test]
fn calls_of_a_tool() {
    let limits = of_tool("a", ToolLimit { calls_per_turn: Some(1), rate: None });
    assert_eq!(refused(&limits, &call("a", "1", "{}")), None);
    let text =
        "not run: a was called 1 times in this turn, as often as it may be; the limit ends with the turn";
    assert_eq!(refused(&limits, &call("a", "1", "{}")).as_deref(), Some(text));
    assert_eq!(refused(&limits, &call("b", "1", "{}")), None);
    assert_eq!(refused(&limits, &call("a", "2", "{}")), None);
}

#[test]
fn a_rate_is_a_bucket_that_fills_by_the_clock() {
    let rate = Rate { calls: number(2), per: Duration::from_secs(10) };
    let limits = of_tool("a", ToolLimit { calls_per_turn: None, rate: Some(rate) });
    let begin = Instant::now();
    let at =
        |seconds: f64| limits.admit(&call("a", "1", "{}"), begin + Duration::from_secs_f64(seconds)).err();
    assert_eq!((at(0.0), at(1.0)), (None, None));
    let text = |wait: &str| {
        Some(format!(
            "not run: a may be called 2 times in 10 seconds; the next call can be made in {wait} seconds"
        ))
    };
    assert_eq!(at(1.0), text("4.0"));
    assert_eq!(at(4.9), text("0.1"));
    assert_eq!(at(5.0), None);
    assert_eq!(at(5.0), text("5.0"));
    // It holds no more than it holds.
    assert_eq!((at(1000.0), at(1000.0)), (None, None));
    assert_eq!(at(1000.0), text("5.0"));
}

#[test]
fn what_is_refused_takes_nothing() {
    let rate = Rate { calls: number(1), per: Duration::from_secs(10) };
    let limits = Limits::new(LimitOptions {
        calls_per_turn: Some(2),
        tools: [("a".to_owned(), ToolLimit { calls_per_turn: None, rate: Some(rate) })].into(),
        loop_guard: None,
    });
    assert_eq!(refused(&limits, &call("a", "1", "{}")), None);
    assert!(refused(&limits, &call("a", "1", "{}")).is_some());
    assert_eq!(refused(&limits, &call("b", "1", "{}")), None);
    assert!(refused(&limits, &call("b", "1", "{}")).is_some());
}

/// Makes a call that ends like this; what the model is told, or the refusal.
fn made(limits: &Limits, call: &ToolInvocation, failure: Option<&str>) -> Result<Option<String>, String> {
    let watched = limits.admit(call, Instant::now())?.unwrap();
    Ok(limits.ended(watched, call, failure))
}

#[test]
fn the_same_failure_is_noted_and_then_refused() {
    let guard = LoopGuard { note_after: number(2), refuse_after: number(3) };
    let limits = Limits::new(LimitOptions { loop_guard: Some(guard), ..LimitOptions::default() });
    let again = call("a", "1", "{}");
    let note = |count: u32| {
        Ok(Some(format!(
            "this call of a has failed {count} times in this turn in the same way: change something before it is made \
             again (it is refused after 3 such failures)"
        )))
    };
    assert_eq!(made(&limits, &again, Some("no")), Ok(None));
    assert_eq!(made(&limits, &again, Some("no")), note(2));
    // Others in between change nothing.
    assert_eq!(made(&limits, &call("a", "1", "{\"b\": 1}"), Some("no")), Ok(None));
    assert_eq!(made(&limits, &again, Some("no")), note(3));
    let text = "not run: this call of a has failed 3 times in this turn in the same way, as often as it may; the limit \
                ends with the turn, and does not hold for other arguments";
    assert_eq!(made(&limits, &again, None), Err(text.to_owned()));
    assert_eq!(made(&limits, &call("a", "1", "{\"c\": 1}"), None), Ok(None));
    assert_eq!(made(&limits, &call("a", "2", "{}"), Some("no")), Ok(None));
}

#[test]
fn another_failure_or_a_success_begins_a_new_count() {
    let guard = LoopGuard { note_after: number(2), refuse_after: number(2) };
    for between in [Some("other"), None] {
        let limits = Limits::new(LimitOptions { loop_guard: Some(guard), ..LimitOptions::default() });
        let again = call("a", "1", "{}");
        for failure in [Some("no"), between, Some("no")] {
            assert_eq!(made(&limits, &again, failure), Ok(None), "{between:?}");
        }
    }
}

/// Calls made at once by as many threads, all of them still under way; how many were let in.
fn let_in(limits: &Limits, threads: usize) -> Vec<Option<WatchedCall>> {
    let together = std::sync::Barrier::new(threads);
    let now = Instant::now();
    std::thread::scope(|scope| {
        let admit = || {
            together.wait();
            limits.admit(&call("a", "1", "{}"), now)
        };
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(admit)).collect();
        all.into_iter().filter_map(|thread| thread.join().unwrap().ok()).collect()
    })
}

#[test]
fn parallel_calls_get_over_no_limit() {
    const MOST: u32 = 10;
    let rate = Rate { calls: number(MOST), per: Duration::from_secs(1000) };
    let guard = LoopGuard { note_after: number(1), refuse_after: number(MOST) };
    let all = [
        LimitOptions { calls_per_turn: Some(MOST), ..LimitOptions::default() },
        LimitOptions {
            tools: [("a".to_owned(), ToolLimit { calls_per_turn: Some(MOST), rate: None })].into(),
            ..LimitOptions::default()
        },
        LimitOptions {
            tools: [("a".to_owned(), ToolLimit { calls_per_turn: None, rate: Some(rate) })].into(),
            ..LimitOptions::default()
        },
        LimitOptions { loop_guard: Some(guard), ..LimitOptions::default() },
    ];
    for options in all {
        for (threads, expected) in [(9, 9), (10, 10), (11, 10), (64, 10)] {
            let limits = Limits::new(options.clone());
            assert_eq!(let_in(&limits, threads).len(), expected, "{threads} {options:?}");
        }
    }
}

#[test]
fn a_call_that_is_being_made_counts_until_it_ends_or_is_dropped() {
    let guard = LoopGuard { note_after: number(3), refuse_after: number(3) };
    let limits = Limits::new(LimitOptions { loop_guard: Some(guard), ..LimitOptions::default() });
    let again = call("a", "1", "{}");
    let begun = || limits.admit(&again, Instant::now());
    let mut three: Vec<_> = (0..3).map(|_| begun().unwrap().unwrap()).collect();
    assert_eq!(limits.ended(three.remove(0), &again, Some("no")), None);
    let text = "not run: this call of a has failed 1 times in this turn and is being made 2 times now, and may fail 3 \
                times in the same way; the limit ends when one of them comes out otherwise";
    assert_eq!(begun().err().as_deref(), Some(text));
    // A cancelled one has not failed.
    drop(three.remove(0));
    three.push(begun().unwrap().unwrap());
    // A success begins a new count.
    assert_eq!(limits.ended(three.remove(0), &again, None), None);
    assert!(begun().is_ok());
    // One of the turn before is none of this one.
    let next = call("a", "2", "{}");
    let new: Vec<_> = (0..2).map(|_| limits.admit(&next, Instant::now()).unwrap().unwrap()).collect();
    drop(three);
    let third = limits.admit(&next, Instant::now());
    assert!(third.is_ok() && limits.admit(&next, Instant::now()).is_err());
    drop(new);
}

/// A cell in the background still makes calls of its own turn.
#[test]
fn a_call_of_an_older_turn_counts_for_that_one() {
    let limits = Limits::new(LimitOptions { calls_per_turn: Some(2), ..LimitOptions::default() });
    let let_in = |turn: &str| refused(&limits, &call("a", turn, "{}")).is_none();
    let order = ["old", "new", "old", "new"].map(let_in);
    assert_eq!(order, [true; 4]);
    assert_eq!(["old", "new", "old"].map(let_in), [false; 3]);
}

#[test]
fn a_failure_of_an_older_turn_counts_for_that_one() {
    let guard = LoopGuard { note_after: number(1), refuse_after: number(2) };
    let limits = Limits::new(LimitOptions { loop_guard: Some(guard), ..LimitOptions::default() });
    let (old, new) = (call("a", "old", "{}"), call("a", "new", "{}"));
    let begin = |call: &ToolInvocation| limits.admit(call, Instant::now());
    let first = begin(&old).unwrap().unwrap();
    assert!(made(&limits, &new, Some("no")).is_ok());
    assert!(limits.ended(first, &old, Some("no")).is_some());
    // Each has failed once, and may once more.
    for call in [&old, &new] {
        let second = begin(call).unwrap().unwrap();
        assert!(begin(call).is_err());
        drop(second);
        assert!(made(&limits, call, Some("no")).is_ok());
        assert!(begin(call).is_err());
    }
}

#[test]
fn the_bound_of_turns_is_exact_and_the_one_that_was_quiet_longest_is_forgotten() {
    let options = LimitOptions { calls_per_turn: Some(2), ..LimitOptions::default() };
    let let_in =
        |limits: &Limits, turn: usize| refused(limits, &call("a", &turn.to_string(), "{}")).is_none();
    for (turns, remembered) in [(turns::MAX_TURNS, true), (turns::MAX_TURNS + 1, false)] {
        let limits = Limits::new(options.clone());
        assert!((0..turns).all(|turn| let_in(&limits, turn)));
        // Counted on where it is known, anew where it is not.
        assert_eq!([(); 3].map(|()| let_in(&limits, 0)), [true, !remembered, false], "{turns}");
        // The last one is known in any case.
        assert_eq!([(); 2].map(|()| let_in(&limits, turns - 1)), [true, false], "{turns}");
    }
}

/// What is under way while its turn is forgotten is counted nowhere when it ends.
#[test]
fn a_call_of_a_forgotten_turn_ends_without_a_trace() {
    let guard = LoopGuard { note_after: number(1), refuse_after: number(1) };
    let limits = Limits::new(LimitOptions { loop_guard: Some(guard), ..LimitOptions::default() });
    let old = call("a", "old", "{}");
    let first = limits.admit(&old, Instant::now()).unwrap().unwrap();
    for turn in 0..turns::MAX_TURNS {
        assert!(limits.admit(&call("a", &turn.to_string(), "{}"), Instant::now()).is_ok());
    }
    let again = limits.admit(&old, Instant::now()).unwrap().unwrap();
    assert_eq!(limits.ended(first, &old, Some("no")), None);
    assert!(limits.admit(&old, Instant::now()).is_err(), "the second is being made");
    drop(again);
    assert!(limits.admit(&old, Instant::now()).is_ok());
}
