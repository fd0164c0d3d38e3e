//! Every example runs, and what it asserts of itself holds.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(clippy::duplicate_mod, reason = "what the examples share")]

#[path = "../examples/own_hook.rs"]
mod own_hook;
#[path = "../examples/own_policy.rs"]
mod own_policy;
#[path = "../examples/own_tool.rs"]
mod own_tool;
#[path = "../examples/recorded_stream.rs"]
mod recorded_stream;
#[path = "../examples/two_tools.rs"]
mod two_tools;
#[path = "../examples/watch_events.rs"]
mod watch_events;

#[test]
fn two_tools_answer_and_take_a_note() {
    two_tools::main().unwrap();
}

#[test]
fn a_policy_allows_denies_and_has_somebody_asked() {
    own_policy::main().unwrap();
}

#[test]
fn a_hook_blocks_rewrites_adds_and_takes_back() {
    own_hook::main().unwrap();
}

#[test]
fn a_recorded_stream_is_played_through_a_session() {
    recorded_stream::main().unwrap();
}

#[test]
fn a_watcher_cancels_one_call_and_its_sibling_goes_on() {
    watch_events::main().unwrap();
}

#[test]
fn a_tool_by_hand_refuses_what_it_cannot_read_and_does_the_rest() {
    own_tool::main().unwrap();
}
