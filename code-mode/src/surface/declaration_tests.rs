use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_tools::mcp_output_schema;

use super::*;

#[test]
fn a_function_takes_arguments_and_a_free_text_tool_a_string() {
    let input = json!({"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]});
    let output = json!({"type": "string"});
    let rows = [
        (
            declaration("run", NestedKind::Function, Some(&input), Some(&output)),
            "declare const tools: { run(args: { cmd: string; }): Promise<string>; };",
        ),
        (
            declaration("run", NestedKind::Function, None, None),
            "declare const tools: { run(args: unknown): Promise<unknown>; };",
        ),
        (
            declaration("patch", NestedKind::Freeform, None, None),
            "declare const tools: { patch(input: string): Promise<unknown>; };",
        ),
    ];
    for (written, expected) in rows {
        assert_eq!(written, expected);
    }
}

#[test]
fn a_tool_of_an_mcp_server_gives_the_shared_result() {
    let of = |structured: Option<Value>| {
        let output = serde_json::to_value(mcp_output_schema(structured.as_ref())).unwrap();
        declaration("f", NestedKind::Function, Some(&json!({})), Some(&output))
    };
    assert_eq!(of(None), "declare const tools: { f(args: unknown): Promise<CallToolResult>; };");
    assert_eq!(
        of(Some(json!({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}))),
        "declare const tools: { f(args: unknown): Promise<CallToolResult<{ n: number; }>>; };"
    );
}

#[test]
fn words_stand_above_the_declaration() {
    let block = "exec tool declaration:\n```ts\nX\n```";
    assert_eq!(with_declaration("Does it.", "X"), format!("Does it.\n\n{block}"));
    assert_eq!(with_declaration(" \n", "X"), block);
}
