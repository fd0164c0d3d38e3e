//! The search among deferred tools.
//!
//! ```text
//! words.rs        a text's words, and the parts of identifiers
//! stop_words.rs   words that say nothing
//! stem.rs         English stems
//! index.rs        BM25 over texts
//! catalogue.rs    the deferred tools of now, indexed once
//! loaded.rs       what searches have found so far
//! ```
//! A tool is deferred where it says so itself ([`ToolExposure::Deferred`](tenon_tools::ToolExposure)); every MCP tool
//! does. It is then in no list until the model has found it with `tool_search`, but callable by its full name all the
//! same. Where the model cannot search, deferred tools are listed like any other (core.md 0.2, 4.4, 9.4).

mod catalogue;
mod index;
mod loaded;
mod stem;
mod stop_words;
mod words;

pub use catalogue::{SearchCatalogue, SearchCatalogues};
pub use index::{SearchHit, SearchIndex};
pub use loaded::LoadedTools;
