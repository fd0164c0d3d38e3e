use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

#[test]
fn flat_names() {
    let rows = [
        (None, "exec_command", "exec_command"),
        (Some(""), "exec_command", "exec_command"),
        (Some("functions"), "exec_command", "exec_command"),
        (Some("mcp__fixture"), "echo", "mcp__fixture__echo"),
        (Some("mcp__fixture__"), "echo", "mcp__fixture__echo"),
        (Some("notes_"), "add", "notes_add"),
        (Some("notes"), "_add", "notes_add"),
        (Some("notes_"), "_add", "notes__add"),
        (Some("a-b"), "c.d", "a-b__c.d"),
    ];
    for (namespace, name, flat) in rows {
        assert_eq!(flat_name(&ToolName::new(namespace, name)), flat, "{namespace:?} {name}");
    }
}

#[test]
fn identifiers() {
    let rows = [
        ("", "_"),
        ("exec_command", "exec_command"),
        ("$x1", "$x1"),
        ("1x", "_x"),
        ("x1", "x1"),
        ("mcp__a-b__c.d", "mcp__a_b__c_d"),
        ("ärger", "_rger"),
        ("a b\nc", "a_b_c"),
        ("日本", "__"),
    ];
    for (flat, identifier) in rows {
        assert_eq!(js_identifier(flat), identifier, "{flat}");
    }
}

proptest! {
    #[test]
    fn an_identifier_stays_as_it_is(name in "\\PC{0,20}") {
        let identifier = js_identifier(&name);
        prop_assert!(is_js_identifier(&identifier));
        prop_assert_eq!(js_identifier(&identifier), identifier.clone());
        prop_assert_eq!(is_js_identifier(&name), identifier == name);
    }
}
