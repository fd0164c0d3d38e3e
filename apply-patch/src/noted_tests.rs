use pretty_assertions::assert_eq;

use super::*;

#[test]
fn fallback_lengths() {
    assert_eq!(fallback(&[1, 1, 2, 1, 1, 1, 2]), [0, 1, 0, 1, 2, 2, 3]);
}

/// A file whose every line is one of the patch, with so many lines.
fn crowded(lines: usize) -> Vec<u8> {
    (0..lines).flat_map(|line| if line % 7 == 3 { *b"a\n" } else { *b"b\n" }).collect()
}

#[test]
fn notes_are_bounded_by_the_file() {
    let old_lines = ["a", "b"].map(str::to_owned).to_vec();
    let chunks = [Chunk { old_lines, ..Chunk::default() }];
    let noted = |file: &[u8]| Noted::take(Pass::Exact, &Lines::of(file), &chunks).hits.map(|hits| hits.len());
    assert_eq!(noted(&crowded(MIN_HITS)), Some(MIN_HITS));
    assert_eq!(noted(&crowded(MIN_HITS + 1)), None);
    // Other text gives room.
    let with_text = |bytes: usize| [crowded(MIN_HITS + 1), vec![b'x'; bytes]].concat();
    let needed = (MIN_HITS + 1) * BYTES_PER_HIT - crowded(MIN_HITS + 1).len();
    assert_eq!(noted(&with_text(needed)), Some(MIN_HITS + 1));
    assert_eq!(noted(&with_text(needed - 1)), None);
}
