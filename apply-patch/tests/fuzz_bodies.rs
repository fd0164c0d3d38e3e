//! The bodies of the fuzz targets, on their corpus and on inputs of proptest.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../../fuzz/src/patch_bodies.rs"]
#[allow(unreachable_pub, clippy::string_slice)]
mod patch_bodies;

use std::path::PathBuf;

use patch_bodies::{apply, parse_stream};
use proptest::prelude::*;

/// Runs a body on every file of its corpus, and on what is left of it when it is cut anywhere.
fn on_corpus(target: &str, body: fn(&[u8])) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let mut files = 0;
    for entry in folder.read_dir().expect("a corpus") {
        let data = std::fs::read(entry.expect("readable").path()).expect("readable");
        for end in 0..=data.len() {
            body(&data[..end]);
        }
        files += 1;
    }
    assert!(files > 4, "{files} files in the corpus of {target}");
}

#[test]
fn the_corpus_of_the_parser() {
    on_corpus("parse_stream", parse_stream);
}

#[test]
fn the_corpus_of_applying() {
    on_corpus("apply", apply);
}

/// Text that is almost a patch: its own lines in any order, and others.
fn patch_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        6 => prop::sample::select(vec![
            "*** Begin Patch", "*** End Patch", "*** Add File: f", "*** Update File: f", "*** Delete File: f",
            "*** Update File: g", "*** Move to: g", "*** End of File", "@@", "@@ a", "+", "-", "", " ", "EOF",
            "<<EOF", "<<'EOF'", "*** Environment ID: e", " *** End Patch", "+a", "-a", " a", "\ta", "-b", "+漢",
        ]).prop_map(str::to_owned),
        1 => ".{0,6}",
    ];
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "\r", ""]);
    prop::collection::vec((line, end), 0..14)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(vec![
        &b"a"[..],
        b"b",
        b" a",
        b"a ",
        b"",
        b"\xff",
        b"\xef\xbb\xbf",
        "漢".as_bytes(),
    ]);
    let end = prop::sample::select(vec![&b"\n"[..], b"\n", b"\r\n", b"\r", b""]);
    prop::collection::vec((line, end), 0..12)
        .prop_map(|lines| lines.into_iter().flat_map(|(line, end)| [line, end].concat()).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_parser_on_almost_patches(cuts in prop::collection::vec(any::<u8>(), 0..8), text in patch_text()) {
        let count = u8::try_from(cuts.len()).expect("few");
        parse_stream(&[&[count], cuts.as_slice(), text.as_bytes()].concat());
    }

    #[test]
    fn the_parser_on_any_bytes(data in prop::collection::vec(any::<u8>(), 0..200)) {
        parse_stream(&data);
    }

    #[test]
    fn applying_almost_patches(file in file(), text in patch_text()) {
        let length = u16::try_from(file.len()).expect("small").to_le_bytes();
        apply(&[length.as_slice(), &file, text.as_bytes()].concat());
    }

    #[test]
    fn applying_any_bytes(data in prop::collection::vec(any::<u8>(), 0..200)) {
        apply(&data);
    }
}
