//! `[features]`: the reference's way to turn code mode on.

use serde::Deserialize;
use toml::Table;

use super::values::ToolMode;

/// `[features]`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct FeaturesFile {
    #[serde(default)]
    code_mode: FeatureFile,
    #[serde(default)]
    code_mode_only: FeatureFile,
    #[serde(flatten)]
    pub(super) unknown: Table,
}

/// One feature: `name = true`, or `[features.name]` with `enabled`.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum FeatureFile {
    Switch(bool),
    Table {
        #[serde(default)]
        enabled: bool,
        #[serde(flatten)]
        unknown: Table,
    },
}

impl Default for FeatureFile {
    fn default() -> Self {
        Self::Switch(false)
    }
}

impl FeatureFile {
    fn is_on(&self) -> bool {
        match self {
            Self::Switch(on) | Self::Table { enabled: on, .. } => *on,
        }
    }

    fn unknown(&self) -> impl Iterator<Item = &String> {
        let unknown = match self {
            Self::Switch(_) => None,
            Self::Table { unknown, .. } => Some(unknown),
        };
        unknown.into_iter().flat_map(|table| table.keys())
    }
}

impl FeaturesFile {
    /// What the features make of `tool_mode`, where that is not said.
    pub(crate) fn tool_mode(&self) -> ToolMode {
        if self.code_mode_only.is_on() {
            ToolMode::CodeModeOnly
        } else if self.code_mode.is_on() {
            ToolMode::CodeMode
        } else {
            ToolMode::Direct
        }
    }

    /// The dotted names of all keys that mean nothing here.
    pub(super) fn unknown_keys(&self) -> Vec<String> {
        let features = [("code_mode", &self.code_mode), ("code_mode_only", &self.code_mode_only)];
        let inside = features
            .into_iter()
            .flat_map(|(name, feature)| feature.unknown().map(move |key| format!("features.{name}.{key}")));
        self.unknown.keys().map(|key| format!("features.{key}")).chain(inside).collect()
    }
}
