//! `cargo fuzz run apply`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tenon_fuzz::patch_bodies::apply(data));
