//! A scenario: `{"turns": [[item, ...], ...], "files": {...}, "files_hex": {...}, ...}`.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::input::{Answer, Fault, RecordedFile, Recording, Speech};
use super::items;
use crate::config::ToolMode;

/// What the model says when the turns are over.
const LAST_WORDS: &str = "done";

#[derive(Deserialize)]
struct Scenario {
    turns: Vec<Vec<Box<RawValue>>>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    files_hex: BTreeMap<String, String>,
    #[serde(default)]
    mode: Mode,
    hooks: Option<Value>,
    #[serde(default)]
    mcp: bool,
    config: Option<Value>,
}

/// How the model was offered its tools.
#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Direct,
    /// `exec` and `wait` alone.
    CodeMode,
}

/// Reads a scenario.
///
/// # Errors
/// When it is none, or asks for what is not there.
pub(crate) fn parse(text: &str) -> Result<Recording, Fault> {
    let scenario: Scenario = serde_json::from_str(text)
        .map_err(|error| Fault::new(error.line(), format!("this is no scenario: {error}")))?;
    let mut answers = Vec::new();
    for (at, turn) in scenario.turns.iter().enumerate() {
        answers
            .push(Answer { prompt: None, speech: speech(turn).map_err(|why| bad("turns", at + 1, &why))? });
    }
    Ok(Recording {
        answers,
        last_words: Some(LAST_WORDS.to_owned()),
        files: files(&scenario)?,
        tool_mode: match scenario.mode {
            Mode::Direct => None,
            Mode::CodeMode => Some(ToolMode::CodeModeOnly),
        },
        notes: notes(&scenario),
    })
}

/// The items of a turn: a template where ids are to be filled in.
fn speech(turn: &[Box<RawValue>]) -> Result<Speech, String> {
    if turn.iter().any(|item| super::model::is_template(item.get())) {
        return Ok(Speech::Template(turn.iter().map(|item| item.get().to_owned()).collect()));
    }
    turn.iter().map(|item| items::item(item.get())).collect::<Result<_, _>>().map(Speech::Items)
}

fn files(scenario: &Scenario) -> Result<Vec<RecordedFile>, Fault> {
    let mut files = Vec::new();
    for (name, content) in &scenario.files {
        files.push(RecordedFile { path: relative("files", name)?, content: content.clone().into_bytes() });
    }
    for (name, hex) in &scenario.files_hex {
        let Some(content) = bytes_of(hex) else {
            return Err(Fault::new(1, format!("files_hex.{name:?}: expected pairs of hexadecimal digits")));
        };
        files.push(RecordedFile { path: relative("files_hex", name)?, content });
    }
    Ok(files)
}

/// A path that stays in the working folder.
fn relative(member: &str, name: &str) -> Result<PathBuf, Fault> {
    let path = Path::new(name);
    let inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if inside && path.file_name().is_some() {
        return Ok(path.to_owned());
    }
    Err(Fault::new(1, format!("{member}.{name:?}: expected a path inside the working folder")))
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16)?.try_into().ok()).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}

fn notes(scenario: &Scenario) -> Vec<String> {
    let told = [
        (scenario.hooks.is_some(), "the scenario's hooks are not run"),
        (scenario.mcp, "the scenario's MCP server is not started"),
        (scenario.config.is_some(), "the scenario's configuration is not used"),
    ];
    told.into_iter().filter(|(there, _)| *there).map(|(_, note)| note.to_owned()).collect()
}

fn bad(member: &str, number: usize, why: &str) -> Fault {
    Fault::new(1, format!("{member}, number {number}: {why}"))
}
