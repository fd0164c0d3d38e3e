//! Streams of real providers, for whoever has some: one event a line in the `.txt` files of `$TENON_STREAMS`.
//!
//! `TENON_STREAMS=/folder cargo nextest run -p tenon-protocol --run-ignored only`

use std::fs;

use tenon_protocol::{BrokenEvent, Decoded, EventDecoder, ResponseEvent, decode_event};

fn as_sse(lines: &str) -> Vec<u8> {
    lines.lines().flat_map(|line| format!("data: {line}\n\n").into_bytes()).collect()
}

fn assert_honest(broken: &BrokenEvent) {
    let known = ["not JSON: ", "no Responses event: "];
    assert!(known.iter().any(|start| broken.reason.starts_with(start)), "{broken}");
}

#[test]
#[ignore = "needs recorded streams"]
fn recorded_streams_decode_and_items_keep_their_text() {
    let folder = std::env::var_os("TENON_STREAMS").expect("TENON_STREAMS names a folder");
    let mut events = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let lines = fs::read_to_string(&path).unwrap();
        let mut seen = Vec::new();
        for line in lines.lines() {
            let decoded = decode_event(line);
            match &decoded {
                Decoded::Event(
                    ResponseEvent::OutputItemAdded { item } | ResponseEvent::OutputItemDone { item },
                ) => {
                    assert_eq!(item.warning(), None, "{}", path.display());
                    assert!(line.contains(item.raw_json().as_ref()), "{}: {line}", path.display());
                }
                Decoded::Event(_) => {}
                Decoded::Broken(broken) => assert_honest(broken),
            }
            seen.push(decoded);
        }
        events += seen.len();
        for chunk in [1, 7, 8192] {
            let mut cut = Vec::new();
            let mut decoder = EventDecoder::new();
            for bytes in as_sse(&lines).chunks(chunk) {
                decoder.feed(bytes, &mut |decoded| cut.push(decoded));
            }
            decoder.finish(&mut |decoded| cut.push(decoded));
            assert!(cut == seen, "{} in chunks of {chunk}", path.display());
        }
    }
    assert!(events > 0, "no events found");
}
