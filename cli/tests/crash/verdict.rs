//! What must hold after a crash and a resume, whenever it was.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::place::Place;
use crate::processes;
use crate::script;

const NOT_RUN: &str = "not run: the runtime stopped before this call started";
const OUTCOME_UNKNOWN: &str =
    "outcome unknown: the runtime stopped while this call ran; it was not run again";

/// What is wrong, in words; empty where all promises were kept. `input` is what the resumed model was shown.
pub fn complaints(place: &Place, input: &[Value]) -> Vec<String> {
    let mut wrong = Vec::new();
    let left = processes::left_in(place.root());
    wrong.extend(left.into_iter().map(|process| format!("a process is left: {process}")));
    wrong.extend(pairs(input, "request"));
    let recorded: Vec<Value> = place
        .rollout_lines()
        .into_iter()
        .filter(|line| line["type"] == "response_item")
        .map(|line| line["payload"].clone())
        .collect();
    wrong.extend(pairs(&recorded, "rollout"));
    for effect in script::COUNTED {
        wrong.extend(effect_as_told(place, input, effect));
    }
    wrong.extend(files(place, input));
    wrong.extend(scraps(place));
    wrong
}

/// Whether the call's output tells the truth about its effect.
fn effect_as_told(place: &Place, input: &[Value], id: &str) -> Option<String> {
    let (count, told) = (place.count(id), output_of(input, id));
    let right = match told.as_deref() {
        // A nested call has no output of its own.
        None if id.starts_with('n') => count <= 1,
        None => count == 0,
        Some(text) if text.starts_with(NOT_RUN) => count == 0,
        Some(text) if text.starts_with(OUTCOME_UNKNOWN) => count <= 1,
        Some(text) if id.starts_with('m') => count == 1 && text.contains("counted"),
        Some(text) => count == 1 && (text.contains("exited with code 0") || text.contains("session ID")),
    };
    (!right).then(|| format!("{id} had its effect {count} times and tells {told:?}"))
}

/// Every call has one output of its kind behind it, and no output is without a call.
fn pairs(items: &[Value], place: &str) -> Vec<String> {
    let mut seen: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for item in items {
        let kind = item["type"].as_str().unwrap_or_default();
        let id = item["call_id"].as_str().unwrap_or_default();
        match kind {
            "function_call" | "custom_tool_call" => seen.entry((kind, id)).or_default().0 += 1,
            "function_call_output" | "custom_tool_call_output" => {
                let (calls, outputs) = seen.entry((kind.trim_end_matches("_output"), id)).or_default();
                *outputs += 1;
                if outputs > calls {
                    wrong.push(format!("{place}: an output without a call before it: {item}"));
                }
            }
            _ => {}
        }
    }
    let unpaired = seen.iter().filter(|(_, (calls, outputs))| (*calls, *outputs) != (1, 1));
    wrong.extend(unpaired.map(|((kind, id), (calls, outputs))| {
        format!("{place}: {kind} {id} has {calls} calls, {outputs} outputs")
    }));
    wrong
}

/// No file is half written, and what the outputs of patches tell is so.
fn files(place: &Place, input: &[Value]) -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(place.work().join(name)).ok();
    let Some(version) = (0..script::VERSIONS).find(|version| read("big.txt") == Some(script::big(*version)))
    else {
        return vec!["big.txt is no version whole".to_owned()];
    };
    let mut wrong = Vec::new();
    let added = read("added.txt");
    if added.as_deref().is_some_and(|text| text != "added\n") {
        wrong.push(format!("added.txt is half written: {added:?}"));
    }
    let stands = |to: usize| if to == 1 { version >= 1 && added.is_some() } else { version >= to };
    for (id, to) in [("p1", 1), ("p2", 2)] {
        let told = output_of(input, id);
        let right = match told.as_deref() {
            None => version < to,
            Some(text) if text.starts_with(NOT_RUN) => version < to,
            Some(text) if text.starts_with(OUTCOME_UNKNOWN) => {
                let line = |state: &str| format!("{}: {state}", place.work().join("big.txt").display());
                let written = text.contains(&line("written"));
                let not_written = text.contains(&line("not written"));
                (!written || version >= to) && (!not_written || version < to)
            }
            Some(text) => text.contains("Success") && stands(to) && (to != 1 || read("gone.txt").is_none()),
        };
        if !right {
            wrong.push(format!("{id} tells {told:?}, and big.txt is version {version}, added.txt {added:?}"));
        }
    }
    wrong
}

/// Temporary files that nobody will use.
fn scraps(place: &Place) -> Vec<String> {
    let names = |folder: std::path::PathBuf| {
        let entries = std::fs::read_dir(folder).expect("it is there").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let known = ["big.txt", "gone.txt", "added.txt"];
    let in_work = names(place.work()).into_iter().filter(|name| !known.contains(&name.as_str()));
    in_work.chain(names(place.temporary())).map(|name| format!("a temporary file is left: {name}")).collect()
}

fn output_of(input: &[Value], id: &str) -> Option<String> {
    let is_output = |item: &&Value| {
        item["call_id"] == id && item["type"].as_str().is_some_and(|kind| kind.ends_with("_output"))
    };
    let output = &input.iter().find(is_output)?["output"];
    Some(output.as_str().map_or_else(
        || {
            let texts = output.as_array().into_iter().flatten();
            texts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        },
        str::to_owned,
    ))
}
