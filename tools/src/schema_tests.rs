use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn text(schema: &JsonSchema) -> String {
    serde_json::to_string(schema).unwrap()
}

#[allow(clippy::needless_pass_by_value, reason = "a literal wherever it is called")]
fn sanitised(raw: Value) -> Value {
    serde_json::to_value(JsonSchema::sanitised(&raw).unwrap()).unwrap()
}

/// What the rules make of a schema that is not the root.
#[allow(clippy::needless_pass_by_value, reason = "a literal wherever it is called")]
fn inner(raw: Value) -> Value {
    sanitised(json!({"type": "object", "properties": {"x": raw}}))["properties"]["x"].clone()
}

#[test]
fn members_are_written_in_order_properties_by_name_required_as_given() {
    let schema = JsonSchema::object(
        [
            ("zeta", JsonSchema::string("last")),
            ("alpha", JsonSchema::array(JsonSchema::number(""), "numbers")),
            ("mode", JsonSchema::string_enum(&["b", "a"], "")),
            ("on", JsonSchema::boolean("switch")),
            ("n", JsonSchema::integer("count")),
        ],
        &["zeta", "alpha"],
    );
    assert_eq!(
        text(&schema),
        r#"{"type":"object","properties":{"alpha":{"type":"array","description":"numbers","items":{"type":"number"}},"mode":{"type":"string","enum":["b","a"]},"n":{"type":"integer","description":"count"},"on":{"type":"boolean","description":"switch"},"zeta":{"type":"string","description":"last"}},"required":["zeta","alpha"],"additionalProperties":false}"#
    );
    assert_eq!(
        text(&JsonSchema::object([], &[])),
        r#"{"type":"object","properties":{},"additionalProperties":false}"#
    );
}

#[test]
fn every_member_has_its_place() {
    let all = json!({
        "definitions": {"D": {}}, "$defs": {"E": {}}, "$ref": "#/$defs/E", "allOf": [{}], "oneOf": [{}], "anyOf": [{}],
        "additionalProperties": {"type": "null"}, "required": ["b", "a"], "properties": {"b": {}, "a": {}},
        "items": {}, "enum": [1, null], "description": "d", "type": ["string", "null"],
        "title": "dropped", "format": "dropped", "minimum": 1, "default": 5, "x-own": {},
    });
    assert_eq!(
        text(&JsonSchema::from_value(&all)),
        r##"{"type":["string","null"],"description":"d","enum":[1,null],"items":{},"properties":{"a":{},"b":{}},"required":["b","a"],"additionalProperties":{"type":"null"},"anyOf":[{}],"oneOf":[{}],"allOf":[{}],"$ref":"#/$defs/E","$defs":{"E":{}},"definitions":{"D":{}}}"##
    );
    let read: JsonSchema = serde_json::from_value(all.clone()).unwrap();
    assert_eq!(read, JsonSchema::from_value(&all));
}

#[test]
fn rule_1_a_boolean_schema_is_a_string() {
    assert_eq!(inner(json!(true)), json!({"type": "string"}));
    assert_eq!(inner(json!(false)), json!({"type": "string"}));
    assert_eq!(sanitised(json!(true)), json!({"type": "string"}));
    assert_eq!(
        inner(json!({"type": "array", "items": true})),
        json!({"type": "array", "items": {"type": "string"}})
    );
}

#[test]
fn rules_2_and_3_reach_every_schema() {
    let raw = json!({
        "type": "object",
        "properties": {"p": {"const": 1}},
        "additionalProperties": {"minimum": 1},
        "anyOf": [{"format": "date"}, true],
        "oneOf": [{"items": {}}],
        "allOf": [{"required": ["x"]}],
        "$defs": {"D": {"enum": ["e"]}},
        "definitions": ["no table"],
    });
    let mut expected = json!({
        "type": "object",
        "properties": {"p": {"type": "string", "enum": [1]}},
        "additionalProperties": {"type": "number"},
        "anyOf": [{"type": "string"}, {"type": "string"}],
        "oneOf": [{"type": "array", "items": {}}],
        "allOf": [{"type": "object", "properties": {}, "required": ["x"]}],
    });
    assert_eq!(sanitised(raw.clone()), expected);
    expected["$defs"] = json!({"D": {"type": "string", "enum": ["e"]}});
    let mut used = raw;
    used["anyOf"] = json!([{"$ref": "#/$defs/D"}]);
    expected["anyOf"] = json!([{"$ref": "#/$defs/D"}]);
    assert_eq!(sanitised(used), expected);
}

#[test]
fn rule_4_a_constant_is_an_enumeration_of_one() {
    assert_eq!(inner(json!({"const": "a", "enum": ["b", "c"]})), json!({"type": "string", "enum": ["a"]}));
    assert_eq!(inner(json!({"const": null, "type": "null"})), json!({"type": "null", "enum": [null]}));
}

#[test]
fn rule_5_types_are_normalised() {
    let table = [
        (json!(["string", "null"]), json!(["string", "null"])),
        (json!(["string", "uuid"]), json!("string")),
        (json!(["string"]), json!("string")),
        (json!("integer"), json!("integer")),
    ];
    for (raw, expected) in table {
        assert_eq!(inner(json!({"type": raw})), json!({"type": expected}));
    }
    for unknown in [json!("uuid"), json!(["uuid", 5]), json!([]), json!(7), json!(null)] {
        assert_eq!(inner(json!({"type": unknown})), json!({}));
        assert_eq!(inner(json!({"type": unknown, "format": "x"})), json!({"type": "string"}));
    }
}

#[test]
fn rule_6_alternatives_and_references_stay_untyped() {
    for raw in [
        json!({"anyOf": [{"type": "string"}]}),
        json!({"description": "d", "oneOf": [{"type": "string"}]}),
        json!({"properties": {"a": {"type": "string"}}, "allOf": []}),
        json!({"$ref": "other.json"}),
    ] {
        assert_eq!(inner(raw.clone()), raw);
    }
}

#[test]
fn rule_7_a_type_is_told_from_the_keywords() {
    let table = [
        (json!({"properties": {}}), "object"),
        (json!({"required": ["a"]}), "object"),
        (json!({"additionalProperties": false}), "object"),
        (json!({"items": {}, "enum": [1]}), "array"),
        (json!({"prefixItems": [{}]}), "array"),
        (json!({"enum": [1, 2], "minimum": 0}), "string"),
        (json!({"format": "date"}), "string"),
        (json!({"minimum": 0}), "number"),
        (json!({"maximum": 0}), "number"),
        (json!({"exclusiveMinimum": 0}), "number"),
        (json!({"exclusiveMaximum": 0}), "number"),
        (json!({"multipleOf": 2}), "number"),
    ];
    for (raw, expected) in table {
        assert_eq!(inner(raw.clone())["type"], expected, "{raw}");
    }
    for cleared in [json!({}), json!({"description": "anything"}), json!({"default": 1, "pattern": "x"})] {
        assert_eq!(inner(cleared), json!({}));
    }
}

#[test]
fn rule_8_objects_have_properties_and_arrays_have_items() {
    assert_eq!(inner(json!({"type": "object"})), json!({"type": "object", "properties": {}}));
    assert_eq!(inner(json!({"type": "array"})), json!({"type": "array", "items": {"type": "string"}}));
    assert_eq!(
        inner(json!({"type": ["array", "object", "null"]})),
        json!({"type": ["array", "object", "null"], "items": {"type": "string"}, "properties": {}})
    );
    assert_eq!(inner(json!({"type": "array", "items": {}})), json!({"type": "array", "items": {}}));
}

#[test]
fn rule_9_definitions_that_nothing_leads_to_go() {
    let raw = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A/properties/deep"}, "s": {"$ref": "#/definitions/s~1~0t"}},
        "$defs": {
            "A": {"type": "object", "properties": {"deep": {"$ref": "#/$defs/B"}}},
            "B": {"type": "string"},
            "Loop": {"type": "array", "items": {"$ref": "#/$defs/Loop"}},
        },
        "definitions": {"s/~t": {"type": "null"}, "B": {"type": "number"}},
    });
    let kept = sanitised(raw);
    let names = |table: &Value| table.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&kept["$defs"]), ["A", "B"]);
    assert_eq!(names(&kept["definitions"]), ["s/~t"]);
    let unused = sanitised(json!({"type": "object", "$defs": {"A": {"type": "string"}}, "definitions": {}}));
    assert_eq!(unused, json!({"type": "object", "properties": {}}));
}

#[test]
fn rule_10_a_null_root_is_refused() {
    for raw in [json!({"type": "null"}), json!({"type": ["null"]}), json!({"type": ["null", "nil"]})] {
        let refused = JsonSchema::sanitised(&raw).unwrap_err();
        assert_eq!(refused.to_string(), "tool input schema must not be a singleton null type");
    }
    assert_eq!(sanitised(json!({"type": ["object", "null"]}))["type"], json!(["object", "null"]));
}

#[test]
fn what_is_no_schema_is_refused() {
    for (raw, found) in
        [(json!(5), "a number"), (json!("x"), "a string"), (json!([]), "an array"), (json!(null), "null")]
    {
        let refused = JsonSchema::tool_input(&raw).unwrap_err();
        assert_eq!(refused.to_string(), format!("tool input schema must be a JSON object, got {found}"));
    }
}

#[test]
fn members_of_the_wrong_kind_count_as_absent() {
    let raw = json!({
        "type": "object", "description": 5, "enum": "a", "properties": {"a": "string", "b": null, "c": {"items": 5}},
        "required": "a", "additionalProperties": 1, "anyOf": {}, "$ref": [], "$defs": [], "items": "x",
    });
    assert_eq!(
        sanitised(raw),
        json!({
            "type": "object",
            "properties": {"a": {}, "b": {}, "c": {"type": "array", "items": {"type": "string"}}},
        })
    );
    assert_eq!(inner(json!({"required": [1, "a", null]}))["required"], json!(["a"]));
    assert_eq!(inner(json!({"items": []})), json!({"type": "array", "items": {"type": "string"}}));
    assert_eq!(
        inner(json!({"items": [{"type": "number"}]})),
        json!({"type": "array", "items": {"type": "number"}})
    );
    assert_eq!(
        inner(json!({"items": [{"type": "number"}, {"type": "null"}]})),
        json!({"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "null"}]}})
    );
}

#[test]
fn depth_is_bounded() {
    // The root is 0: `levels` lists lie inside it.
    let list_of = |items: Value| {
        Value::Object(
            [("type".to_owned(), json!("array")), ("items".to_owned(), items)].into_iter().collect(),
        )
    };
    let nested = |levels: usize| (0..levels).fold(json!({"type": "string"}), |inner, _| list_of(inner));
    let innermost = |schema: &JsonSchema| {
        let (mut node, mut depth) = (schema, 0);
        while let Some(items) = node.items.as_deref() {
            (node, depth) = (items, depth + 1);
        }
        (node.clone(), depth)
    };
    let fits = JsonSchema::sanitised(&nested(MAX_SCHEMA_DEPTH - 1)).unwrap();
    assert_eq!(innermost(&fits), (JsonSchema::string(""), MAX_SCHEMA_DEPTH - 1));
    let too_deep = JsonSchema::sanitised(&nested(MAX_SCHEMA_DEPTH)).unwrap();
    assert_eq!(innermost(&too_deep), (JsonSchema::default(), MAX_SCHEMA_DEPTH));
    let far_too_deep = JsonSchema::sanitised(&nested(1000)).unwrap();
    assert_eq!(innermost(&far_too_deep).1, MAX_SCHEMA_DEPTH);
}

/// Properties that take about `bytes` of JSON.
fn bulk(bytes: usize) -> Value {
    (0..bytes / 40).map(|n| (format!("property_{n:04}"), json!({"type": "integer"}))).collect()
}

#[test]
fn a_schema_that_fits_is_not_compacted() {
    let exact = |length: usize| {
        let frame = text(&JsonSchema::string("x")).len() - 1;
        JsonSchema::string(&"x".repeat(length - frame))
    };
    assert_eq!(text(&exact(MAX_SCHEMA_BYTES)).len(), MAX_SCHEMA_BYTES);
    assert_eq!(exact(MAX_SCHEMA_BYTES).compacted(), exact(MAX_SCHEMA_BYTES));
    assert_eq!(exact(MAX_SCHEMA_BYTES + 1).compacted(), JsonSchema::string(""));
}

#[test]
fn compaction_stops_as_soon_as_it_fits() {
    let long = "long ".repeat(1000);
    let with = |extra: Value| {
        let mut raw = json!({"type": "object", "description": "d", "properties": {
            "ref": {"$ref": "#/$defs/D"},
            "deep": {"type": "object", "properties": {"b": {"type": "object", "properties": {
                "c": {"type": "object", "properties": {"d": {"type": "string"}}}, "s": {"type": "string"}}}}},
            "either": {"anyOf": [{"type": "string"}, {"type": "number"}]},
        }, "$defs": {"D": {"type": "string", "description": "d"}}});
        for (key, value) in extra.as_object().unwrap() {
            raw[key] = value.clone();
        }
        serde_json::to_value(JsonSchema::tool_input(&raw).unwrap()).unwrap()
    };
    // (a) Descriptions are enough.
    let a = with(json!({"description": long}));
    assert_eq!(a.get("description"), None);
    assert_eq!(a["$defs"]["D"], json!({"type": "string"}));
    // (b) A long definition goes too, and what refers to it says nothing.
    let b = with(json!({"$defs": {"D": {"type": "object", "properties": bulk(5000)}}}));
    assert_eq!((b.get("$defs"), &b["properties"]["ref"]), (None, &json!({})));
    assert_eq!(
        b["properties"]["deep"]["properties"]["b"]["properties"]["c"]["properties"]["d"],
        json!({"type": "string"})
    );
    // (c) Objects from depth 3 on go.
    let c = with(
        json!({"additionalProperties": {"type": "object", "properties": {"x": {"type": "object", "properties": {
        "y": {"type": "object", "properties": bulk(5000)}}}}}}),
    );
    let deep = &c["properties"]["deep"]["properties"]["b"]["properties"];
    assert_eq!((&deep["c"], &deep["s"]), (&json!({}), &json!({"type": "string"})));
    assert_eq!(c["additionalProperties"]["properties"]["x"]["properties"]["y"], json!({}));
    assert_eq!(c["properties"]["either"]["anyOf"], json!([{"type": "string"}, {"type": "number"}]));
    // (d) Alternatives go, those of the root leave the rest of it.
    let d = with(json!({"anyOf": [{"type": "object", "properties": bulk(5000)}]}));
    assert_eq!((&d["properties"]["either"], d.get("anyOf")), (&json!({}), None));
    assert_eq!(d["type"], "object");
}

#[test]
fn a_schema_may_stay_too_long() {
    let schema = JsonSchema::tool_input(&json!({"type": "object", "properties": bulk(8000)})).unwrap();
    assert!(text(&schema).len() > MAX_SCHEMA_BYTES);
    assert_eq!(schema.properties.unwrap().len(), 200);
}

#[test]
fn mcp_tools_without_arguments_have_properties() {
    for raw in [json!({"type": "object"}), json!({"type": "object", "properties": null}), json!({})] {
        let schema = mcp_input_schema(&raw).unwrap();
        assert_eq!(text(&schema), r#"{"type":"object","properties":{}}"#, "{raw}");
    }
    assert_eq!(mcp_input_schema(&json!({"type": "null"})), Err(SchemaError::NullRoot));
    assert_eq!(mcp_input_schema(&json!("x")), Err(SchemaError::NoObject { found: "a string" }));
}

#[test]
fn mcp_results_are_wrapped_around_the_servers_schema() {
    assert_eq!(
        text(&mcp_output_schema(Some(
            &json!({"type": "object", "properties": {"answer": {"type": "integer"}}})
        ))),
        r#"{"type":"object","properties":{"_meta":{"type":"object"},"content":{"type":"array","items":{"type":"object"}},"isError":{"type":"boolean"},"structuredContent":{"type":"object","properties":{"answer":{"type":"integer"}}}},"required":["content"],"additionalProperties":false}"#
    );
    assert_eq!(mcp_output_schema(None).properties.unwrap()["structuredContent"], JsonSchema::default());

    let referring = json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "string"}}});
    let wrapped = serde_json::to_value(mcp_output_schema(Some(&referring))).unwrap();
    assert_eq!(wrapped["properties"]["structuredContent"], json!({"$ref": "#/$defs/A"}));
    assert_eq!(wrapped["$defs"], json!({"A": {"type": "string"}}));
}

/// Schemas and near-schemas: known keywords with values right and wrong, references that meet each other.
fn hostile() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z#/$]{0,8}".prop_map(Value::from),
        prop::sample::select(vec!["object", "array", "string", "null", "uuid"]).prop_map(Value::from),
        prop::sample::select(vec!["#", "#/$defs/A", "#/$defs/B/items", "#/definitions/A", "#/$defs/"])
            .prop_map(Value::from),
    ];
    let keyword = prop::sample::select(vec![
        "type",
        "description",
        "enum",
        "const",
        "items",
        "prefixItems",
        "properties",
        "required",
        "additionalProperties",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "$defs",
        "definitions",
        "format",
        "minimum",
        "A",
        "B",
    ]);
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            4 => prop::collection::vec((keyword.clone(), inner), 0..6)
                .prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_that_a_server_sends_breaks_the_reader(raw in hostile()) {
        if let Ok(schema) = JsonSchema::tool_input(&raw) {
            let written = text(&schema);
            let again: Value = serde_json::from_str(&written).unwrap();
            prop_assert!(again.is_object());
            // What has been read once reads the same again.
            prop_assert_eq!(text(&JsonSchema::from_value(&again)), written);
        }
        let _ = mcp_input_schema(&raw);
        let _ = mcp_output_schema(Some(&raw));
    }

    #[test]
    fn sanitised_schemas_have_no_gaps(raw in hostile()) {
        let Ok(schema) = JsonSchema::sanitised(&raw) else { return Ok(()) };
        let mut whole = true;
        schema.visit(&mut |node| {
            let includes = |primitive| node.schema_type.as_ref().is_some_and(|types| types.includes(primitive));
            whole &= !includes(PrimitiveType::Object) || node.properties.is_some();
            whole &= !includes(PrimitiveType::Array) || node.items.is_some();
        });
        prop_assert!(whole, "{}", text(&schema));
        prop_assert!(schema.defs.as_ref().is_none_or(|defs| !defs.is_empty()));
    }

    #[test]
    fn compaction_never_adds(raw in hostile(), bulky in 0usize..8000) {
        let raw = json!({"type": "object", "properties": {"raw": raw, "bulk": {"type": "object", "properties": bulk(bulky)}}});
        let schema = JsonSchema::sanitised(&raw).unwrap();
        let before = text(&schema).len();
        let after = text(&schema.compacted()).len();
        prop_assert!(after <= before);
    }
}
