use pretty_assertions::assert_eq;
use tenon_protocol::ToolName;
use tenon_tools::ToolPayload;

use super::*;

#[test]
fn the_bound_is_exact_and_the_oldest_failure_is_forgotten() {
    let mut repeats = Repeats::default();
    let call = |number: usize| {
        let payload = ToolPayload::Function { arguments: number.to_string() };
        ToolInvocation::detached(ToolName::plain("t"), payload)
    };
    for number in 0..MAX_WATCHED {
        let watched = repeats.watch(&call(number));
        assert_eq!(repeats.ended(watched, Some("no")), 1);
    }
    let (first, second) = (repeats.watch(&call(0)), repeats.watch(&call(1)));
    assert_eq!(repeats.count(first), 1);
    // The first has failed again, so that it is the second that has not for the longest time.
    assert_eq!(repeats.ended(first, Some("no")), 2);
    let one_more = repeats.watch(&call(MAX_WATCHED));
    repeats.ended(one_more, Some("no"));
    assert_eq!((repeats.count(first), repeats.count(second), repeats.count(one_more)), (2, 0, 1));
    assert_eq!(repeats.failing.len(), MAX_WATCHED);
}
