//! What must hold for any file and any patch.

use proptest::prelude::*;
use similar::{ChangeTag, DiffOp, TextDiff};

use crate::parser::parse_patch;
use crate::patch::{Chunk, Hunk};
use crate::replace::replace;
use crate::text::{Lines, text_of};

/// The body of an update that turns `old` into `new`, with so many lines of context.
fn patch_between(old: &[String], new: &[String], context: usize) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
    let diff = TextDiff::from_slices(&old, &new);
    let push = |body: &mut String, ops: &[DiffOp]| {
        body.push_str("@@\n");
        for change in ops.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            body.push(sign);
            body.push_str(change.value());
            body.push('\n');
        }
    };
    let mut body = String::new();
    for group in diff.grouped_ops(context) {
        push(&mut body, &group);
    }
    body
}

fn chunks_of(body: &str) -> Vec<Chunk> {
    let text = format!("*** Begin Patch\n*** Update File: a\n{body}*** End Patch\n");
    match parse_patch(&text).expect(&text).hunks.remove(0) {
        Hunk::Update { chunks, .. } => chunks,
        other => panic!("an update: {other:?}"),
    }
}

fn file(lines: &[String], terminator: &str) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_str(), terminator]).collect::<String>().into_bytes()
}

/// There and back again.
fn check_round_trip(old: &[String], new: &[String], terminator: &str, context: usize) {
    let (old_bytes, new_bytes) = (file(old, terminator), file(new, terminator));
    if old == new {
        return;
    }
    // An empty file has no line end of its own to go by.
    let lossless = |lines: &[String]| terminator == "\n" || !lines.is_empty();
    let there = replace(&old_bytes, &chunks_of(&patch_between(old, new, context))).expect("applies");
    if lossless(old) {
        assert_eq!(there.bytes, new_bytes);
    }
    let back =
        replace(&new_bytes, &chunks_of(&patch_between(new, old, context))).expect("the inverse applies");
    if lossless(new) {
        assert_eq!(back.bytes, old_bytes);
    }
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ab \\t]{0,3}",
        1 => prop::sample::select(vec![
            "*** End Patch", "*** Begin Patch", "*** Add File: x", "*** End of File", "@@", "@@ x", "-", "+", "<<EOF",
            "\u{2014}", "漢字", "\u{a0}", "\0",
        ]).prop_map(str::to_owned),
    ]
}

/// Two versions of a file: the second is the first with lines taken out, changed and put in. With
/// `numbered` no line occurs twice.
fn versions(numbered: bool) -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    let step = prop_oneof![6 => Just(0u8), 1 => Just(1), 1 => Just(2), 1 => Just(3)];
    prop::collection::vec((line(), step, line()), 0..40).prop_map(move |lines| {
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for (index, (mut first, step, mut second)) in lines.into_iter().enumerate() {
            if numbered {
                first += &format!("={index}");
                second += &format!("+{index}");
            }
            match step {
                0 => {
                    old.push(first.clone());
                    new.push(first);
                }
                1 => old.push(first),
                2 => new.push(second),
                _ => {
                    old.push(first);
                    new.push(second);
                }
            }
        }
        (old, new)
    })
}

fn terminator() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["\n", "\r\n", "\r"])
}

/// A file of any bytes, rich in line ends and look-alikes.
fn any_file() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        8 => prop::sample::select(b"aaab  \t\n\n\r\xff\xe2\x80\x93".to_vec()),
        1 => any::<u8>(),
    ];
    prop::collection::vec(byte, 0..120)
}

/// Chunks cut out of a file: some of its lines, each kept, removed or followed by others.
fn chunks_for(file: &[u8], cuts: &[(usize, usize, u32)], inserted: &str) -> Vec<Chunk> {
    let lines = Lines::of(file);
    let mut from = 0;
    let mut chunks = Vec::new();
    for (skip, length, marks) in cuts {
        let mut chunk = Chunk::default();
        let start = from + skip;
        for (bit, index) in (start..(start + length).min(lines.len())).enumerate() {
            let text = String::from_utf8_lossy(text_of(file, lines.span(index..index + 1))).into_owned();
            match marks >> (2 * bit) & 3 {
                0 | 1 => chunk.push_context(&text),
                2 => chunk.old_lines.push(text),
                _ => chunk.new_lines.push(inserted.to_owned()),
            }
            from = index + 1;
        }
        if !chunk.is_empty() {
            chunks.push(chunk);
        }
    }
    chunks
}

fn removed(chunks: &[Chunk]) -> usize {
    chunks.iter().map(|chunk| chunk.old_lines.len() - chunk.context_line_indices.len()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// With all of the file as context there is one place for every line.
    #[test]
    fn patches_between_any_versions_apply_and_revert((old, new) in versions(false), end in terminator()) {
        check_round_trip(&old, &new, end, usize::MAX / 4);
    }

    /// Where no line occurs twice, three lines of context are enough.
    #[test]
    fn patches_with_three_lines_of_context_apply_and_revert((old, new) in versions(true), end in terminator()) {
        check_round_trip(&old, &new, end, 3);
    }

    /// Whatever a patch does to whatever bytes: what lies between the edits is the same, and edits
    /// cover no more lines than were removed (and the last one, if it had no line end).
    #[test]
    fn lines_that_are_not_replaced_stay(
        file in any_file(),
        cuts in prop::collection::vec((0usize..4, 0usize..6, any::<u32>()), 0..5),
        inserted in "[ab]{0,2}",
    ) {
        let chunks = chunks_for(&file, &cuts, &inserted);
        let Ok(replaced) = replace(&file, &chunks) else { return Ok(()) };
        let lines = Lines::of(&file);
        let (mut old, mut new, mut covered) = (0, 0, 0);
        for edit in &replaced.edits {
            prop_assert_eq!(&file[old..edit.old.start], &replaced.bytes[new..edit.new.start]);
            covered += lines.lines_of(&edit.old).len();
            (old, new) = (edit.old.end, edit.new.end);
        }
        prop_assert_eq!(&file[old..], &replaced.bytes[new..]);
        prop_assert!(covered <= removed(&chunks) + 1, "{covered} lines in edits: {:?}", replaced.edits);
        // And the diff can be drawn.
        let _ = crate::diff::unified(&file, &replaced.bytes, &replaced.edits);
    }

    #[test]
    fn no_patch_and_no_file_panic(text in any::<String>(), file in any_file()) {
        let framed = format!("*** Begin Patch\n*** Update File: a\n{text}\n*** End Patch");
        for text in [text, framed] {
            for hunk in parse_patch(&text).unwrap_or_default().hunks {
                if let Hunk::Update { chunks, .. } = hunk {
                    let _ = replace(&file, &chunks);
                }
            }
        }
    }
}
