use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::history::samples::*;

#[test]
fn each_kind_has_its_role() {
    use CallFamily::{Custom, Function, Search};
    let table = [
        (function_call("a"), Role::Call(Function, "a")),
        (shell_call("a"), Role::Call(Function, "a")),
        (custom_call("a"), Role::Call(Custom, "a")),
        (search_call("a"), Role::Call(Search, "a")),
        (function_output("a", ""), Role::Output(Function, "a")),
        (custom_output("a", ""), Role::Output(Custom, "a")),
        (notify("a", ""), Role::Notify("a")),
        (search_output(Some("a"), "client"), Role::Output(Search, "a")),
        (search_output(None, "client"), Role::Neither),
        (function_output("", ""), Role::Output(Function, "")),
        (item(json!({"type": "function_call_output", "output": "x"})), Role::Neither),
        (item(json!({"type": "computer_call", "call_id": "a"})), Role::Neither),
        (user("a"), Role::Neither),
    ];
    for (item, expected) in table {
        assert_eq!(role(&item), expected, "{item:?}");
    }
}

#[test]
fn the_nth_call_is_paired_with_the_nth_output_of_its_id_and_family() {
    let items = [
        function_call("a"),
        function_call("a"),
        custom_call("a"),
        notify("a", "on the way"),
        function_output("a", "first"),
        custom_output("b", "of nobody"),
    ];
    let index = index(&items);
    let function = &index[&(CallFamily::Function, "a")];
    assert_eq!((&function.calls[..], &function.outputs[..]), (&[0, 1][..], &[4][..]));
    assert_eq!(function.unpaired(), [1]);
    assert_eq!(index[&(CallFamily::Custom, "a")].unpaired(), [2], "what a script says is no output");
    assert_eq!(index[&(CallFamily::Custom, "b")].unpaired(), [0_usize; 0]);
}

#[test]
fn a_synthetic_output_is_of_the_calls_kind_with_an_id_derived_from_the_calls() {
    let with_id = |mut call: serde_json::Value, id: &str| {
        call["id"] = json!(id);
        item(call)
    };
    let json_of = |item: &ResponseItem| serde_json::from_str::<serde_json::Value>(&item.raw_json()).unwrap();
    let table = [
        (
            function_call("a"),
            "fc_1",
            "fco_d08ee114-ed5d-5706-8dbd-16ccacd40aa4",
            json!({"type": "function_call_output", "call_id": "a", "output": "t"}),
        ),
        (
            shell_call("a"),
            "lsh_1",
            "fco_37093384-5cd0-5813-8a86-723bfcccbbb2",
            json!({"type": "function_call_output", "call_id": "a", "output": "t"}),
        ),
        (
            custom_call("a"),
            "ctc_1",
            "ctco_ffd2c872-81a7-5a00-b6f6-884096d1f522",
            json!({"type": "custom_tool_call_output", "call_id": "a", "output": "t"}),
        ),
        (
            search_call("a"),
            "tsc_1",
            "tso_f380c6b3-5815-5031-91ee-dd1c77f963ee",
            json!({
                "type": "tool_search_output", "call_id": "a", "status": "completed", "execution": "client", "tools": [],
            }),
        ),
    ];
    for (call, id, synthetic_id, expected) in table {
        let output = synthetic_output(&call, "t").unwrap();
        assert_eq!(json_of(&output), expected);
        let identified = with_id(json_of(&call), id);
        let mut expected = expected;
        expected["id"] = json!(synthetic_id);
        assert_eq!(json_of(&synthetic_output(&identified, "t").unwrap()), expected);
    }
    assert_eq!(synthetic_output(&user("a"), "t"), None);
    assert_eq!(
        synthetic_output(&item(json!({"type": "function_call", "name": "x", "arguments": ""})), "t"),
        None
    );
}
