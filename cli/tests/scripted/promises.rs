//! What must hold of a session however it was broken off.

use std::collections::BTreeMap;

use serde_json::Value;

use super::place::Place;
use super::processes;
use super::script;

const NOT_RUN: &str = "not run: the runtime stopped before this call started";
const OUTCOME_UNKNOWN: &str =
    "outcome unknown: the runtime stopped while this call ran; it was not run again";
const ABORTED: &str = "aborted by user";

/// What an output says of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// It did nothing.
    NotRun,
    /// It was running when the program was killed.
    OutcomeUnknown,
    /// It was cancelled.
    Aborted,
    /// It did what it was to do.
    Done,
    /// It was refused, since a call before it had not done its part.
    Refused,
    /// Something that nobody expects.
    Other,
}

impl Told {
    /// What may be said after a crash and a resume.
    pub const AFTER_A_CRASH: &[Self] = &[Self::NotRun, Self::OutcomeUnknown, Self::Done];
    /// What may be said after a turn was cancelled.
    pub const AFTER_A_CANCEL: &[Self] = &[Self::Aborted, Self::Done];
    /// What may be said where calls were cancelled and the turn went on.
    pub const BESIDE_A_CANCEL: &[Self] = &[Self::Aborted, Self::Done, Self::Refused];

    pub fn by(text: &str) -> Self {
        let ran = ["exited with code 0", "session ID", "counted", "Success", "Script completed"];
        if text.starts_with(NOT_RUN) {
            Self::NotRun
        } else if text.starts_with(OUTCOME_UNKNOWN) {
            Self::OutcomeUnknown
        } else if text.lines().take(2).any(|line| line.starts_with(ABORTED)) {
            Self::Aborted
        } else if ran.iter().any(|ran| text.contains(ran)) {
            Self::Done
        } else if text.contains("verification failed") {
            Self::Refused
        } else {
            Self::Other
        }
    }
}

/// What is wrong, in words; empty where all promises were kept. `items` are the calls and outputs that the model is
/// shown, and `may_say` is what outputs may say.
pub fn complaints(place: &Place, items: &[Value], may_say: &[Told]) -> Vec<String> {
    let mut wrong = Vec::new();
    let left = processes::left_in(place.root());
    wrong.extend(left.into_iter().map(|process| format!("a process is left: {process}")));
    wrong.extend(pairs(items, "request"));
    wrong.extend(pairs(&place.recorded_items(), "rollout"));
    for id in calls(items) {
        let text = output_of(items, &id).unwrap_or_default();
        if !may_say.contains(&Told::by(&text)) {
            wrong.push(format!("{id} tells {text:?}"));
        }
    }
    for effect in script::COUNTED {
        wrong.extend(effect_as_told(place, items, effect));
    }
    wrong.extend(nested_as_told(place, items));
    wrong.extend(files(place, items));
    wrong.extend(scraps(place));
    wrong
}

fn calls(items: &[Value]) -> Vec<String> {
    let is_call = |item: &&Value| item["type"].as_str().is_some_and(|kind| kind.ends_with("_call"));
    items.iter().filter(is_call).filter_map(|item| Some(item["call_id"].as_str()?.to_owned())).collect()
}

/// Whether the call's output tells the truth about its effect.
fn effect_as_told(place: &Place, items: &[Value], id: &str) -> Option<String> {
    let (count, text) = (place.count(id), output_of(items, id));
    let right = match text.as_deref().map(Told::by) {
        // A nested call has no output of its own.
        None if id.starts_with('n') => count <= 1,
        None | Some(Told::NotRun) => count == 0,
        Some(Told::OutcomeUnknown | Told::Aborted) => count <= 1,
        Some(Told::Done) => count == 1,
        Some(Told::Refused | Told::Other) => false,
    };
    (!right).then(|| format!("{id} had its effect {count} times and tells {text:?}"))
}

/// Whether the script's output tells the truth about the calls that it made.
fn nested_as_told(place: &Place, items: &[Value]) -> Vec<String> {
    let text = output_of(items, "e1").unwrap_or_default();
    let is_done = |tool: &str| text.contains(&format!("nested call of {tool}: completed"));
    let nested = [("n1", "exec_command"), ("n2", "mcp__counter__bump")];
    let wrong = nested.iter().filter(|(id, tool)| {
        let must = is_done(tool) || Told::by(&text) == Told::Done;
        must && place.count(id) != 1
    });
    wrong
        .map(|(id, _)| format!("{id} had its effect {} times, and e1 tells {text:?}", place.count(id)))
        .collect()
}

/// Every call has one output of its kind behind it, and no output is without a call.
pub fn pairs(items: &[Value], place: &str) -> Vec<String> {
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
fn files(place: &Place, items: &[Value]) -> Vec<String> {
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
        let told = output_of(items, id).unwrap_or_default();
        let line =
            |state: &str| told.contains(&format!("{}: {state}", place.work().join("big.txt").display()));
        let right = match output_of(items, id).as_deref().map(Told::by) {
            None | Some(Told::NotRun | Told::Refused) => version < to,
            Some(Told::OutcomeUnknown | Told::Aborted) => {
                (!line("written") || version >= to) && (!line("not written") || version < to)
            }
            Some(Told::Done) => stands(to) && (to != 1 || read("gone.txt").is_none()),
            Some(Told::Other) => false,
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

pub fn output_of(items: &[Value], id: &str) -> Option<String> {
    let is_output = |item: &&Value| {
        item["call_id"] == id && item["type"].as_str().is_some_and(|kind| kind.ends_with("_output"))
    };
    let output = &items.iter().find(is_output)?["output"];
    Some(output.as_str().map_or_else(
        || {
            let texts = output.as_array().into_iter().flatten();
            texts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        },
        str::to_owned,
    ))
}
