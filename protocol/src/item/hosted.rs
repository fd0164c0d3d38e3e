//! What the API does by itself.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
#[derive(Clone, Debug, PartialEq)]
pub enum WebSearchAction {
    /// Searched.
    Search {
        /// For this.
        query: Option<String>,
        /// Or for these.
        queries: Option<Vec<String>>,
    },
    /// Opened a page.
    OpenPage {
        /// Its address.
        url: Option<String>,
    },
    /// Searched inside a page.
    FindInPage {
        /// Its address.
        url: Option<String>,
        /// For this.
        pattern: Option<String>,
    },
    /// An action that we don't know, as it came.
    Other(RawJson),
}

/// The actions that we know, in serde's terms.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum KnownAction {
    Search {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queries: Option<Vec<String>>,
    },
    OpenPage {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    FindInPage {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
    },
}

impl Serialize for WebSearchAction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let known = match self.clone() {
            Self::Search { query, queries } => KnownAction::Search { query, queries },
            Self::OpenPage { url } => KnownAction::OpenPage { url },
            Self::FindInPage { url, pattern } => KnownAction::FindInPage { url, pattern },
            Self::Other(raw) => return raw.serialize(serializer),
        };
        known.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WebSearchAction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        Ok(match raw.to::<KnownAction>() {
            Ok(KnownAction::Search { query, queries }) => Self::Search { query, queries },
            Ok(KnownAction::OpenPage { url }) => Self::OpenPage { url },
            Ok(KnownAction::FindInPage { url, pattern }) => Self::FindInPage { url, pattern },
            Err(_) => Self::Other(raw),
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
