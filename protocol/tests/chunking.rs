//! What a stream says does not depend on how it is cut.

use proptest::prelude::*;
use tenon_protocol::{Decoded, EventDecoder};

/// Pieces that streams are made of, odd ones included.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&'static [u8]> = vec![
        b"data: ",
        b"data:",
        b"data",
        b"event: x",
        b": comment",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\xef\xbb\xbf",
        b"\xef\xbb",
        b"\xff",
        "é😀".as_bytes(),
        b"[DONE]",
        b" ",
        br#"{"type":"response.output_text.delta","delta":"a\n\ud83d\ude00"}"#,
        br#"{"type":"response.output_text.delta","delta":"\ud83d"}"#,
        br#"{"type":"response.output_item.done","item":{"type":"message","role":"user","content":[]}}"#,
        br#"{"type":"response.output_item.done","item":{"type":"new"}}"#,
        br#"{"type":"response.completed","response":{"usage":null}}"#,
        br#"{"sequence_number":1,"type":"response.note"}"#,
        br#"{"type":"#,
        br#""response.note"}"#,
        b"{}",
    ];
    prop_oneof![
        8 => proptest::sample::select(pieces).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => "[a-z]{0,200}".prop_map(String::into_bytes),
    ]
}

/// A stream, the sizes its chunks have in turn, and the limit.
fn cut_stream() -> impl Strategy<Value = (Vec<u8>, Vec<usize>, usize)> {
    (
        proptest::collection::vec(piece(), 0..60).prop_map(|pieces| pieces.concat()),
        proptest::collection::vec(1..40_usize, 1..20),
        prop_oneof![Just(usize::MAX), 0..150_usize],
    )
}

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>, limit: usize) -> Vec<Decoded> {
    let mut seen = Vec::new();
    let mut decoder = EventDecoder::with_max_event_bytes(limit);
    for chunk in chunks {
        decoder.feed(chunk, &mut |decoded| seen.push(decoded));
    }
    decoder.finish(&mut |decoded| seen.push(decoded));
    seen
}

fn cut<'a>(mut stream: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    for size in sizes.iter().cycle() {
        if stream.is_empty() {
            break;
        }
        let (chunk, rest) = stream.split_at((*size).min(stream.len()));
        chunks.push(chunk);
        stream = rest;
    }
    chunks
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_says_the_same((stream, sizes, limit) in cut_stream()) {
        let whole = decode([stream.as_slice()], limit);
        prop_assert_eq!(decode(cut(&stream, &sizes), limit), whole.clone());
        prop_assert_eq!(decode(stream.chunks(1), limit), whole);
    }

    #[test]
    fn what_is_reported_is_bounded((stream, _, limit) in cut_stream()) {
        for decoded in decode([stream.as_slice()], limit) {
            if let Decoded::Broken(broken) = decoded {
                // 200 bytes, each maybe a replacement character, and the sign that there is more.
                prop_assert!(broken.excerpt.len() <= 3 * 200 + '…'.len_utf8());
            }
        }
    }
}
