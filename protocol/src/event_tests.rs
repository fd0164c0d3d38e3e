use serde_json::json;

use super::*;

fn usage(n: u64) -> TokenUsage {
    TokenUsage {
        input_tokens: n,
        cached_input_tokens: n + 1,
        cache_write_input_tokens: n + 2,
        output_tokens: n + 3,
        reasoning_output_tokens: n + 4,
        total_tokens: n + 5,
    }
}

#[test]
fn usage_adds_up_member_by_member() {
    let mut sum = usage(1) + usage(10);
    assert_eq!(
        sum,
        TokenUsage {
            input_tokens: 11,
            cached_input_tokens: 13,
            cache_write_input_tokens: 15,
            output_tokens: 17,
            reasoning_output_tokens: 19,
            total_tokens: 21,
        }
    );
    sum += usage(u64::MAX - 5);
    assert_eq!(sum.total_tokens, u64::MAX);
}

#[test]
fn usage_has_the_names_of_rollouts() {
    let json = json!({
        "input_tokens": 1, "cached_input_tokens": 2, "output_tokens": 3,
        "reasoning_output_tokens": 4, "total_tokens": 5,
    });
    let read: TokenUsage = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(read.cached_input_tokens, 2);
    assert_eq!(serde_json::to_value(read).unwrap(), json);
    assert_eq!(serde_json::from_str::<TokenUsage>("{}").unwrap(), TokenUsage::default());
    assert_eq!(serde_json::to_value(usage(0)).unwrap()["cache_write_input_tokens"], 2);
}

#[test]
fn a_failure_shows_its_code() {
    let failure = ResponseFailure { code: Some("c".into()), message: "m".into() };
    assert_eq!(failure.to_string(), "c: m");
    assert_eq!(ResponseFailure { code: None, ..failure }.to_string(), "m");
}
