//! The bodies of the fuzz targets. The tests of the crates run them too, on the corpus and on inputs of
//! proptest (`apply-patch/tests/fuzz_bodies.rs`).

pub mod patch_bodies;
