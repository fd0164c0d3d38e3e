//! Scenarios that cannot agree yet, and what they wait for. One that agrees all the same fails the tests until it is
//! taken off the list.

use tenon_tests::scenario::Need;

/// Parts that are not built yet.
pub(crate) const NOT_BUILT: &[Need] = &[];

/// What a scenario waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// A part that is not built and that the scenario itself asks for.
    #[allow(dead_code, reason = "the list may be without one")]
    For(Need),
    /// Something that does not show in the scenario.
    #[allow(dead_code, reason = "the list may be without one")]
    Because(&'static str),
}

/// Every scenario that does not agree yet.
pub(crate) const PENDING: &[(&str, Waits)] = &[];
