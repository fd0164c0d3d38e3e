use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tenon_tools::{FunctionSpec, ToolExecutor, ToolExposure, mcp_output_schema};

use super::*;
use crate::surface::catalogue::Catalogue;
use crate::surface::testing::Tool;

const INTRO_BULLETS: usize = 11;
const GLOBALS: [&str; 12] = [
    "exit",
    "text",
    "image",
    "audio",
    "generatedImage",
    "store",
    "load",
    "notify",
    "setTimeout",
    "clearTimeout",
    "ALL_TOOLS",
    "yield_control",
];

fn described(tools: &[std::sync::Arc<dyn ToolExecutor>], direct: DirectTools) -> String {
    match exec_spec(10_000, &Catalogue::default().nested(tools), direct) {
        ToolSpec::Custom(exec) => exec.description,
        other => panic!("{other:?}"),
    }
}

fn mcp_tool(namespace: &str, words: &str, name: &str) -> Tool {
    let output = mcp_output_schema(None);
    let function = FunctionSpec::new(name, format!("Does {name}."), JsonSchema::object([], &[]));
    let spec = ToolSpec::in_namespace(namespace, words, function.with_output_schema(output));
    Tool::in_namespace(namespace, name).with_spec(spec)
}

#[test]
fn the_fixed_part() {
    let words = described(&[], DirectTools::Shown);
    let (intro, helpers) = words.split_once("\n\n").unwrap();
    assert_eq!(intro.lines().skip(1).filter(|line| line.starts_with("- ")).count(), INTRO_BULLETS);
    let named: Vec<&str> = helpers
        .lines()
        .map(|line| line.strip_prefix("- `").unwrap().split(['(', '`']).next().unwrap())
        .collect();
    assert_eq!(named, GLOBALS);
    assert_eq!(words, described(&[], DirectTools::Hidden));
    for said in ["There is no `Intl`", "no Node", "Default: 10000.", "`// @exec: {"] {
        assert!(words.contains(said), "{said}");
    }
    assert!(!words.contains("{default"));
}

#[test]
fn the_defaults_are_those_that_hold() {
    let ToolSpec::Custom(exec) = exec_spec(2_500, &[], DirectTools::Shown) else { panic!() };
    assert_eq!(exec.description.matches("Default: 2500.").count(), 1);
    assert_eq!(exec.description.matches("Default: 10000.").count(), 1);
    let ToolSpec::Function(wait) = wait_spec(2_500) else { panic!() };
    assert_eq!(wait.description.matches("Default: 2500.").count(), 1);
}

#[test]
fn the_grammar() {
    let expected = "\nstart: pragma_source | plain_source\npragma_source: PRAGMA_LINE NEWLINE SOURCE\n\
                    plain_source: SOURCE\n\nPRAGMA_LINE: /[ \\t]*\\/\\/ @exec:[^\\r\\n]*/\n\
                    NEWLINE: /\\r?\\n/\nSOURCE: /[\\s\\S]+/\n";
    let spec = serde_json::to_value(exec_spec(10_000, &[], DirectTools::Shown)).unwrap();
    assert_eq!(spec["format"], json!({"type": "grammar", "syntax": "lark", "definition": expected}));
    assert_eq!((&spec["type"], &spec["name"]), (&json!("custom"), &json!("exec")));
}

#[test]
fn wait() {
    let spec = serde_json::to_value(wait_spec(10_000)).unwrap();
    let first = spec["description"].as_str().unwrap().lines().next().unwrap();
    assert_eq!(first, "Waits on a yielded `exec` cell and returns new output or completion.");
    let types: Vec<(&str, &Value)> = spec["parameters"]["properties"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, schema)| (name.as_str(), &schema["type"]))
        .collect();
    assert_eq!(
        types,
        [
            ("cell_id", &json!("string")),
            ("max_tokens", &json!("number")),
            ("terminate", &json!("boolean")),
            ("yield_time_ms", &json!("number")),
        ]
    );
    assert_eq!(spec["parameters"]["required"], json!(["cell_id"]));
    assert_eq!(spec["strict"], json!(false));
}

#[test]
fn sections_of_tools() {
    let tools = [
        mcp_tool("mcp__b-c", "Notes.", "write").arc(),
        mcp_tool("mcp__b-c", "Notes.", "add").arc(),
        mcp_tool("mcp__a", " ", "z").arc(),
        Tool::function("run").described("Runs it.").arc(),
        mcp_tool("mcp__d", "Late.", "late").exposed(ToolExposure::Deferred).arc(),
        Tool::search().arc(),
    ];
    let all = described(&tools, DirectTools::Hidden);
    let rest = all.strip_prefix(&described(&[], DirectTools::Hidden)).unwrap();
    let rest = rest.strip_prefix("\n\n").unwrap();
    let (deferred, rest) = rest.split_once("\n\n").unwrap();
    assert_eq!(deferred, DEFERRED_WORDS.trim_end());
    assert_eq!(deferred.lines().count(), 2);
    let (types, rest) = rest.split_once("\n\n").unwrap();
    assert_eq!(types, format!("Shared MCP Types:\n```ts\n{}\n```", SHARED_MCP_TYPES.trim_end()));
    let block = |name: &str, result: &str| {
        format!(
            "exec tool declaration:\n```ts\ndeclare const tools: {{ {name}(args: {{}}): Promise<{result}>; }};\n```"
        )
    };
    let expected = [
        format!("### `run`\nRuns it.\n\n{}", block("run", "unknown")),
        format!("### `mcp__a__z`\nDoes z.\n\n{}", block("mcp__a__z", "CallToolResult")),
        "## mcp__b-c\nNotes.".to_owned(),
        format!(
            "### `mcp__b_c__add` (`mcp__b-c.add`)\nDoes add.\n\n{}",
            block("mcp__b_c__add", "CallToolResult")
        ),
        format!(
            "### `mcp__b_c__write` (`mcp__b-c.write`)\nDoes write.\n\n{}",
            block("mcp__b_c__write", "CallToolResult")
        ),
    ];
    // `mcp__a` has no words of its own, so that its tools stand among those of no namespace, by name.
    let mut found: Vec<&str> = rest.split("\n\n#").collect();
    assert_eq!(found.len(), expected.len());
    for (at, section) in found.iter_mut().enumerate() {
        assert_eq!(section.trim_start_matches('#'), expected[at].trim_start_matches('#'));
    }
}

#[test]
fn tools_that_are_shown_have_no_section() {
    let tools = [mcp_tool("mcp__b", "Notes.", "write").arc()];
    assert_eq!(described(&tools, DirectTools::Shown), described(&[], DirectTools::Shown));
    let late = mcp_tool("mcp__b", "Notes.", "write").exposed(ToolExposure::Deferred);
    let late = [late.arc(), Tool::search().arc()];
    let expected = format!("{}\n\n{}", described(&[], DirectTools::Shown), DEFERRED_WORDS.trim_end());
    assert_eq!(described(&late, DirectTools::Shown), expected);
}

#[test]
fn the_shared_types_come_for_deferred_tools_too() {
    let late = mcp_tool("mcp__b", "Notes.", "write").exposed(ToolExposure::Deferred);
    let late = [late.arc(), Tool::search().arc()];
    let words = described(&late, DirectTools::Hidden);
    assert!(words.contains("Shared MCP Types:\n```ts\ntype Role = "));
    assert!(!words.contains("### "));
    for name in [
        "Role",
        "MetaObject",
        "Annotations",
        "Icon",
        "TextResourceContents",
        "BlobResourceContents",
        "TextContent",
        "ImageContent",
        "AudioContent",
        "ResourceLink",
        "EmbeddedResource",
        "ContentBlock",
    ] {
        assert!(words.contains(&format!("\ntype {name} = ")), "{name}");
    }
    assert!(words.contains("\ntype CallToolResult<T = { [key: string]: unknown }> = "));
}

#[test]
fn one_list_gives_one_text() {
    let mut tools: Vec<_> = ["b", "a", "c"].iter().map(|name| Tool::function(name).arc()).collect();
    let there = described(&tools, DirectTools::Hidden);
    tools.reverse();
    assert_eq!(described(&tools, DirectTools::Hidden), there);
}
