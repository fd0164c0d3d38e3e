use pretty_assertions::assert_eq;

use super::*;

fn decode(stream: &[u8]) -> Vec<Decoded> {
    let mut seen = Vec::new();
    let mut decoder = EventDecoder::new();
    decoder.feed(stream, &mut |decoded| seen.push(decoded));
    decoder.finish(&mut |decoded| seen.push(decoded));
    seen
}

fn delta(text: &str) -> Decoded {
    Decoded::Event(ResponseEvent::OutputTextDelta { item_id: None, delta: text.into() })
}

const DELTA: &str = r#"{"type":"response.output_text.delta","delta":"a"}"#;

#[test]
fn done_and_empty_events_are_silent() {
    let stream = format!("data: [DONE]\n\ndata:\n\ndata:  \n\ndata: {DELTA}\n\ndata: [DONE] \n\n");
    assert_eq!(decode(stream.as_bytes()), [delta("a")]);
}

#[test]
fn json_over_several_lines_is_one_event() {
    let stream = "data: {\"type\":\ndata: \"response.output_text.delta\",\ndata:\ndata: \"delta\":\"a\"}\n\n";
    assert_eq!(decode(stream.as_bytes()), [delta("a")]);
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let stream = b"data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\xff\xf0\x9f\"}\n\n";
    assert_eq!(decode(stream), [delta("a\u{fffd}\u{fffd}")]);
}

#[test]
fn a_broken_event_is_reported_and_skipped() {
    let stream = format!("data: {{\"type\":\"response.created\"\n\ndata: {DELTA}\n\n");
    let seen = decode(stream.as_bytes());
    let [Decoded::Broken(broken), next] = seen.as_slice() else { panic!("{seen:?}") };
    assert_eq!(broken.reason, "not JSON: EOF while parsing an object at line 1 column 26");
    assert_eq!(broken.excerpt, r#"{"type":"response.created""#);
    assert_eq!(broken.to_string(), format!("{}: {}", broken.reason, broken.excerpt));
    assert_eq!(next, &delta("a"));
}

#[test]
fn an_event_that_was_cut_off_is_reported() {
    let cut = DELTA.get(..20).unwrap();
    assert!(matches!(decode(format!("data: {cut}").as_bytes()).as_slice(), [Decoded::Broken(_)]));
    assert_eq!(decode(format!("data: {DELTA}").as_bytes()), [delta("a")]);
}

#[test]
fn excerpts_are_bounded_at_a_character() {
    for (text, excerpt) in [
        ("x".repeat(200), "x".repeat(200)),
        ("x".repeat(201), format!("{}…", "x".repeat(200))),
        (format!("{}é", "x".repeat(199)), format!("{}…", "x".repeat(199))),
        (format!("{}é", "x".repeat(198)), format!("{}é", "x".repeat(198))),
    ] {
        let Decoded::Broken(broken) = decode_event(&text) else { panic!("no JSON") };
        assert_eq!(broken.excerpt, excerpt);
    }
}

#[test]
fn too_large_events_are_reported_once_and_skipped() {
    let mut seen = Vec::new();
    let mut decoder = EventDecoder::with_max_event_bytes(DELTA.len());
    let stream = format!("data: {DELTA} \n\ndata: {DELTA}\n\n");
    for chunk in stream.as_bytes().chunks(5) {
        decoder.feed(chunk, &mut |decoded| seen.push(decoded));
    }
    let broken = Decoded::Broken(BrokenEvent {
        reason: format!("an event of more than {} bytes was skipped", DELTA.len()),
        excerpt: format!("{DELTA}…"),
        may_be_item: false,
    });
    assert_eq!(seen, [broken, delta("a")]);
}

#[test]
fn it_is_told_whether_an_item_may_be_lost() {
    let rows = [
        (r#"{"type":"response.output_item.done","item":{"type":"function_call","#, true),
        (r#"{"type":"response.output_item.done","item":{"name":"x"}}"#, true),
        (r#"{"type":"response.output_item.done"}"#, true),
        (r#"{"item":{"type":"message"},"type":"response.output_item.done","output_index":}"#, true),
        (r#"{"item":{"type":"message",,"type":"response.output_item.done"}"#, true),
        (r#"{"type":"response.output_item.added","item":{"type":"function_call","#, false),
        (r#"{"type":"response.output_text.delta","delta":"response.output_item.done"#, false),
        (r#"{"object":"chat.completion.chunk"}"#, false),
        (r#""response.output_item.done""#, false),
        ("response.output_item.done", false),
        ("{", false),
    ];
    for (text, expected) in rows {
        let Decoded::Broken(broken) = decode_event(text) else { panic!("{text}") };
        assert_eq!(broken.may_be_item, expected, "{text}");
    }
    // Of one that is too large, the beginning is all there is: an item unless it says something else.
    let too_large = [
        (r#"{"type":"response.output_item.done","item":"#, true),
        (r#"{"type":"response.completed","response":"#, false),
        (r#"{"item":{"type":"message","content":"#, true),
        ("x", true),
    ];
    for (start, expected) in too_large {
        let mut seen = Vec::new();
        let mut decoder = EventDecoder::with_max_event_bytes(300);
        let stream = format!("data: {start}{}\n\n", "x".repeat(300));
        decoder.feed(stream.as_bytes(), &mut |decoded| seen.push(decoded));
        let [Decoded::Broken(broken)] = seen.as_slice() else { panic!("{seen:?}") };
        assert_eq!(broken.may_be_item, expected, "{start}");
    }
}

#[test]
fn the_default_limit_holds_images() {
    let event = format!(r#"{{"type":"x","image":"{}"}}"#, "A".repeat(20 << 20));
    let seen = decode(format!("data: {event}\n\n").as_bytes());
    assert!(
        matches!(seen.as_slice(), [Decoded::Event(ResponseEvent::Other { raw, .. })] if raw.get() == event)
    );
    assert_eq!(DEFAULT_MAX_EVENT_BYTES, 64 * 1024 * 1024);
}
