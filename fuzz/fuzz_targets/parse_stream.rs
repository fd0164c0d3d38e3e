//! `cargo fuzz run parse_stream`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tenon_fuzz::patch_bodies::parse_stream(data));
