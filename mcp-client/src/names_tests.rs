use std::collections::HashSet;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn names(server: &str, tools: &[&str]) -> Vec<String> {
    let namespace = namespaces(&[server]).remove(0);
    callable_names(server, &namespace, tools)
        .into_iter()
        .map(|name| format!("{}.{}", name.namespace, name.name))
        .collect()
}

#[test]
fn characters_that_a_name_may_not_have_become_underscores() {
    assert_eq!(
        names("my-server", &["a.b", "", "ok_1"]),
        ["mcp__my_server.a_b", "mcp__my_server._", "mcp__my_server.ok_1"]
    );
}

#[test]
fn names_that_clash_all_get_a_hash() {
    let found = names("s", &["a.b", "a/b", "c"]);
    assert_eq!(found[2], "mcp__s.c");
    for name in &found[..2] {
        assert!(name.starts_with("mcp__s.a_b_"), "{name}");
        assert_eq!(name.len(), "mcp__s.a_b_".len() + 12);
    }
    assert_ne!(found[0], found[1]);
}

#[test]
fn sixty_four_bytes_stay_and_one_more_is_cut() {
    let room = MAX_NAME_BYTES - "mcp__s".len();
    let (fits, long) = ("x".repeat(room), "x".repeat(room + 1));
    assert_eq!(names("s", &[&fits])[0], format!("mcp__s.{fits}"));
    let cut = &names("s", &[&long])[0];
    assert_eq!(cut.len(), MAX_NAME_BYTES + 1, "with the dot: {cut}");
    assert!(cut.starts_with(&format!("mcp__s.{}_", "x".repeat(room - SUFFIX_BYTES))));
}

#[test]
fn a_namespace_without_room_is_cut() {
    let server = "n".repeat(70);
    let namespace = namespaces(&[&server]).remove(0);
    let name = callable_names(&server, &namespace, &["t"]).remove(0);
    assert_eq!(name.namespace.len() + name.name.len(), MAX_NAME_BYTES);
    assert!(name.name.starts_with('_'));
    assert!(belongs_to(&name.namespace, &namespace));
    assert!(!belongs_to(&name.namespace, "mcp__n"));
}

#[test]
fn clashing_namespaces_do_not_depend_on_order() {
    let one = namespaces(&["a-b", "a_b", "c"]);
    let other = namespaces(&["c", "a_b", "a-b"]);
    assert_eq!(one[2], "mcp__c");
    assert_eq!([&one[0], &one[1], &one[2]], [&other[2], &other[1], &other[0]]);
    assert_ne!(one[0], one[1]);
}

#[test]
fn hooks_see_one_flat_name() {
    let name = |namespace: &str, name: &str| {
        hook_name(&CallableName { namespace: namespace.to_owned(), name: name.to_owned() })
    };
    assert_eq!(name("mcp__fixture", "echo"), "mcp__fixture__echo");
    assert_eq!(name("mcp__fixture__", "_echo"), "mcp__fixture__echo");
    assert_eq!(name("other", "t"), "mcp__other__t");
}

proptest! {
    #[test]
    fn names_are_injective_and_within_bounds(
        servers in proptest::collection::hash_set("[a-c_-]{1,6}", 1..6),
        tools in proptest::collection::hash_set("([a-c_./é-]{0,4}|x{50,70})", 0..12),
    ) {
        let servers: Vec<String> = servers.into_iter().collect();
        let tools: Vec<String> = tools.into_iter().collect();
        let servers: Vec<&str> = servers.iter().map(String::as_str).collect();
        let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
        let (mut pairs, mut flat) = (HashSet::new(), HashSet::new());
        for (server, namespace) in servers.iter().zip(namespaces(&servers)) {
            for name in callable_names(server, &namespace, &tools) {
                prop_assert!(name.namespace.len() + name.name.len() <= MAX_NAME_BYTES);
                prop_assert!(name.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
                prop_assert!(belongs_to(&name.namespace, &namespace));
                prop_assert!(flat.insert(format!("{}__{}", name.namespace, name.name)), "{name:?}");
                prop_assert!(pairs.insert(name));
            }
        }
    }

    #[test]
    fn order_does_not_matter(tools in proptest::collection::hash_set("[ab.-]{0,3}", 1..8)) {
        let tools: Vec<String> = tools.into_iter().collect();
        let forward: Vec<&str> = tools.iter().map(String::as_str).collect();
        let backward: Vec<&str> = forward.iter().rev().copied().collect();
        let mut turned = callable_names("s", "mcp__s", &backward);
        turned.reverse();
        prop_assert_eq!(callable_names("s", "mcp__s", &forward), turned);
    }
}
