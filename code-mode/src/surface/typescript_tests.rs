use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::reference::{MAX_EXPANSIONS, MAX_NESTED_EXPANSIONS};
use super::*;

fn assert_rows(rows: &[(Value, &str)]) {
    for (schema, expected) in rows {
        assert_eq!(typescript(schema), *expected, "{schema}");
    }
}

#[test]
fn what_is_no_object_says_nothing() {
    assert_rows(&[
        (json!(true), "unknown"),
        (json!(false), "never"),
        (json!(null), "unknown"),
        (json!(7), "unknown"),
        (json!("string"), "unknown"),
        (json!(["string"]), "unknown"),
        (json!({}), "unknown"),
        (json!({"description": "x", "title": "y", "default": 1}), "unknown"),
    ]);
}

#[test]
fn plain_types() {
    assert_rows(&[
        (json!({"type": "string"}), "string"),
        (json!({"type": "number"}), "number"),
        (json!({"type": "integer"}), "number"),
        (json!({"type": "boolean"}), "boolean"),
        (json!({"type": "null"}), "null"),
        (json!({"type": "any"}), "unknown"),
        (json!({"type": ["string", "null"]}), "string | null"),
        (json!({"type": ["integer", "number", "null"]}), "number | null"),
        (json!({"type": ["array", "null"], "items": {"type": "string"}}), "Array<string> | null"),
        (json!({"type": []}), "unknown"),
        (json!({"type": [1]}), "unknown"),
    ]);
}

#[test]
fn constants_and_choices() {
    assert_rows(&[
        (json!({"const": "a\"b"}), r#""a\"b""#),
        (json!({"const": null}), "null"),
        (json!({"const": {"a": [1, true]}, "type": "string"}), r#"{"a":[1,true]}"#),
        (json!({"enum": ["a", 1, null, true], "type": "string"}), r#""a" | 1 | null | true"#),
        (json!({"enum": ["a", "a"]}), r#""a""#),
        (json!({"enum": [], "type": "string"}), "string"),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}], "type": "object"}), "string | null"),
        (json!({"oneOf": [{"const": "a"}, {"const": "b"}]}), r#""a" | "b""#),
        (json!({"anyOf": [], "oneOf": [{"type": "string"}]}), "string"),
        (json!({"allOf": [{"type": "string"}, {"type": "number"}]}), "string & number"),
        (
            json!({"allOf": [{"type": ["string", "null"]}, {"enum": ["a", "b"]}, {"const": 1}]}),
            r#"(string | null) & ("a" | "b") & 1"#,
        ),
        (json!({"allOf": [{"type": ["string", "null"]}]}), "string | null"),
        (
            json!({"anyOf": [{"allOf": [{"type": "string"}, {"type": "null"}]}, false]}),
            "string & null | never",
        ),
    ]);
}

#[test]
fn arrays() {
    assert_rows(&[
        (json!({"type": "array", "items": {"type": "string"}}), "Array<string>"),
        (json!({"items": {"type": ["string", "null"]}}), "Array<string | null>"),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]}),
            "[string, number]",
        ),
        (json!({"prefixItems": [{"type": "string"}]}), "[string]"),
        (json!({"type": "array"}), "unknown[]"),
        (json!({"type": "array", "prefixItems": []}), "unknown[]"),
        (json!({"type": "array", "items": true}), "Array<unknown>"),
    ]);
}

#[test]
fn objects() {
    assert_rows(&[
        (
            json!({"properties": {"b": {"type": "number"}, "a": {"type": "string"}}, "required": ["a"]}),
            "{ a: string; b?: number; }",
        ),
        (
            json!({"type": "object", "properties": {"a-b": true, "1": true}}),
            r#"{ "1"?: unknown; "a-b"?: unknown; }"#,
        ),
        (json!({"type": "object"}), "{ [key: string]: unknown; }"),
        (json!({"type": "object", "properties": {}}), "{ [key: string]: unknown; }"),
        (json!({"required": ["a"]}), "{ [key: string]: unknown; }"),
        (json!({"type": "object", "additionalProperties": false}), "{}"),
        (json!({"additionalProperties": {"type": "number"}}), "{ [key: string]: number; }"),
        (
            json!({"properties": {"a": {"type": "string"}}, "additionalProperties": true}),
            "{ a?: string; [key: string]: unknown; }",
        ),
        (json!({"properties": {"a": {"type": "string"}}, "additionalProperties": false}), "{ a?: string; }"),
        (
            json!({"properties": {"a": {"properties": {"b": {"type": "null"}}}}, "required": ["a", 7]}),
            "{ a: { b?: null; }; }",
        ),
    ]);
}

#[test]
fn descriptions_are_comments() {
    let schema = json!({
        "properties": {
            "b": {"type": "number", "description": "First.\n\n  Second.\r\nThird.\u{2028}Fourth.\rFifth."},
            "a": {"type": "object", "properties": {"x": {"type": "string", "description": "Deep."}}},
            "c": {"type": "string", "description": " \n "},
        },
        "required": ["b"],
        "additionalProperties": {"type": "boolean"},
    });
    let expected = "{\n  a?: {\n    // Deep.\n    x?: string;\n  };\n  // First.\n  // Second.\n  // Third.\n  // Fourth.\n  \
                    // Fifth.\n  b: number;\n  c?: string;\n  [key: string]: boolean;\n}";
    assert_eq!(typescript(&schema), expected);
}

#[test]
fn references() {
    let defs = json!({
        "Name": {"type": "string"},
        "a/b~c d": {"type": "number"},
        "Any": {},
        "Own": {"$id": "https://example.org/own", "properties": {"n": {"$ref": "#/$defs/Name"}}},
    });
    let rows = [
        (json!({"$ref": "#/$defs/Name"}), "string"),
        (json!({"$ref": "#/$defs/a~1b~0c%20d"}), "number"),
        (json!({"$ref": "#/$defs/Nothing"}), "unknown"),
        (json!({"$ref": "#Name"}), "unknown"),
        (json!({"$ref": "https://example.org/x#/$defs/Name"}), "unknown"),
        (json!({"$ref": "other.json"}), "unknown"),
        (json!({"$ref": "#/$defs/%FF"}), "unknown"),
        (json!({"$ref": 7, "type": "string"}), "string"),
        (json!({"$ref": "#/$defs/Name", "description": "x", "default": "y"}), "string"),
        (json!({"$ref": "#/$defs/Name", "enum": ["a", "b"]}), r#"(string) & ("a" | "b")"#),
        (json!({"$ref": "#/$defs/Any", "type": "string"}), "string"),
        (json!({"$ref": "#/$defs/Nothing", "type": "string"}), "string"),
        (json!({"$ref": "#/$defs/Name", "type": "odd"}), "string"),
        (json!({"$ref": "#/$defs/Own"}), "{ n?: unknown; }"),
        (json!({"$ref": "#/$defs/Own/properties/n"}), "unknown"),
        (
            json!({"properties": {"p": {"$id": "x", "properties": {"q": {"$ref": "#/$defs/Name"}}}}}),
            "{ p?: { q?: unknown; }; }",
        ),
        (json!({"$id": "https://example.org", "items": {"$ref": "#/$defs/Name"}}), "Array<string>"),
        (json!({"anyOf": [{"$ref": "#/anyOf/1"}, {"type": "null"}]}), "null"),
    ];
    for (mut schema, expected) in rows {
        schema.as_object_mut().unwrap().insert("$defs".to_owned(), defs.clone());
        assert_eq!(typescript(&schema), expected, "{schema}");
    }
}

#[test]
fn a_tree_is_shown_two_levels_deep() {
    assert_eq!(MAX_NESTED_EXPANSIONS, 2);
    let tree = json!({
        "$defs": {"Tree": {"properties": {"left": {"$ref": "#/$defs/Tree"}}}},
        "$ref": "#/$defs/Tree",
    });
    assert_eq!(typescript(&tree), "{ left?: { left?: unknown; }; }");
    let root = json!({"properties": {"again": {"$ref": "#"}}});
    assert_eq!(typescript(&root), "{ again?: { again?: { again?: unknown; }; }; }");
}

#[test]
fn so_many_references_are_expanded_and_no_more() {
    let of = |count: usize| {
        let items = vec![json!({"$ref": "#/$defs/N"}); count];
        typescript(&json!({"$defs": {"N": {"type": "number"}}, "prefixItems": items}))
    };
    let expected = |numbers: usize, unknown: usize| {
        format!("[{}]", [vec!["number"; numbers], vec!["unknown"; unknown]].concat().join(", "))
    };
    assert_eq!(of(MAX_EXPANSIONS), expected(MAX_EXPANSIONS, 0));
    assert_eq!(of(MAX_EXPANSIONS + 1), expected(MAX_EXPANSIONS, 1));
}

#[test]
fn a_type_may_be_so_long() {
    let of = |bytes: usize| typescript(&json!({"const": "x".repeat(bytes - 2)}));
    assert_eq!(of(MAX_TYPE_BYTES).len(), MAX_TYPE_BYTES);
    assert_eq!(of(MAX_TYPE_BYTES + 1), "unknown");
}

#[test]
fn a_type_may_cost_so_much_work() {
    // A constant, and the arrays around it, each of them the text of all that is inside: 1,000 bytes and 7 more a level.
    let mut writer = TypeWriter { root: &Value::Null, work: 0, expansions: 0, open: Vec::new() };
    assert!(writer.spend(MAX_WORK_BYTES).is_ok());
    assert!(writer.spend(1).is_err());
    let mut schema = json!({"const": "x".repeat(998)});
    let (mut work, mut level) = (1000, 0);
    while work + 1000 + 7 * (level + 1) <= MAX_WORK_BYTES {
        level += 1;
        work += 1000 + 7 * level;
        schema = json!({ "items": schema });
    }
    assert!(level < MAX_TYPE_DEPTH, "the depth must not be what ends it");
    assert_eq!(typescript(&schema).len(), 1000 + 7 * level);
    assert_eq!(typescript(&json!({ "items": schema })), "unknown");
}

#[test]
fn a_type_may_be_so_deep() {
    let nested =
        |levels: usize| (0..levels).fold(json!({"type": "string"}), |schema, _| json!({ "items": schema }));
    assert!(typescript(&nested(MAX_TYPE_DEPTH - 1)).contains("Array<string>"));
    assert!(typescript(&nested(MAX_TYPE_DEPTH)).contains("Array<unknown>"));
}

#[test]
fn large_lists_are_given_up_before_they_cost() {
    let names: serde_json::Map<String, Value> = (0..200_000).map(|n| (format!("n{n}"), json!({}))).collect();
    let required: Vec<&String> = names.keys().collect();
    assert_eq!(typescript(&json!({"properties": names, "required": required})), "unknown");
    let numbers: Vec<usize> = (0..200_000).collect();
    assert_eq!(typescript(&json!({"enum": numbers})), "unknown");
}

#[test]
fn results_of_mcp_tools_share_a_type() {
    let result = |structured: Value| {
        json!({
            "type": "object",
            "$defs": {"N": {"type": "number"}},
            "properties": {
                "content": {"type": "array", "items": {"type": "object"}},
                "structuredContent": structured,
                "isError": {"type": "boolean"},
                "_meta": {"type": "object"},
            },
        })
    };
    assert!(is_mcp_result(&result(json!({}))));
    assert_eq!(mcp_result_type(&result(json!({}))), "CallToolResult");
    let with = result(json!({"properties": {"n": {"$ref": "#/$defs/N"}}}));
    assert_eq!(mcp_result_type(&with), "CallToolResult<{ n?: number; }>");
    for missing in ["content", "isError", "_meta"] {
        let mut schema = result(json!({}));
        schema["properties"].as_object_mut().unwrap().remove(missing);
        assert!(!is_mcp_result(&schema), "{missing}");
    }
    let mut texts = result(json!({}));
    texts["properties"]["content"]["items"] = json!({"type": "string"});
    assert!(!is_mcp_result(&texts));
}

/// Anything at all, with words of JSON Schema more often than not.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(Value::Null),
        prop_oneof!["string", "array", "object", "null", "#", "#/\\$defs/a", "#/\\$defs/b", "\\PC{0,8}"]
            .prop_map(Value::from),
    ];
    let key = prop_oneof![
        8 => prop::sample::select(vec![
            "type", "properties", "items", "anyOf", "oneOf", "allOf", "$ref", "$defs", "$id", "enum", "const",
            "required", "additionalProperties", "prefixItems", "description", "a", "b",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            3 => prop::collection::hash_map(key.clone(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Whether brackets that stand outside of texts and comments are closed in order.
fn is_balanced(text: &str) -> bool {
    let (mut open, mut is_text, mut is_escaped, mut is_comment) = (Vec::new(), false, false, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => is_comment = false,
            _ if is_comment => {}
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            _ if is_text => {}
            '/' if chars.peek() == Some(&'/') => is_comment = true,
            '{' | '[' | '(' | '<' => open.push(c),
            '}' | ']' | ')' | '>' => {
                let wanted = match c {
                    '}' => '{',
                    ']' => '[',
                    ')' => '(',
                    _ => '<',
                };
                if open.pop() != Some(wanted) {
                    return false;
                }
            }
            _ => {}
        }
    }
    open.is_empty() && !is_text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_schema_has_a_type(schema in any_schema()) {
        let written = typescript(&schema);
        prop_assert!(!written.is_empty());
        prop_assert!(written.len() <= MAX_TYPE_BYTES);
        prop_assert!(is_balanced(&written), "{}", written);
        prop_assert_eq!(typescript(&schema.clone()), written);
    }

    #[test]
    fn the_order_of_members_decides_nothing(
        members in prop::collection::vec(("[a-z]{1,3}", any_schema()), 0..6),
    ) {
        let object = |members: Vec<(String, Value)>| {
            json!({"properties": members.into_iter().collect::<serde_json::Map<_, _>>()})
        };
        let unique: std::collections::BTreeMap<_, _> = members.into_iter().collect();
        let there: Vec<_> = unique.clone().into_iter().collect();
        let back: Vec<_> = unique.into_iter().rev().collect();
        prop_assert_eq!(typescript(&object(there)), typescript(&object(back)));
    }
}

/// A folder of `tools/list` answers of real servers, named by the environment variable `TENON_MCP_TOOLS`.
#[test]
#[ignore = "reads a folder of real servers' tools"]
fn tools_of_real_servers_are_described() {
    let folder = std::env::var_os("TENON_MCP_TOOLS").expect("TENON_MCP_TOOLS names a folder");
    let (mut tools, mut longest) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let answer: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        for tool in answer["tools"].as_array().unwrap() {
            tools += 1;
            let name = format!("{} {}", file.display(), tool["name"]);
            // As the server wrote it, and as a tool keeps it.
            let raw = typescript(&tool["inputSchema"]);
            let kept = tenon_tools::mcp_input_schema(&tool["inputSchema"]).unwrap();
            let kept = typescript(&serde_json::to_value(kept).unwrap());
            let output = tenon_tools::mcp_output_schema(tool.get("outputSchema"));
            let output = mcp_result_type(&serde_json::to_value(output).unwrap());
            for written in [&raw, &kept, &output] {
                assert!(is_balanced(written), "{name}: {written}");
                longest = longest.max(written.len());
            }
            for written in [&raw, &kept] {
                assert_ne!(written, UNKNOWN, "{name}");
                let vague = written.lines().filter(|line| line.contains("unknown") && !line.contains("//"));
                for line in vague {
                    println!("{name}: {line}");
                }
            }
            if tool.get("outputSchema").is_some_and(|schema| !schema.is_null()) {
                assert_ne!(output, "CallToolResult", "{name}");
            }
        }
    }
    println!("{tools} tools, the longest type has {longest} bytes");
    assert!(tools > 0);
}
