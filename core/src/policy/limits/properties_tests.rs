//! Limits against a plain count of the same, over turns whose calls begin and end in any order.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use proptest::prelude::*;
use tenon_protocol::ToolName;
use tenon_tools::{StepContext, ToolCallSource, ToolPayload};

use super::*;

const MOST_CALLS: u32 = 9;
const MOST_OF_A: u32 = 5;
const MOST_FAILURES: u32 = 3;

#[derive(Debug, Clone)]
enum Step {
    Begins {
        turn: usize,
        tool: &'static str,
        arguments: u8,
        nested: bool,
    },
    /// One of those under way ends, or is let go of.
    Ends {
        which: prop::sample::Index,
        failure: Option<&'static str>,
    },
    Dropped {
        which: prop::sample::Index,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let begins = (0..3_usize, prop::sample::select(vec!["a", "b"]), 0..2_u8, any::<bool>())
        .prop_map(|(turn, tool, arguments, nested)| Step::Begins { turn, tool, arguments, nested });
    let failures = prop::sample::select(vec![Some("no"), Some("no"), Some("never"), None]);
    let ends =
        (any::<prop::sample::Index>(), failures).prop_map(|(which, failure)| Step::Ends { which, failure });
    let dropped = any::<prop::sample::Index>().prop_map(|which| Step::Dropped { which });
    prop::collection::vec(prop_oneof![4 => begins, 3 => ends, 1 => dropped], 0..80)
}

fn call(turn: usize, tool: &str, arguments: u8, nested: bool) -> ToolInvocation {
    let payload = ToolPayload::Function { arguments: arguments.to_string() };
    let step = Arc::new(StepContext { turn_id: turn.to_string(), ..StepContext::default() });
    let source = if nested {
        ToolCallSource::CodeMode { cell_id: "1".into(), runtime_tool_call_id: "tool-1".into() }
    } else {
        ToolCallSource::Direct
    };
    ToolInvocation { step, source, ..ToolInvocation::detached(ToolName::plain(tool), payload) }
}

/// The same, counted plainly.
#[derive(Default)]
struct Counted {
    calls: BTreeMap<usize, u32>,
    of_a: BTreeMap<usize, u32>,
    /// The last failure of a call and how often it came in a row; how often it is being made.
    failed: BTreeMap<(usize, &'static str, u8), (&'static str, u32)>,
    under_way: BTreeMap<(usize, &'static str, u8), u32>,
}

impl Counted {
    fn lets_in(&self, key: (usize, &'static str, u8)) -> bool {
        let (turn, tool, _) = key;
        let failed = self.failed.get(&key).map_or(0, |(_, count)| *count);
        self.calls.get(&turn).copied().unwrap_or_default() < MOST_CALLS
            && (tool != "a" || self.of_a.get(&turn).copied().unwrap_or_default() < MOST_OF_A)
            && failed + self.under_way.get(&key).copied().unwrap_or_default() < MOST_FAILURES
    }

    fn begins(&mut self, key: (usize, &'static str, u8)) {
        *self.calls.entry(key.0).or_default() += 1;
        *self.of_a.entry(key.0).or_default() += u32::from(key.1 == "a");
        *self.under_way.entry(key).or_default() += 1;
    }

    /// How often it has failed in this way by now.
    fn ends(&mut self, key: (usize, &'static str, u8), failure: Option<&'static str>) -> u32 {
        *self.under_way.entry(key).or_default() -= 1;
        let before = self.failed.remove(&key);
        let Some(failure) = failure else { return 0 };
        let count = before.filter(|(last, _)| *last == failure).map_or(1, |(_, count)| count + 1);
        self.failed.insert(key, (failure, count));
        count
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_turn_is_counted_for_itself_whatever_the_order(steps in steps()) {
        let number = |number| NonZeroU32::new(number).unwrap();
        let limits = Limits::new(LimitOptions {
            loop_guard: Some(LoopGuard { note_after: number(2), refuse_after: number(MOST_FAILURES) }),
            calls_per_turn: Some(MOST_CALLS),
            tools: [("a".to_owned(), ToolLimit { calls_per_turn: Some(MOST_OF_A), rate: None })].into(),
        });
        let (mut counted, mut under_way) = (Counted::default(), Vec::new());
        for step in steps {
            match step {
                Step::Begins { turn, tool, arguments, nested } => {
                    let key = (turn, tool, arguments);
                    let admitted = limits.admit(&call(turn, tool, arguments, nested), Instant::now());
                    prop_assert_eq!(admitted.is_ok(), counted.lets_in(key), "{:?} {:?}", key, admitted);
                    if let Ok(watched) = admitted {
                        counted.begins(key);
                        under_way.push((key, watched.unwrap()));
                    }
                }
                Step::Ends { which, failure } if !under_way.is_empty() => {
                    let (key, watched) = under_way.remove(which.index(under_way.len()));
                    let note = limits.ended(watched, &call(key.0, key.1, key.2, false), failure);
                    prop_assert_eq!(note.is_some(), counted.ends(key, failure) >= 2);
                }
                Step::Dropped { which } if !under_way.is_empty() => {
                    let (key, watched) = under_way.remove(which.index(under_way.len()));
                    drop(watched);
                    *counted.under_way.entry(key).or_default() -= 1;
                }
                Step::Ends { .. } | Step::Dropped { .. } => {}
            }
        }
    }

    /// Who waits as long as a refusal says is let in.
    #[test]
    fn a_refusal_says_when_it_ends(
        calls in 1..7_u32,
        per in 1..50_000_u64,
        gaps in prop::collection::vec((0..9_000_u64, any::<bool>()), 1..40),
    ) {
        let rate = Rate { calls: NonZeroU32::new(calls).unwrap(), per: Duration::from_millis(per) };
        let tools = [("a".to_owned(), ToolLimit { calls_per_turn: None, rate: Some(rate) })].into();
        let limits = Limits::new(LimitOptions { tools, ..LimitOptions::default() });
        let mut now = Instant::now();
        for (gap, nested) in gaps {
            now += Duration::from_millis(gap);
            // Of whichever turn, and whoever makes it.
            if let Err(refusal) = limits.admit(&call(usize::from(nested), "a", 0, nested), now) {
                let wait = refusal.rsplit(' ').nth(1).and_then(|wait| wait.parse().ok()).unwrap();
                now += Duration::from_secs_f64(wait);
                prop_assert!(limits.admit(&call(0, "a", 0, !nested), now).is_ok(), "{}", refusal);
            }
        }
    }
}
