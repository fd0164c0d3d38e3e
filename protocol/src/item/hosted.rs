//! What the API does by itself.

use serde::{Deserialize, Deserializer, Serialize};

use crate::raw_json::RawJson;

/// `web_search_call`: a search that the API ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WebSearchCall {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The API's own status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<WebSearchAction>,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}

/// What a [`WebSearchCall`] did.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WebSearchAction {
    /// Searched.
    Search {
        /// For this.
        #[serde(skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        /// Or for these.
        #[serde(skip_serializing_if = "Option::is_none")]
        queries: Option<Vec<String>>,
    },
    /// Opened a page.
    OpenPage {
        /// Its address.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// Searched inside a page.
    FindInPage {
        /// Its address.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// For this.
        #[serde(skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
    },
    /// An action that we don't know, as it came.
    #[serde(untagged)]
    Other(RawJson),
}

/// An action as it is read: in one pass, so that members nobody reads do no harm.
#[derive(Deserialize)]
struct ReadAction {
    #[serde(rename = "type")]
    tag: String,
    #[serde(default)]
    query: Option<String>,
    #[serde(default)]
    queries: Option<Vec<String>>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    pattern: Option<String>,
}

impl<'de> Deserialize<'de> for WebSearchAction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        let Ok(ReadAction { tag, query, queries, url, pattern }) = raw.to() else {
            return Ok(Self::Other(raw));
        };
        Ok(match tag.as_str() {
            "search" => Self::Search { query, queries },
            "open_page" => Self::OpenPage { url },
            "find_in_page" => Self::FindInPage { url, pattern },
            _ => Self::Other(raw),
        })
    }
}

/// `image_generation_call`: an image that the API made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ImageGenerationCall {
    /// The item's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The API's own status.
    pub status: String,
    /// The prompt as the API changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revised_prompt: Option<String>,
    /// The image, base64; `null` while it is being made.
    #[serde(default)]
    pub result: Option<String>,
    /// The API's private metadata.
    #[serde(
        default,
        rename = "internal_chat_message_metadata_passthrough",
        skip_serializing_if = "Option::is_none"
    )]
    pub passthrough: Option<RawJson>,
}
