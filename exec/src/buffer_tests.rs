use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn text(buffer: &mut HeadTailBuffer, end: bool) -> String {
    buffer.take(end).into_text()
}

#[test]
fn keeps_everything_up_to_the_limit() {
    let mut buffer = HeadTailBuffer::new(8);
    buffer.push(b"abcdefgh");
    let captured = buffer.take(true);
    assert_eq!((captured.seen(), captured.dropped()), (8, 0));
    assert_eq!(captured.into_text(), "abcdefgh");
}

#[test]
fn drops_the_middle_one_byte_over_the_limit() {
    let mut buffer = HeadTailBuffer::new(8);
    buffer.push(b"abcdefghi");
    let captured = buffer.take(true);
    assert_eq!((captured.seen(), captured.dropped()), (9, 1));
    assert_eq!(captured.into_text(), "abcd\n... 1 bytes omitted ...\nfghi");
}

#[test]
fn the_marker_needs_no_second_line_end() {
    let mut buffer = HeadTailBuffer::new(8);
    buffer.push(b"abc\n");
    buffer.push(b"0123456789");
    assert_eq!(text(&mut buffer, true), "abc\n... 6 bytes omitted ...\n6789");
}

#[test]
fn the_bound_is_one_mebibyte() {
    let mut buffer = HeadTailBuffer::new(RETAINED_BYTES);
    buffer.push(&[b'a'; 512 * 1024]);
    for _ in 0..64 {
        buffer.push(&[b'b'; 64 * 1024]);
    }
    assert!(buffer.tail.capacity() <= 512 * 1024, "the tail grew to {}", buffer.tail.capacity());
    let captured = buffer.take(true);
    assert_eq!(captured.head, [b'a'; 512 * 1024]);
    assert_eq!(captured.tail, [b'b'; 512 * 1024]);
    assert_eq!(captured.dropped(), 64 * 64 * 1024 - 512 * 1024);
}

#[test]
fn what_was_taken_is_not_there_again() {
    let mut buffer = HeadTailBuffer::new(8);
    buffer.push(b"one");
    assert_eq!(text(&mut buffer, false), "one");
    assert!(buffer.is_empty());
    buffer.push(b"two");
    assert_eq!(text(&mut buffer, true), "two");
    assert!(buffer.take(true).is_empty());
}

#[test]
fn a_character_split_across_two_drains_stays_whole() {
    let bytes = "a✓😀é".as_bytes();
    for cut in 0..=bytes.len() {
        let mut buffer = HeadTailBuffer::new(64);
        buffer.push(&bytes[..cut]);
        let first = text(&mut buffer, false);
        buffer.push(&bytes[cut..]);
        let second = text(&mut buffer, true);
        assert_eq!(format!("{first}{second}"), "a✓😀é", "cut at {cut}");
    }
}

#[test]
fn an_unfinished_character_is_given_up_at_the_end() {
    let mut buffer = HeadTailBuffer::new(64);
    buffer.push(b"a\xe2\x9c");
    assert_eq!(text(&mut buffer, false), "a");
    assert_eq!(text(&mut buffer, true), "\u{fffd}");
}

#[test]
fn bytes_that_are_no_character_are_not_held_back() {
    let mut buffer = HeadTailBuffer::new(64);
    buffer.push(b"a\xff");
    assert_eq!(text(&mut buffer, false), "a\u{fffd}");
    buffer.push(b"\x9c\x9c\x9c\x9c");
    assert_eq!(text(&mut buffer, false), "\u{fffd}\u{fffd}\u{fffd}\u{fffd}");
}

#[test]
fn the_gap_never_cuts_a_character() {
    // Six bytes of head would end inside the second tick, and the tail would begin inside another.
    let mut buffer = HeadTailBuffer::new(10);
    buffer.push("✓✓✓✓✓✓".as_bytes());
    let captured = buffer.take(true);
    assert_eq!(captured.seen(), 18);
    assert_eq!(captured.dropped(), 12);
    assert_eq!(captured.into_text(), "✓\n... 12 bytes omitted ...\n✓");
}

#[test]
fn absorbing_in_pieces_equals_pushing_at_once() {
    let mut whole = HeadTailBuffer::new(8);
    let mut pieces = HeadTailBuffer::new(8);
    let mut pending = HeadTailBuffer::new(8);
    for piece in ["ab", "cdef", "ghijk", "l"] {
        whole.push(piece.as_bytes());
        pending.push(piece.as_bytes());
        pieces.absorb(&pending.take(true));
    }
    assert_eq!(pieces.take(true), whole.take(true));
}

#[test]
fn an_absorbed_gap_keeps_its_place() {
    let mut pending = HeadTailBuffer::new(4);
    pending.push(b"abcdefgh");
    let mut transcript = HeadTailBuffer::new(16);
    transcript.push(b"0123456789");
    transcript.absorb(&pending.take(true));
    let captured = transcript.take(true);
    assert_eq!(captured.seen(), 18);
    assert_eq!(captured.into_text(), "01234567\n... 8 bytes omitted ...\ngh");
}

proptest! {
    #[test]
    fn counts_and_keeps_the_ends(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
                                 limit in 0usize..64) {
        let all: Vec<u8> = pieces.concat();
        let mut buffer = HeadTailBuffer::new(limit);
        for piece in &pieces {
            buffer.push(piece);
        }
        prop_assert!(buffer.head.len() + buffer.tail.len() <= limit);
        let captured = buffer.take(true);
        prop_assert_eq!(captured.seen(), all.len() as u64);
        prop_assert!(all.starts_with(&captured.head));
        prop_assert!(all.ends_with(&captured.tail));
        if all.len() <= limit {
            prop_assert_eq!(captured.into_bytes(), all);
        }
    }

    #[test]
    fn text_is_the_same_for_every_cut(text in "[a✓é😀]{0,20}", cuts in prop::collection::vec(0usize..80, 0..6)) {
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.sort_unstable();
        let mut buffer = HeadTailBuffer::new(1024);
        let mut seen = String::new();
        let mut from = 0;
        for cut in cuts {
            buffer.push(&bytes[from..cut]);
            seen.push_str(&buffer.take(false).into_text());
            from = cut;
        }
        buffer.push(&bytes[from..]);
        seen.push_str(&buffer.take(true).into_text());
        prop_assert_eq!(seen, text);
    }
}
