//! What a model was asked, by its hashes: ours, so that a session can be played again and compared (runtime.md D11.2).

use serde::{Deserialize, Serialize};

/// One request to the model. Hashes are SHA-256 in small hexadecimal digits.
///
/// The body is the JSON text `{"model":M,"instructions":I,"input":[...],"tools":[...]}` without blanks. An item of
/// `input` is its own text without blanks and without its member `id`: an id is a name, and those that we make differ
/// from run to run. A tool is what the model is shown of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The model's name.
    pub model: String,
    /// The hash of the body.
    pub body_sha256: String,
    /// The hash of the base instructions.
    pub instructions_sha256: String,
    /// The hash of the tool list: its JSON array.
    pub tools_sha256: String,
    /// Each tool's hash, in order. Absent where the list is that of the request before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolHash>>,
    /// How many items at the beginning of the input are those of the request before.
    pub kept: usize,
    /// The hashes of the items behind these.
    pub items: Vec<String>,
}

/// A tool that the model was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolHash {
    /// Its name, or its kind where it has none.
    pub name: String,
    /// The hash of its JSON text.
    pub sha256: String,
}
