//! A recorded scenario: what a model says, what must come back, what must be on disk afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::{Map, Value};

/// One scenario file. A member that is not named here is an error: it would be a demand that nobody checks.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The file's name without `.json`.
    pub name: String,
    /// What it is about, where the name does not say it.
    #[serde(default)]
    pub about: Option<String>,
    /// What the model says in each answer. `$SESSION` and `$CELL` stand for the newest id of that kind.
    pub turns: Vec<Vec<Value>>,
    /// Files in the working folder before, by relative path.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// More such files, their bytes in hexadecimal digits.
    #[serde(default)]
    pub files_hex: BTreeMap<String, String>,
    /// Whether the fixture MCP server is configured, as `fixture`.
    #[serde(default)]
    pub mcp: bool,
    /// More TOML for that server's table.
    #[serde(default)]
    pub mcp_extra: String,
    /// The object `hooks` of `hooks.json`.
    #[serde(default)]
    pub hooks: Option<Value>,
    /// Which tools the model is shown.
    #[serde(default)]
    pub mode: Mode,
    /// More TOML for `config.toml`.
    #[serde(default)]
    pub config: String,
    /// A looser comparison.
    #[serde(default)]
    pub compare: Option<Compare>,
    /// Compare the files as they are, without marks for what varies.
    #[serde(default)]
    pub raw_files: bool,
    /// Files that a recorder keeps in spite of what varies in them; without meaning for the comparison.
    #[serde(default)]
    pub keep_files: Vec<String>,
    /// What must come of it.
    pub expected: Expected,
    /// Why a value is ours and not the reference's.
    #[serde(default)]
    pub differs_from_reference: Option<String>,
}

/// Which tools the model is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// All of them.
    #[default]
    Direct,
    /// `exec` and `wait` alone; the others from scripts.
    CodeMode,
}

/// A looser comparison than equality.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// Of an engine's own error only its class.
    ErrorClass,
}

/// What must come of a scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// For each turn the output and message items that the next request adds.
    pub outputs: Vec<Vec<Value>>,
    /// The files in the working folder afterwards.
    pub files: BTreeMap<String, String>,
    /// The client's exit status.
    pub exit: i32,
    /// Its `--json` lines, without ids and usage.
    #[serde(default)]
    pub events: Option<Vec<Value>>,
    /// Tools it must offer in its first request.
    #[serde(default)]
    pub surface: Option<Map<String, Value>>,
    /// The error that ends the turn.
    #[serde(default)]
    pub turn_failed: Option<String>,
}

/// A part of the client without which a scenario cannot agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Commands from `hooks.json`.
    Hooks,
    /// MCP servers and their tools.
    Mcp,
    /// JavaScript cells.
    CodeMode,
    /// Commands on a terminal of their own.
    Terminal,
    /// The tool that finds deferred tools.
    ToolSearch,
}

impl Scenario {
    /// Reads one scenario file.
    ///
    /// # Errors
    /// When it can't be read, is no scenario, or is named otherwise than its file.
    pub fn load(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
        let scenario: Self =
            serde_json::from_str(&text).with_context(|| format!("{} is no scenario", path.display()))?;
        anyhow::ensure!(
            path.file_stem().is_some_and(|stem| stem == scenario.name.as_str()),
            "{} calls itself {:?}; a scenario is named like its file",
            path.display(),
            scenario.name
        );
        Ok(scenario)
    }

    /// Reads every `*.json` of a folder, in the order of their names.
    ///
    /// # Errors
    /// When the folder can't be read or a file is no scenario.
    pub fn load_folder(folder: &Path) -> anyhow::Result<Vec<Self>> {
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                paths.push(path);
            }
        }
        paths.sort();
        paths.iter().map(|path| Self::load(path)).collect()
    }

    /// The parts of the client without which it cannot agree.
    pub fn needs(&self) -> BTreeSet<Need> {
        let wanted = [
            (Need::Hooks, self.hooks.is_some()),
            (Need::Mcp, self.mcp || self.config.contains("[mcp_servers")),
            (Need::CodeMode, self.mode == Mode::CodeMode),
            (Need::Terminal, self.items().any(asks_for_a_terminal)),
            (Need::ToolSearch, self.items().any(searches_for_tools)),
        ];
        wanted.into_iter().filter_map(|(need, wanted)| wanted.then_some(need)).collect()
    }

    /// What the model says, over all turns.
    pub fn items(&self) -> impl Iterator<Item = &Value> {
        self.turns.iter().flatten()
    }
}

/// Looks at the text: arguments with a mark in them are no JSON yet, and scripts name the member as they like.
fn asks_for_a_terminal(item: &Value) -> bool {
    ["arguments", "input"].iter().filter_map(|member| item.get(member)?.as_str()).any(|text| {
        let text: String = text.chars().filter(|c| !c.is_whitespace() && *c != '"').collect();
        text.contains("tty:true")
    })
}

fn searches_for_tools(item: &Value) -> bool {
    item.get("type").is_some_and(|kind| kind == "tool_search_call")
        || item.get("name").is_some_and(|name| name == "tool_search")
}

#[cfg(test)]
#[path = "scenario_tests.rs"]
mod tests;
