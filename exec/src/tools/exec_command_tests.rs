use pretty_assertions::assert_eq;

use super::*;

#[test]
fn the_yield_is_held_within_its_bounds() {
    let millis = |asked| wait(asked).as_millis();
    assert_eq!(millis(None), 10_000);
    assert_eq!(millis(Some(0)), 250);
    assert_eq!(millis(Some(250)), 250);
    assert_eq!(millis(Some(251)), 251);
    assert_eq!(millis(Some(30_000)), 30_000);
    assert_eq!(millis(Some(30_001)), 30_000);
    assert_eq!(millis(Some(u64::MAX)), 30_000);
}

#[test]
fn login_is_offered_where_it_is_allowed() {
    let names = |allowed| {
        let properties = parameters(allowed).properties.expect("members");
        properties.into_keys().collect::<Vec<_>>()
    };
    let mut expected = vec![
        "cmd",
        "justification",
        "login",
        "max_output_tokens",
        "prefix_rule",
        "sandbox_permissions",
        "shell",
        "tty",
        "workdir",
        "yield_time_ms",
    ];
    assert_eq!(names(true), expected);
    expected.remove(2);
    assert_eq!(names(false), expected);
    assert_eq!(parameters(true).required, Some(vec!["cmd".to_owned()]));
}

#[test]
fn failures_are_cut_at_900_bytes_of_whole_characters() {
    let text = |reason: &str| failed(&reason).text().strip_prefix("exec_command failed: ").map(str::len);
    assert_eq!(text(&"x".repeat(900)), Some(900));
    assert_eq!(text(&"x".repeat(901)), Some(900));
    assert_eq!(text(&"✓".repeat(301)), Some(900));
    assert_eq!(text(&format!("x{}", "✓".repeat(300))), Some(898));
}
