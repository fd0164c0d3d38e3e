#![allow(dead_code, reason = "types that only have a schema")]

use std::collections::HashMap;

use pretty_assertions::assert_eq;
use schemars::JsonSchema as Described;
use serde::Deserialize;

use super::*;

fn written<A: Described>() -> Value {
    serde_json::to_value(parameters_of::<A>()).unwrap()
}

#[derive(Deserialize, Described)]
struct Inner {
    /// How far.
    x: f64,
}

/// Which one.
#[derive(Deserialize, Described)]
#[serde(rename_all = "lowercase")]
enum Documented {
    /// the first
    A,
    B,
}

#[derive(Deserialize, Described)]
enum Plain {
    Left,
    Right,
}

#[derive(Deserialize, Described)]
struct Node {
    children: Vec<Node>,
}

#[derive(Deserialize, Described)]
#[serde(tag = "kind")]
enum Tagged {
    One { a: u8 },
    Two { b: Inner },
}

#[test]
fn plain_members_have_plain_types() {
    /// Not for the model: the tool has a description of its own.
    #[derive(Deserialize, Described)]
    struct Args {
        count: u32,
        #[serde(default)]
        name: Option<String>,
        path: std::path::PathBuf,
        many: Vec<Option<i8>>,
        /// Anything at all.
        any: Value,
        pair: (i32, String),
    }
    assert_eq!(
        written::<Args>(),
        json!({
            "type": "object",
            "properties": {
                "any": {"description": "Anything at all."},
                "count": {"type": "integer"},
                "many": {"type": "array", "items": {"type": ["integer", "null"]}},
                "name": {"type": "string"},
                "pair": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}},
                "path": {"type": "string"},
            },
            "required": ["count", "path", "many", "any", "pair"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn types_stand_where_they_are_used() {
    #[derive(Deserialize, Described)]
    struct Args {
        inner: Inner,
        maybe: Option<Inner>,
        /// A better word.
        named: Inner,
        table: HashMap<String, Inner>,
    }
    let inner = json!({
        "type": "object",
        "properties": {"x": {"type": "number", "description": "How far."}},
        "required": ["x"],
        "additionalProperties": false,
    });
    let mut named = inner.clone();
    named["description"] = json!("A better word.");
    assert_eq!(
        written::<Args>(),
        json!({
            "type": "object",
            "properties": {
                "inner": inner,
                "maybe": inner,
                "named": named,
                "table": {"type": "object", "properties": {}, "additionalProperties": inner},
            },
            "required": ["inner", "named", "table"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn enums_are_lists_of_texts_with_their_words() {
    #[derive(Deserialize, Described)]
    struct Args {
        documented: Documented,
        plain: Option<Plain>,
    }
    let properties = &written::<Args>()["properties"];
    let documented = &properties["documented"];
    assert_eq!(documented["type"], "string");
    assert_eq!(documented["description"], "Which one.\na: the first");
    let mut values: Vec<_> =
        documented["enum"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    values.sort_unstable();
    assert_eq!(values, ["a", "b"]);
    assert_eq!(properties["plain"], json!({"type": "string", "enum": ["Left", "Right"]}));
}

#[test]
fn types_that_hold_themselves_stay_references() {
    #[derive(Deserialize, Described)]
    struct Args {
        tree: Node,
        inner: Inner,
    }
    let written = written::<Args>();
    assert_eq!(written["properties"]["tree"], json!({"$ref": "#/$defs/Node"}));
    assert_eq!(
        written["$defs"],
        json!({"Node": {
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
            "required": ["children"],
            "additionalProperties": false,
        }})
    );
    assert_eq!(
        serde_json::to_value(parameters_of::<Node>()).unwrap()["properties"]["children"]["items"],
        json!({"$ref": "#"})
    );
}

#[test]
fn alternatives_are_closed_each_by_itself_but_not_beside_other_members() {
    #[derive(Deserialize, Described)]
    struct Beside {
        id: u8,
        #[serde(flatten)]
        tagged: Tagged,
    }
    #[derive(Deserialize, Described)]
    struct Inside {
        tagged: Tagged,
    }
    let beside = written::<Beside>();
    assert_eq!(beside["type"], "object");
    assert_eq!(beside.get("additionalProperties"), None);
    assert!(
        beside["oneOf"].as_array().unwrap().iter().all(|branch| branch.get("additionalProperties").is_none())
    );
    let inside = &written::<Inside>()["properties"]["tagged"];
    let branches = inside["oneOf"].as_array().unwrap();
    assert_eq!(branches.len(), 2);
    assert!(branches.iter().all(|branch| branch["additionalProperties"] == false));
    assert_eq!(branches[0]["properties"]["kind"], json!({"type": "string", "enum": ["One"]}));
}

#[test]
fn the_root_is_always_an_object() {
    for written in
        [written::<Tagged>(), written::<()>(), written::<Value>(), written::<HashMap<String, u8>>()]
    {
        assert_eq!(written["type"], "object", "{written}");
        assert!(written["properties"].is_object(), "{written}");
    }
    #[derive(Deserialize, Described)]
    struct Nothing {}
    assert_eq!(
        written::<Nothing>(),
        json!({"type": "object", "properties": {}, "additionalProperties": false})
    );
}

#[test]
fn the_sanitiser_has_nothing_to_add() {
    #[derive(Deserialize, Described)]
    struct Args {
        inner: Option<Inner>,
        documented: Vec<Documented>,
        tagged: Tagged,
        tree: Node,
        table: HashMap<String, Plain>,
    }
    let parameters = parameters_of::<Args>();
    let again = JsonSchema::sanitised(&serde_json::to_value(&parameters).unwrap()).unwrap();
    assert_eq!(again, parameters);
}

#[test]
fn references_are_not_followed_without_end() {
    // Each type holds the next one twice: written out, the last would stand there 2^40 times.
    let definitions: Map<_, _> = (0..40)
        .map(|level| {
            let next = json!({"$ref": format!("#/$defs/T{}", level + 1)});
            (format!("T{level}"), json!({"type": "object", "properties": {"a": next, "b": next}}))
        })
        .chain([("T40".to_owned(), json!({"type": "string"}))])
        .collect();
    let schema = parameters(json!({
        "type": "object",
        "properties": {"t": {"$ref": "#/$defs/T0"}},
        "$defs": definitions,
    }));
    let bytes = serde_json::to_vec(&schema).unwrap().len();
    assert!(bytes < 500_000, "{bytes}");
    assert!(schema.defs.is_some());
}
