//! A quick hash for the lines of a file.
//!
//! Only the lines of the patch are keys, so a hash that could be steered costs nothing: a patch's
//! author gains no more by slowing it down than by writing a longer patch.

use std::hash::{BuildHasherDefault, Hasher};

/// Builds [`LineHasher`]s.
pub(crate) type LineHash = BuildHasherDefault<LineHasher>;

/// Folds eight bytes at a time by a multiplication.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct LineHasher(u64);

/// An odd number without a pattern: the fraction of the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl LineHasher {
    fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for LineHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        self.word(u64::from_le_bytes(last));
    }

    fn write_usize(&mut self, length: usize) {
        self.word(length as u64);
    }

    /// The high bits are mixed best, and a hash table looks at both ends.
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}
