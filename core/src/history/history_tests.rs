use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;
use tenon_tools::{ModelAbilities, SERIALISATION_ALLOWANCE, truncate_text};

use super::samples::*;
use super::*;

fn history(items: impl IntoIterator<Item = ResponseItem>) -> History {
    let mut history = History::new(TruncationPolicy::default());
    history.extend(items);
    history
}

#[test]
fn what_has_no_place_in_a_history_is_not_kept() {
    let mut history = history([]);
    let without_place = [
        ResponseItem::message("system", "s"),
        item(json!({"type": "ghost_snapshot", "ghost_commit": {}})),
        item(json!({"type": "function_call", "name": "x", "arguments": "{}"})),
        item(json!({"type": "custom_tool_call", "name": "x", "input": ""})),
        item(json!({"type": "function_call", "name": 5, "arguments": "{}"})),
        item(json!({"type": "custom_tool_call", "name": "x", "call_id": 5, "input": ""})),
        item(
            json!({"type": "local_shell_call", "status": "completed", "action": {"type": "exec", "command": []}}),
        ),
    ];
    for item in without_place {
        assert_eq!(history.record(item), None);
    }
    let with_place = [
        ResponseItem::message("developer", "d"),
        // Without a call id a search is simply not ours (core.md 0.2).
        item(json!({"type": "tool_search_call", "execution": "client", "arguments": {}})),
        item(json!({"type": "tool_search_call", "execution": "server", "arguments": {}})),
        item(json!({"type": "something_new", "a": 1})),
        item(json!({"type": "function_call", "call_id": "a"})),
        item(json!({"type": "web_search_call"})),
    ];
    for item in &with_place {
        assert_eq!(history.record(item.clone()).as_deref(), Some(item));
    }
    assert_eq!(shown(history.items()), shown(&with_place));
    // A call whose members don't fit is no call that runs; but no request shows it without an output.
    let mut requested = shown(&with_place);
    let answer = json!({"type": "function_call_output", "call_id": "a", "output": "aborted"});
    requested.insert(5, answer.to_string());
    assert_eq!(shown(&history.for_prompt(&ModelAbilities::default())), requested);
}

#[test]
fn outputs_are_cut_to_the_policy_and_its_allowance() {
    let mut history = History::new(TruncationPolicy::Bytes(128));
    let text =
        |item: &ResponseItem| payload::payload(item.kind()).unwrap().body.to_text().unwrap_or_default();
    // 128 * 1.2 = 154: at the edge it stays, one byte more is cut.
    for (call, output) in [
        (function_call as fn(&str) -> _, function_output as fn(&str, &str) -> _),
        (custom_call, custom_output),
    ] {
        history.record(call("a"));
        let fits = history.record(output("a", &"x".repeat(154))).unwrap();
        assert_eq!(text(&fits), "x".repeat(154));
        let cut = history.record(output("b", &"x".repeat(155))).unwrap();
        assert_eq!(text(&cut), truncate_text(&"x".repeat(155), TruncationPolicy::Bytes(154)));
    }
    // What a projection has cut already is cut once more (core.md 3.8).
    let once = truncate_text(&"x".repeat(1000), TruncationPolicy::Bytes(128).scaled(SERIALISATION_ALLOWANCE));
    assert!(once.contains("…846 chars truncated…") && once.len() == 179);
    let twice = text(&history.record(function_output("c", &once)).unwrap());
    assert!(twice.contains("…21 chars truncated…") && twice.len() == 178, "{twice}");
    // What is no function or custom output is never cut.
    let long = user(&"x".repeat(10_000));
    assert_eq!(history.record(long.clone()).as_deref(), Some(&long));
}

#[test]
fn items_of_an_output_are_cut_one_by_one() {
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA"});
    let audio = json!({"type": "input_audio", "audio_url": "data:audio/wav;base64,AAAA"});
    let output = |entries: serde_json::Value| {
        item(json!({"type": "function_call_output", "call_id": "a", "output": entries}))
    };
    // 10 * 1.2 = 12 bytes; 3 tokens and their allowance are 4.
    let bytes = TruncationPolicy::Bytes(10);
    let tokens = TruncationPolicy::Tokens(3);
    let table = [
        (
            bytes,
            json!([text("123456"), image, text("123456")]),
            json!([text("123456"), image, text("123456")]),
        ),
        (
            bytes,
            json!([text("12345678"), image, text("12345")]),
            json!([text("12345678"), image, text("12…1 chars truncated…45")]),
        ),
        (tokens, json!([text("12345"), text("12345678")]), json!([text("12345"), text("12345678")])),
        (
            tokens,
            json!([text("123456789"), text("12345")]),
            json!([text("123456789"), text("12…1 tokens truncated…45")]),
        ),
        (bytes, json!([text(""), text("x")]), json!([text("x")])),
        (bytes, json!([text("x"), audio]), json!([text("x"), text("[omitted 1 audio items ...]")])),
    ];
    for (policy, entries, expected) in table {
        let mut history = History::new(policy);
        let kept = history.record(output(entries)).unwrap();
        let kept: serde_json::Value = serde_json::from_str(&kept.raw_json()).unwrap();
        assert_eq!(kept["output"], expected);
    }
}

#[test]
fn an_output_that_fits_stays_as_it_came() {
    let came = r#"{"output": "x",  "type":"function_call_output","new":null,"call_id":"a"}"#;
    let kept = history([]).record(ResponseItem::parse(came).unwrap()).unwrap();
    assert_eq!(kept.raw_json(), came);
}

#[test]
fn an_entry_filter_sees_every_item_that_is_kept() {
    let filter: EntryFilter = Arc::new(|_| user("seen"));
    let mut history = History::new(TruncationPolicy::default()).with_entry_filter(filter);
    history.extend([ResponseItem::message("system", "s"), user("a"), assistant("b")]);
    assert_eq!(shown(history.items()), shown(&[user("seen"), user("seen")]));
}

#[test]
fn unpaired_calls_are_told_in_order() {
    let history = history([
        function_call("a"),
        custom_call("a"),
        function_call("a"),
        function_output("a", "x"),
        search_call("b"),
        notify("a", "x"),
    ]);
    let told: Vec<_> =
        history.unpaired_calls().into_iter().map(|c| (c.position, c.call_id, c.family)).collect();
    let expected = [
        (1, CallId::from("a"), CallFamily::Custom),
        (2, CallId::from("a"), CallFamily::Function),
        (4, CallId::from("b"), CallFamily::Search),
    ];
    assert_eq!(told, expected);
}

#[test]
fn trimming_takes_whole_pairs_of_every_kind() {
    // cases.md A9. The first half holds a call of each kind, the second half the outputs.
    let items = [
        user("old"),
        function_call("f"),
        custom_call("c"),
        shell_call("l"),
        search_call("s"),
        notify("c", "said"),
        function_call("new"),
        function_output("f", "x"),
        custom_output("c", "x"),
        function_output("l", "x"),
        search_output(Some("s"), "client"),
        notify("c", "said later"),
        function_output("new", "x"),
    ];
    let mut history = history(items.clone());
    let removed = history.trim(6);
    let left = [items[6].clone(), items[12].clone()];
    assert_eq!(shown(history.items()), shown(&left));
    assert_eq!(removed.len() + left.len(), items.len());
    assert_eq!(shown(&history.for_prompt(&ModelAbilities::default())), shown(&left));
}

#[test]
fn trimming_an_output_takes_its_call_and_leaves_calls_in_flight() {
    let items = [
        function_call("in flight"),
        custom_call("e"),
        function_call("a"),
        function_output("a", "x"),
        notify("e", "of a call in flight"),
    ];
    let mut history = history(items.clone());
    let removed =
        history.retain(|item| item.tag() != "function_call_output" && item.call_id() != Some("in flight"));
    assert_eq!(shown(&removed), shown(&items[2..4]));
    assert_eq!(history.trim(usize::MAX).len(), 1, "what a script said goes alone");
    assert_eq!(shown(history.items()), shown(&items[..2]));
}

#[test]
fn trimming_pairs_by_occurrence() {
    let items = [
        function_call("a"),
        function_output("a", "first"),
        function_call("a"),
        function_output("a", "second"),
    ];
    let mut history = history(items.clone());
    history.trim(1);
    assert_eq!(shown(history.items()), shown(&items[2..]));
}

#[test]
fn the_last_message_of_the_model_is_the_newest_that_says_something() {
    assert_eq!(history([user("u")]).last_agent_message(), None);
    let said = history([assistant("first"), assistant("second"), user("u"), assistant(" ")]);
    assert_eq!(said.last_agent_message().as_deref(), Some("second"));
}

proptest! {
    #[test]
    fn trimming_never_leaves_one_half_of_a_pair(
        kinds in prop::collection::vec((0..7_u8, prop::sample::select(vec!["a", "b"])), 0..30),
        count in 0..30_usize,
    ) {
        let items = kinds.into_iter().map(|(kind, id)| match kind {
            0 | 1 => function_call(id),
            2 => custom_call(id),
            3 | 4 => function_output(id, "x"),
            5 => custom_output(id, "x"),
            _ => notify(id, "x"),
        });
        let mut history = history(items);
        let unpaired = |history: &History| history.unpaired_calls().iter().map(|call| Arc::clone(&call.item)).collect::<Vec<_>>();
        let surplus = |history: &History| {
            index(history.items()).values().map(|p| p.outputs.len().saturating_sub(p.calls.len())).sum::<usize>()
        };
        let (before, outputs_before) = (unpaired(&history), surplus(&history));
        let total = history.items().len();
        let removed = history.trim(count);
        prop_assert_eq!(removed.len() + history.items().len(), total);
        prop_assert_eq!(unpaired(&history), before, "the calls in flight, and no others");
        prop_assert!(surplus(&history) <= outputs_before, "no output lost its call");
    }
}
