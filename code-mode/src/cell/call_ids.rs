//! Ids for the calls of one cell.

use std::cell::Cell;

use tenon_protocol::CallId;
use uuid::{Builder, Uuid};

/// How events, approvals, hooks and the journal know a nested call (runtime.md C6.1).
const PREFIX: &str = "exec-";

/// The step and the two factors of SplitMix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
const FACTORS: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

/// Gives `exec-` and a UUID of version 4 for each call. Randomness is asked for once a cell: to ask the kernel for each
/// call costs as much as the engine's whole part of it.
pub(super) struct CallIds(Cell<(u64, u64)>);

impl CallIds {
    pub(super) fn new() -> Self {
        Self(Cell::new(Uuid::new_v4().as_u64_pair()))
    }

    pub(super) fn next(&self) -> CallId {
        let (high, low) = self.0.get();
        self.0.set((high.wrapping_add(STEP), low.wrapping_add(STEP)));
        let bits = u128::from(mixed(high)) << u64::BITS | u128::from(mixed(low));
        let id = Builder::from_random_bytes(bits.to_be_bytes()).into_uuid();
        CallId::from(format!("{PREFIX}{id}"))
    }
}

/// Each number becomes another, and no two the same.
fn mixed(number: u64) -> u64 {
    let once = (number ^ (number >> 30)).wrapping_mul(FACTORS[0]);
    let twice = (once ^ (once >> 27)).wrapping_mul(FACTORS[1]);
    twice ^ (twice >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_call_of_each_cell_has_an_id_of_its_own() {
        let cells = [CallIds::new(), CallIds::new()];
        let mut seen = HashSet::new();
        for _ in 0..10_000 {
            for ids in &cells {
                let id = ids.next();
                let uuid = Uuid::parse_str(id.as_str().strip_prefix(PREFIX).unwrap()).unwrap();
                assert_eq!((uuid.get_version_num(), uuid.get_variant()), (4, uuid::Variant::RFC4122));
                assert!(seen.insert(id));
            }
        }
    }
}
