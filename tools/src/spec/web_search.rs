//! The web search that the API runs.

use serde::Serialize;

/// Whether and how the API may search the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WebSearchMode {
    /// Not at all.
    #[default]
    Disabled,
    /// In what the API has at hand.
    Cached,
    /// In the live web.
    Live,
}

/// What a search may bring back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WebSearchContent {
    /// Text, which is not said.
    #[default]
    Text,
    /// Text and images.
    TextAndImage,
}

/// The entry that lets the API search the web. What is absent is not written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct WebSearchSpec {
    /// Whether the live web is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_web_access: Option<bool>,
    /// Whether only indexed pages of it are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_gated_web_access: Option<bool>,
    /// Where to search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filters: Option<WebSearchFilters>,
    /// Where the user is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_location: Option<WebSearchLocation>,
    /// How much to read: `low`, `medium`, `high`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_context_size: Option<String>,
    /// What to bring back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_content_types: Option<Vec<String>>,
}

impl WebSearchSpec {
    /// The entry for a mode; none where there is no search.
    pub fn for_mode(mode: WebSearchMode, content: WebSearchContent) -> Option<Self> {
        let live = match mode {
            WebSearchMode::Disabled => return None,
            WebSearchMode::Cached => false,
            WebSearchMode::Live => true,
        };
        let search_content_types = match content {
            WebSearchContent::Text => None,
            WebSearchContent::TextAndImage => Some(vec!["text".to_owned(), "image".to_owned()]),
        };
        Some(Self { external_web_access: Some(live), search_content_types, ..Self::default() })
    }
}

/// Where a web search may look.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct WebSearchFilters {
    /// The only domains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_domains: Option<Vec<String>>,
}

/// Where the user is, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WebSearchLocation {
    /// `approximate`.
    #[serde(rename = "type")]
    pub location_type: String,
    /// Two letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// State or province.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// City.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// IANA name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

/// Nothing is known but that it is approximate.
impl Default for WebSearchLocation {
    fn default() -> Self {
        Self {
            location_type: "approximate".to_owned(),
            country: None,
            region: None,
            city: None,
            timezone: None,
        }
    }
}
