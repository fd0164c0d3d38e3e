//! What a cancelled exec_command answers (core.md 6.3).

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use tenon_tools::outputs::DEFAULT_MAX_OUTPUT_TOKENS;
use tenon_tools::{AbortedToolOutput, TruncationPolicy, truncate_captured};

use crate::buffer::Captured;

/// The least time that is told (core.md 6.2).
const MIN_ELAPSED: Duration = Duration::from_millis(100);

/// The answer of a call that was cancelled, with what it had printed; and with the line on its second run, where it was
/// that.
pub(super) fn aborted(
    since: Instant,
    retry: Option<String>,
    printed: Captured,
    max_output_tokens: Option<usize>,
    policy: TruncationPolicy,
) -> AbortedToolOutput {
    let elapsed = since.elapsed().max(MIN_ELAPSED).as_secs_f64();
    let mut message = format!("Wall time: {elapsed:.1} seconds\naborted by user");
    if let Some(retry) = retry {
        message.push('\n');
        message.push_str(&retry);
    }
    if !printed.is_empty() {
        let asked = TruncationPolicy::Tokens(max_output_tokens.unwrap_or(DEFAULT_MAX_OUTPUT_TOKENS));
        let policy = if policy.byte_budget() < asked.byte_budget() { policy } else { asked };
        let (tokens, omitted) = (printed.tokens(), NonZeroU64::new(printed.dropped()));
        message.push_str("\nOutput:\n");
        message.push_str(&truncate_captured(&printed.into_text(), policy, Some(tokens), omitted));
    }
    AbortedToolOutput { message }
}

#[cfg(test)]
#[path = "abort_tests.rs"]
mod tests;
