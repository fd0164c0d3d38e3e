//! Scenarios that cannot agree yet, and what they wait for. One that agrees all the same fails the tests until it is
//! taken off the list.

use tenon_tests::scenario::Need;

/// Parts that are not built yet.
pub(crate) const NOT_BUILT: &[Need] = &[Need::CodeMode];

/// What a scenario waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// A part that is not built and that the scenario itself asks for.
    For(Need),
    /// Something that does not show in the scenario.
    #[allow(dead_code, reason = "the list may be without one")]
    Because(&'static str),
}

/// Every scenario that does not agree yet.
pub(crate) const PENDING: &[(&str, Waits)] = &[
    ("js-all-tools", Waits::For(Need::CodeMode)),
    ("js-as-function", Waits::For(Need::CodeMode)),
    ("js-bigint", Waits::For(Need::CodeMode)),
    ("js-busy-loop", Waits::For(Need::CodeMode)),
    ("js-direct-tool", Waits::For(Need::CodeMode)),
    ("js-empty", Waits::For(Need::CodeMode)),
    ("js-exec", Waits::For(Need::CodeMode)),
    ("js-exec-missing-arg", Waits::For(Need::CodeMode)),
    ("js-exit", Waits::For(Need::CodeMode)),
    ("js-hook-post-block", Waits::For(Need::CodeMode)),
    ("js-hook-pre-deny", Waits::For(Need::CodeMode)),
    ("js-image", Waits::For(Need::CodeMode)),
    ("js-import", Waits::For(Need::CodeMode)),
    ("js-mcp", Waits::For(Need::CodeMode)),
    ("js-nested-exec", Waits::For(Need::CodeMode)),
    ("js-no-output", Waits::For(Need::CodeMode)),
    ("js-parallel", Waits::For(Need::CodeMode)),
    ("js-patch-bad", Waits::For(Need::CodeMode)),
    ("js-pragma", Waits::For(Need::CodeMode)),
    ("js-pragma-bad", Waits::For(Need::CodeMode)),
    ("js-pragma-unknown-key", Waits::For(Need::CodeMode)),
    ("js-rejection", Waits::For(Need::CodeMode)),
    ("js-sequential-loop", Waits::For(Need::CodeMode)),
    ("js-set-timeout", Waits::For(Need::CodeMode)),
    ("js-syntax-error", Waits::For(Need::CodeMode)),
    ("js-text", Waits::For(Need::CodeMode)),
    ("js-throw", Waits::For(Need::CodeMode)),
    ("js-throw-string", Waits::For(Need::CodeMode)),
    ("js-unawaited-call", Waits::For(Need::CodeMode)),
    ("js-wait-terminate", Waits::For(Need::CodeMode)),
    ("js-wait-unknown", Waits::For(Need::CodeMode)),
    ("js-yield-control", Waits::For(Need::CodeMode)),
    ("js-yield-wait", Waits::For(Need::CodeMode)),
];
