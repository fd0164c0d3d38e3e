//! Scenarios that cannot agree yet, and what they wait for. One that agrees all the same fails the tests until it is
//! taken off the list.

use tenon_tests::scenario::Need;

/// Parts that are not built yet.
pub const NOT_BUILT: &[Need] = &[Need::Hooks, Need::Mcp, Need::CodeMode, Need::Terminal, Need::ToolSearch];

/// What a scenario waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// A part that is not built and that the scenario itself asks for.
    For(Need),
    /// Something that does not show in the scenario.
    Because(&'static str),
}

pub const PENDING: &[(&str, Waits)] = &[];
