use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

/// More lines than are noted.
const LINES: usize = 4097;

fn chunk(old: &[&str]) -> Chunk {
    Chunk { old_lines: old.iter().map(ToString::to_string).collect(), ..Chunk::default() }
}

/// By line numbers; the bytes that were found have to be just the lines.
fn seek(seeker: &Seeker<'_>, pattern: &[String], from: usize, at_end: bool) -> Option<usize> {
    let lines = Lines::of(seeker.file);
    let found = seeker.seek(pattern, lines.start(from), at_end)?;
    let start = lines.started_before(found.start);
    assert_eq!(found, lines.span(start..start + pattern.len()));
    Some(start)
}

/// A seeker that has to go through the passes.
fn by_passes<'a>(file: &'a [u8], chunks: &'a [Chunk]) -> Seeker<'a> {
    Seeker { exact: Exact::spent(file), ..Seeker::new(file, chunks) }
}

fn find(file: &[u8], pattern: &[&str], from: usize, at_end: bool) -> Option<usize> {
    let chunks = [chunk(pattern)];
    let found = seek(&Seeker::new(file, &chunks), &chunks[0].old_lines, from, at_end);
    assert_eq!(seek(&by_passes(file, &chunks), &chunks[0].old_lines, from, at_end), found);
    found
}

/// The search as the contract words it (A4.1 to A4.5).
fn by_the_book(file: &[u8], pattern: &[String], from: usize, at_end: bool) -> Option<usize> {
    if pattern.is_empty() {
        return Some(from);
    }
    let lines = Lines::of(file);
    let text = |line: usize| text_of(file, lines.span(line..line + 1));
    let last = lines.len().checked_sub(pattern.len())?;
    let first = if at_end { last.max(from) } else { from };
    PASSES.iter().find_map(|pass| {
        (first..=last).find(|start| {
            pattern.iter().enumerate().all(|(offset, wanted)| {
                pass.normal(text(start + offset), &mut Vec::new())
                    == pass.normal(wanted.as_bytes(), &mut Vec::new())
            })
        })
    })
}

#[test]
fn the_first_match_at_or_behind_the_cursor() {
    let file = b"a\nb\na\nb\n";
    assert_eq!(find(file, &["a", "b"], 0, false), Some(0));
    assert_eq!(find(file, &["a", "b"], 1, false), Some(2));
    assert_eq!(find(file, &["a", "b"], 2, false), Some(2));
    assert_eq!(find(file, &["a", "b"], 3, false), None);
    assert_eq!(find(file, &["b", "a"], 0, false), Some(1));
    assert_eq!(find(file, &["a", "a"], 0, false), None);
    assert_eq!(find(file, &["b"], 3, false), Some(3));
    assert_eq!(find(file, &["b"], 4, false), None);
}

#[test]
fn edges_of_the_pattern() {
    assert_eq!(find(b"a\n", &[], 1, false), Some(1));
    assert_eq!(find(b"a\n", &[], 0, true), Some(0));
    assert_eq!(find(b"a\n", &["a", "b"], 0, false), None);
    assert_eq!(find(b"", &["a"], 0, false), None);
    assert_eq!(find(b"\n", &[""], 0, false), Some(0));
}

#[test]
fn each_pass_takes_what_the_one_before_left() {
    assert_eq!(find(b"x\na \t\n", &["a"], 0, false), Some(1));
    assert_eq!(find(b"x\n\t a \n", &["a"], 0, false), Some(1));
    assert_eq!(
        find("x\n \u{201c}a\u{201d}\u{2003}\u{2014} b\n".as_bytes(), &["\"a\" - b"], 0, false),
        Some(1)
    );
    assert_eq!(find("x\n\"a\" - b\n".as_bytes(), &["\u{201c}a\u{201d}\u{a0}\u{2212} b"], 0, false), Some(1));
    assert_eq!(find(b"x\nA\n", &["a"], 0, false), None);
}

#[test]
fn an_exact_match_far_below_beats_a_loose_one_nearby() {
    assert_eq!(find(b" a\na \na\n", &["a"], 0, false), Some(2));
    assert_eq!(find(b" a\na \n", &["a"], 0, false), Some(1));
}

#[test]
fn at_the_end_there_is_one_place() {
    let file = b"a\nb\na\nb\n";
    assert_eq!(find(file, &["a", "b"], 0, true), Some(2));
    assert_eq!(find(file, &["b"], 0, true), Some(3));
    assert_eq!(find(file, &["a"], 0, true), None);
    assert_eq!(find(file, &["a", "b"], 3, true), None);
    assert_eq!(find(b"a\n  b \n", &["b"], 0, true), Some(1));
}

#[test]
fn bytes_that_are_no_text_match_nothing_and_break_nothing() {
    assert_eq!(find(b"\xff\nx\n\xfe\xfe\n", &["x"], 0, false), Some(1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_index_agrees_with_the_book(
        file in "[ab \\t\u{2013}-]{0,1}(\n[ab]{0,1}[ \u{2013}-]{0,1}){0,24}",
        patterns in prop::collection::vec(prop::collection::vec("[ab]{0,1}[ -]{0,1}", 0..5), 1..4),
        from in 0usize..12,
        at_end in any::<bool>(),
    ) {
        let lines = Lines::of(file.as_bytes());
        let chunks: Vec<Chunk> =
            patterns.into_iter().map(|old_lines| Chunk { old_lines, ..Chunk::default() }).collect();
        let from = from.min(lines.len());
        for seeker in [Seeker::new(file.as_bytes(), &chunks), by_passes(file.as_bytes(), &chunks)] {
            for chunk in &chunks {
                let expected = by_the_book(file.as_bytes(), &chunk.old_lines, from, at_end);
                prop_assert_eq!(seek(&seeker, &chunk.old_lines, from, at_end), expected);
            }
        }
    }
}

/// A file whose every line is one of the patch, with so many lines.
fn crowded(lines: usize) -> Vec<u8> {
    (0..lines).flat_map(|line| if line % 7 == 3 { *b"a\n" } else { *b"b\n" }).collect()
}

#[test]
fn without_notes_the_file_is_read_again() {
    let file = crowded(2 * LINES);
    assert_eq!(find(&file, &["b", "a", "b"], 0, false), Some(2));
    assert_eq!(find(&file, &["b", "a", "b"], 3, false), Some(9));
    assert_eq!(find(&file, &["b ", "a ", "b "], 8000, false), Some(8003));
    assert_eq!(find(&file, &["a", "a"], 0, false), None);
    assert_eq!(find(&file, &["a", "b", "b"], 2 * LINES - 2, false), None);
}
