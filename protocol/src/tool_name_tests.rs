use super::*;

/// core.md 12.7: wire namespace, name, and what the model sees.
#[test]
fn name_forms() {
    let cases = [
        (None, "f", "functions", "f", "f"),
        (Some(""), "f", "functions", "f", "f"),
        (Some("functions"), "f", "functions", "f", "f"),
        (Some("mcp__cal__"), "create", "mcp__cal__", "mcp__cal__.create", "mcp__cal__create"),
        (Some("mcp__cal"), "create", "mcp__cal", "mcp__cal.create", "mcp__calcreate"),
    ];
    for (namespace, name, normal, shown, flat) in cases {
        let tool = ToolName::new(namespace, name);
        assert_eq!(tool.namespace(), namespace);
        assert_eq!(tool.name(), name);
        assert_eq!(tool.to_string(), shown);
        assert_eq!(tool.flat_tool_name(), flat);
        assert_eq!(tool.is_default_namespace(), normal == DEFAULT_NAMESPACE);
        let tool = tool.with_default_namespace();
        assert_eq!(tool.namespace(), Some(normal));
        assert_eq!(tool.to_string(), shown);
        assert_eq!(tool, ToolName::new(Some(normal), name));
    }
}

#[test]
fn plain_names_have_no_namespace() {
    assert_eq!(ToolName::plain("f"), ToolName::new(None, "f"));
    assert_ne!(ToolName::plain("f"), ToolName::plain("f").with_default_namespace());
}

#[test]
fn orders_by_namespace_or_name_then_by_name() {
    let sorted = [
        ToolName::plain("a"),
        ToolName::new(Some("a"), "a"),
        ToolName::new(Some("b"), "a"),
        ToolName::plain("b"),
        ToolName::new(Some("b"), "c"),
        ToolName::plain("c"),
    ];
    let mut names = sorted.clone();
    names.reverse();
    names.sort();
    assert_eq!(names, sorted);
}

#[test]
fn order_agrees_with_equality() {
    let (plain, inside) = (ToolName::plain("a"), ToolName::new(Some("a"), "a"));
    assert_ne!(plain, inside);
    assert_ne!(plain.cmp(&inside), Ordering::Equal);
    assert_eq!(plain.cmp(&plain.clone()), Ordering::Equal);
}
