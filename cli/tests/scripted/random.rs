//! Numbers that look random and come again for the same seed (SplitMix64).

/// A source of numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The source of this seed and number: sources of one seed are independent of each other.
    pub fn of(seed: u64, number: u64) -> Self {
        Self(seed ^ number.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    /// The source that goes on where another has come to.
    pub fn at(state: u64) -> Self {
        Self(state)
    }

    /// How far it has come.
    pub fn state(&self) -> u64 {
        self.0
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
