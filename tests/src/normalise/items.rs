//! What the client sent back to the model.

use serde_json::{Map, Value, json};

use super::{Places, scrub};

/// Kinds of items that a model makes and a client only repeats.
const KNOWN: [&str; 8] = [
    "reasoning",
    "function_call",
    "custom_tool_call",
    "tool_search_call",
    "web_search_call",
    "image_generation_call",
    "local_shell_call",
    "additional_tools",
];

/// For each request but the first, what its input has beyond the input of the request before, without ids, private
/// metadata, null members, the model's own messages and lists of tools.
///
/// # Errors
/// When an item is no object, or the marks break the JSON.
pub fn follow_ups(inputs: &[Vec<Value>], places: &Places) -> anyhow::Result<Vec<Vec<Value>>> {
    let mut turns = Vec::new();
    let mut seen = 0;
    for (n, input) in inputs.iter().enumerate() {
        if n > 0 {
            let new = input.iter().skip(seen);
            turns.push(Value::Array(new.filter(|item| is_of_the_client(item)).map(bare_item).collect()));
        }
        seen = input.len();
    }
    Ok(serde_json::from_value(scrub(&Value::Array(turns), places)?)?)
}

fn is_of_the_client(item: &Value) -> bool {
    match kind(item) {
        "additional_tools" => false,
        "message" => item["role"] != "assistant",
        _ => true,
    }
}

fn bare_item(item: &Value) -> Value {
    let Value::Object(members) = item else { return item.clone() };
    let kept = members.iter().filter(|(name, value)| {
        !matches!(name.as_str(), "id" | "internal_chat_message_metadata_passthrough") && !value.is_null()
    });
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Outputs, messages and items of a kind unknown today; not the calls themselves.
pub fn outputs(follow_ups: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let keep = |item: &&Value| !KNOWN.contains(&kind(item));
    follow_ups.iter().map(|turn| turn.iter().filter(keep).cloned().collect()).collect()
}

/// Ids of the model's calls that are not in the last request exactly as often as the model made them, sorted.
pub fn calls_lost(turns: &[Vec<Value>], inputs: &[Vec<Value>]) -> Vec<String> {
    let Some((last, earlier)) = inputs.split_last().filter(|(_, earlier)| !earlier.is_empty()) else {
        return Vec::new();
    };
    let said: Vec<(&str, &str)> = turns.iter().take(earlier.len()).flatten().filter_map(call).collect();
    let kept: Vec<(&str, &str)> = last.iter().filter_map(|item| Some((kind(item), call_id(item)?))).collect();
    let times = |of: &[(&str, &str)], call| of.iter().filter(|known| **known == call).count();
    let mut lost: Vec<String> = said
        .iter()
        .filter(|call| times(&kept, **call) != times(&said, **call))
        .map(|(_, id)| (*id).to_owned())
        .collect();
    lost.sort();
    lost.dedup();
    lost
}

fn call(item: &Value) -> Option<(&str, &str)> {
    let id = call_id(item).filter(|id| !id.is_empty())?;
    kind(item).ends_with("_call").then_some((kind(item), id))
}

fn call_id(item: &Value) -> Option<&str> {
    item.get("call_id").and_then(Value::as_str)
}

fn kind(item: &Value) -> &str {
    item.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// The tools a request offers, by name, without descriptions and grammar text, which are everyone's own.
pub fn surface(request: &Value) -> Map<String, Value> {
    let tools = request.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    tools
        .iter()
        .map(|tool| {
            let name = tool.get("name").or_else(|| tool.get("type")).and_then(Value::as_str);
            (name.unwrap_or_default().to_owned(), bare_spec(tool))
        })
        .collect()
}

fn bare_spec(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let prose = |name: &str| matches!(name, "description" | "definition");
            let kept = members.iter().filter(|(name, value)| !prose(name) || value.is_object());
            Value::Object(kept.map(|(name, value)| (name.clone(), bare_spec(value))).collect())
        }
        Value::Array(elements) => Value::Array(elements.iter().map(bare_spec).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Of a request's tools, those that are expected, null for one that is not offered.
pub fn expected_of(surface: &Map<String, Value>, expected: &Map<String, Value>) -> Value {
    let named = expected.keys().map(|name| (name.clone(), surface.get(name).cloned().unwrap_or(json!(null))));
    Value::Object(named.collect())
}

#[cfg(test)]
#[path = "items_tests.rs"]
mod tests;
