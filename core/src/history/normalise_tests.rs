use std::fmt::Write as _;
use std::sync::Mutex;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;
use tenon_tools::TruncationPolicy;
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

use super::super::History;
use super::*;
use crate::history::samples::*;

fn prompt(items: impl IntoIterator<Item = ResponseItem>) -> Vec<String> {
    shown(&history(items).for_prompt(&ModelAbilities::default()))
}

fn history(items: impl IntoIterator<Item = ResponseItem>) -> History {
    let mut history = History::new(TruncationPolicy::default());
    history.extend(items);
    history
}

/// Collects `LEVEL message` lines of what is logged on this thread.
#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Subscriber for &'static Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        struct Message(String);
        impl Visit for Message {
            fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                if field.name() == "message" {
                    let _ = write!(self.0, "{value:?}");
                }
            }
        }
        let mut message = Message(format!("{} ", event.metadata().level()));
        event.record(&mut message);
        self.0.lock().unwrap().push(message.0);
    }
}

fn logged(items: impl IntoIterator<Item = ResponseItem>) -> Vec<String> {
    let log: &'static Log = Box::leak(Box::default());
    tracing::subscriber::with_default(log, || prompt(items));
    std::mem::take(&mut *log.0.lock().unwrap())
}

#[test]
fn a_missing_output_stands_right_behind_its_call() {
    let table = [
        (
            function_call("a"),
            json!({"type": "function_call_output", "call_id": "a", "output": "aborted"}),
            "INFO function_call output is missing for call id: a",
        ),
        (
            custom_call("a"),
            json!({"type": "custom_tool_call_output", "call_id": "a", "output": "aborted"}),
            "ERROR Custom tool call output is missing for call id: a",
        ),
        (
            shell_call("a"),
            json!({"type": "function_call_output", "call_id": "a", "output": "aborted"}),
            "ERROR Local shell call output is missing for call id: a",
        ),
        (
            search_call("a"),
            json!({
                "type": "tool_search_output", "call_id": "a", "status": "completed", "execution": "client", "tools": [],
            }),
            "INFO tool_search_call output is missing for call id: a",
        ),
    ];
    for (call, output, log) in table {
        let items = [user("before"), call.clone(), user("after")];
        let expected = [user("before"), call, item(output), user("after")];
        assert_eq!(prompt(items.clone()), shown(&expected));
        assert_eq!(logged(items), [log]);
    }
}

#[test]
fn a_history_cut_in_its_middle_is_mended_in_place() {
    // cases.md A3: the last call is answered, one in the middle is not.
    let items = [
        user("one"),
        function_call("c1"),
        user("two"),
        assistant("text"),
        function_call("c2"),
        function_output("c2", "done"),
    ];
    let mut expected = items.to_vec();
    expected.insert(2, item(json!({"type": "function_call_output", "call_id": "c1", "output": "aborted"})));
    assert_eq!(prompt(items), shown(&expected));
}

#[test]
fn outputs_without_a_call_are_left_out_and_logged() {
    let table = [
        (function_output("a", "x"), "ERROR Orphan function call output for call id: a"),
        (function_output("", "x"), "ERROR Orphan function call output for call id: "),
        (custom_output("a", "x"), "ERROR Orphan custom tool call output for call id: a"),
        (notify("a", "x"), "ERROR Orphan custom tool call output for call id: a"),
        (search_output(Some("a"), "client"), "ERROR Orphan tool search output for call id: a"),
    ];
    for (orphan, log) in table {
        // A call of another family is no call of it.
        let other = if orphan.tag() == "tool_search_output" { function_call("a") } else { search_call("a") };
        let answered = synthetic_output(&other, "").unwrap();
        let items = [user("u"), orphan.clone(), other, answered];
        let expected: Vec<ResponseItem> = items.iter().filter(|item| **item != orphan).cloned().collect();
        assert_eq!(prompt(items.clone()), shown(&expected));
        assert_eq!(logged(items), [log]);
    }
}

#[test]
fn what_looks_like_an_orphan_and_is_none_stays() {
    let items = [
        search_output(Some("a"), "server"),
        search_output(None, "client"),
        item(json!({"type": "function_call_output", "output": "x"})),
        // A shell call and a function call share a family.
        shell_call("s"),
        function_output("s", "x"),
        // More outputs than calls: none is taken away.
        function_call("d"),
        function_output("d", "first"),
        function_output("d", "second"),
        // What a script says stands beside the output of its call.
        custom_call("e"),
        custom_output("e", "x"),
        notify("e", "on the way"),
    ];
    assert_eq!(prompt(items.clone()), shown(&items));
    assert_eq!(logged(items), [""; 0]);
}

#[test]
fn what_a_script_says_does_not_stand_in_for_its_output() {
    let items = [custom_call("e"), notify("e", "on the way")];
    let expected = [items[0].clone(), custom_output("e", "aborted"), items[1].clone()];
    assert_eq!(prompt(items), shown(&expected));
}

#[test]
fn a_search_whose_arguments_were_wrong_looks_empty() {
    // core.md 7.6: the error is kept under an empty id, and vanishes.
    let items = [search_call("s"), function_output("", "failed to parse tool_search arguments: ...")];
    let expected = [items[0].clone(), synthetic_output(&items[0], "").unwrap()];
    assert_eq!(prompt(items), shown(&expected));
}

#[test]
fn images_and_sound_are_replaced_for_a_model_without() {
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AA=="});
    let audio = json!({"type": "input_audio", "audio_url": "data:audio/wav;base64,AA=="});
    let text = json!({"type": "input_text", "text": "see"});
    let (no_image, no_audio) = (
        json!({"type": "input_text", "text": "image content omitted because you do not support image input"}),
        json!({"type": "input_text", "text": "<audio content omitted because you do not support audio input>"}),
    );
    let history_of = |image: &serde_json::Value, audio: &serde_json::Value| {
        let entries = json!([text, image, audio]);
        vec![
            item(json!({"type": "message", "role": "user", "content": entries})),
            function_call("a"),
            item(json!({"type": "function_call_output", "call_id": "a", "output": entries})),
            custom_call("a"),
            item(json!({"type": "custom_tool_call_output", "call_id": "a", "output": entries})),
        ]
    };
    let as_recorded = history(history_of(&image, &audio));
    let table =
        [(true, true, &image, &audio), (false, true, &no_image, &audio), (true, false, &image, &no_audio)];
    for (image_input, audio_input, image, audio) in table {
        let abilities = ModelAbilities { image_input, audio_input, ..ModelAbilities::default() };
        assert_eq!(shown(&as_recorded.for_prompt(&abilities)), shown(&history_of(image, audio)));
    }
    assert_eq!(shown(as_recorded.items()), shown(&history_of(&image, &audio)), "the history itself stays");
}

#[test]
fn what_needs_no_repair_is_shared() {
    let history = history([user("u"), function_call("a"), function_output("a", "x"), assistant("done")]);
    let prompt = history.for_prompt(&ModelAbilities::default());
    let shared = history.items().iter().zip(&prompt).filter(|(kept, shown)| Arc::ptr_eq(kept, shown)).count();
    assert_eq!((shared, prompt.len()), (4, 4));
}

#[test]
fn a_long_history_is_repaired_whole() {
    // Each of them is found by hash, not by search.
    const CALLS: usize = 5_000;
    let history = history((0..CALLS).map(|n| function_call(&n.to_string())));
    let prompt = history.for_prompt(&ModelAbilities::default());
    assert_eq!(prompt.len(), 2 * CALLS);
    assert_eq!(prompt[1].call_id(), Some("0"));
    assert_eq!(prompt.last().unwrap().tag(), "function_call_output");
}

/// Any item, of few ids so that they meet.
fn any_item() -> impl Strategy<Value = ResponseItem> {
    let id = prop::sample::select(vec!["a", "b", ""]);
    (0..12_u8, id).prop_map(|(kind, id)| match kind {
        0 | 1 => function_call(id),
        2 => shell_call(id),
        3 => custom_call(id),
        4 => search_call(id),
        5 | 6 => function_output(id, "out"),
        7 => custom_output(id, "out"),
        8 => notify(id, "said"),
        9 => search_output(Some(id), "client"),
        10 => search_output(Some(id), "server"),
        _ => assistant(id),
    })
}

proptest! {
    #[test]
    fn every_call_has_its_output_and_nothing_else_moves(items in prop::collection::vec(any_item(), 0..40)) {
        let kept = history(items.iter().cloned());
        let prompt = kept.for_prompt(&ModelAbilities::default());
        for ((family, id), positions) in index(&prompt) {
            prop_assert!(positions.outputs.len() >= positions.calls.len(), "{family:?} {id}");
            let recorded = index(kept.items()).get(&(family, id)).map_or(0, |of_id| of_id.outputs.len());
            if positions.calls.is_empty() {
                let by_server = positions.outputs.iter().all(|&at| searched_by_server(&prompt[at]));
                prop_assert!(by_server, "an orphan: {family:?} {id}");
            } else {
                // One output a call; those beyond came recorded.
                prop_assert_eq!(positions.outputs.len(), positions.calls.len().max(recorded));
            }
        }
        // What was recorded and is still there stands in the same order.
        let mut rest = kept.items().iter();
        let own: Vec<_> = prompt.iter().filter(|item| kept.items().iter().any(|own| Arc::ptr_eq(own, item))).collect();
        for item in own {
            prop_assert!(rest.any(|kept| Arc::ptr_eq(kept, item)));
        }
        // What was added stands right behind its call.
        for pair in prompt.windows(2) {
            if !kept.items().iter().any(|own| Arc::ptr_eq(own, &pair[1])) {
                prop_assert_eq!(pair[0].call_id(), pair[1].call_id());
                prop_assert!(matches!(role(&pair[0]), Role::Call(..)));
            }
        }
        // Nothing is left to repair.
        let again = normalised(&prompt, ModelAbilities::default());
        prop_assert_eq!(shown(&again), shown(&prompt));
    }
}
