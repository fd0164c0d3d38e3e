use pretty_assertions::assert_eq;

use super::*;

fn scenario(members: Value) -> Scenario {
    let mut expected =
        json!({"outputs": [[{"type": "function_call_output", "output": "x"}]], "files": {}, "exit": 0});
    let Value::Object(members) = members else { panic!("an object of members") };
    expected.as_object_mut().unwrap().extend(members);
    serde_json::from_value(json!({"name": "s", "turns": [], "expected": expected})).unwrap()
}

fn observed() -> Observed {
    Observed {
        exit: Exit::Code(0),
        events: vec![json!({"type": "turn.failed", "error": {"message": "m"}})],
        shown: json!([{"type": "turn.failed", "error": {"message": "m"}}]),
        follow_ups: vec![vec![
            json!({"type": "function_call", "call_id": "c"}),
            json!({"type": "function_call_output", "output": "x"}),
        ]],
        calls_lost: Vec::new(),
        surface: json!({"a": {"type": "function"}, "b": {}}).as_object().unwrap().clone(),
        files: json!({}),
        stderr: String::new(),
    }
}

fn differences(scenario: &Scenario, seen: &Observed) -> Vec<String> {
    match verdict(scenario, seen).unwrap() {
        Verdict::Agrees => Vec::new(),
        Verdict::Differs(text) => {
            let changed = text.lines().filter(|line| line.starts_with(['-', '+'])).skip(2);
            changed.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        }
    }
}

#[test]
fn what_is_expected_agrees() {
    assert_eq!(differences(&scenario(json!({})), &observed()), [""; 0]);
    let all = json!({
        "events": [{"error": {"message": "m"}, "type": "turn.failed"}],
        "surface": {"a": {"type": "function"}},
        "turn_failed": "m",
    });
    assert_eq!(differences(&scenario(all), &observed()), [""; 0]);
}

#[test]
fn every_difference_is_told() {
    let base = scenario(json!({}));
    let changed = |change: fn(&mut Observed)| {
        let mut seen = observed();
        change(&mut seen);
        differences(&base, &seen)
    };
    assert_eq!(changed(|seen| seen.exit = Exit::Code(1)), ["- \"exit\": 0,", "+ \"exit\": 1,"]);
    assert_eq!(changed(|seen| seen.exit = Exit::TimedOut), ["- \"exit\": 0,", "+ \"exit\": \"timeout\","]);
    assert_eq!(changed(|seen| seen.exit = Exit::Signal(9)), ["- \"exit\": 0,", "+ \"exit\": -9,"]);
    assert_eq!(
        changed(|seen| seen.files = json!({"a": "b"})),
        ["- \"files\": {},", "+ \"files\": {", "+ \"a\": \"b\"", "+ },"]
    );
    assert_eq!(
        changed(|seen| seen.calls_lost.push("c".into())),
        ["- \"calls_lost\": [],", "+ \"calls_lost\": [", "+ \"c\"", "+ ],"]
    );
    assert!(!changed(|seen| seen.events.push(json!({"type": "not json", "line": "x"}))).is_empty());
    assert_eq!(
        changed(|seen| seen.follow_ups[0][1]["output"] = json!("y")),
        ["- \"output\": \"x\",", "+ \"output\": \"y\","]
    );
}

#[test]
fn what_a_scenario_names_beyond_that_is_compared_too() {
    for expected in [
        json!({"events": []}),
        json!({"surface": {"c": {}}}),
        json!({"surface": {"b": {"type": "function"}}}),
        json!({"turn_failed": "n"}),
    ] {
        assert!(!differences(&scenario(expected.clone()), &observed()).is_empty(), "{expected}");
    }
}

#[test]
fn an_error_class_is_enough_where_the_scenario_says_so() {
    let mut seen = observed();
    seen.follow_ups[0][1]["output"] = json!("Script error:\nSyntaxError: ours");
    let mut scenario = scenario(json!({
        "outputs": [[{"type": "function_call_output", "output": "Script error:\nSyntaxError: theirs"}]],
    }));
    assert!(!differences(&scenario, &seen).is_empty());
    scenario.compare = Some(Compare::ErrorClass);
    assert_eq!(differences(&scenario, &seen), [""; 0]);
}
