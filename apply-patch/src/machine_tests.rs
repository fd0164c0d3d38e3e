use pretty_assertions::assert_eq;

use crate::{Chunk, Hunk, ParseError, Patch, parse_patch};

fn strings(lines: &[&str]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

fn chunk(contexts: &[&str], old: &[&str], new: &[&str], kept: &[(usize, usize)]) -> Chunk {
    Chunk {
        change_contexts: strings(contexts),
        old_lines: strings(old),
        new_lines: strings(new),
        context_line_indices: kept.to_vec(),
        is_end_of_file: false,
    }
}

/// A patch around `body`, which starts on line 2.
fn parse(body: &str) -> Result<Vec<Hunk>, ParseError> {
    parse_patch(&format!("*** Begin Patch\n{body}\n*** End Patch")).map(|patch| patch.hunks)
}

/// The chunks of an update with `body`, which starts on line 3.
fn chunks(body: &str) -> Result<Vec<Chunk>, ParseError> {
    let hunks = parse(&format!("*** Update File: a\n{body}"))?;
    match &hunks[..] {
        [Hunk::Update { path, move_to: None, chunks }] if path == "a" => Ok(chunks.clone()),
        other => panic!("one plain update expected: {other:?}"),
    }
}

fn error(message: &str, line: usize) -> ParseError {
    ParseError::Hunk { message: message.to_owned(), line }
}

const INVALID: &str = "is not a valid hunk header. Valid hunk headers: '*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'";
const PREFIXES: &str =
    "Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)";

#[test]
fn an_empty_patch_parses() {
    assert_eq!(parse_patch("*** Begin Patch\n*** End Patch"), Ok(Patch::default()));
}

#[test]
fn the_three_kinds_of_hunk() {
    let body = "*** Add File: new.txt\n+one\n+\n++two\n*** Delete File: old.txt\n*** Update File: a b.txt  \n*** Move to:  c.txt\n@@\n-x\n+y";
    let expected = [
        Hunk::Add { path: "new.txt".into(), contents: "one\n\n+two\n".into() },
        Hunk::Delete { path: "old.txt".into() },
        Hunk::Update {
            path: "a b.txt".into(),
            move_to: Some(" c.txt".into()),
            chunks: vec![chunk(&[], &["x"], &["y"], &[])],
        },
    ];
    assert_eq!(parse(body).expect("parses"), expected);
}

#[test]
fn headers_may_be_padded_outside_updates() {
    let body = "  *** Add File: a\n+x\n\t*** Delete File: b\n  *** Delete File: c\u{a0}";
    let hunks = parse(body).expect("parses");
    assert_eq!(hunks.iter().map(Hunk::path).collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[test]
fn an_indented_header_in_an_update_is_context() {
    let expected = chunk(&[], &["x", "*** Add File: b"], &["y", "*** Add File: b"], &[(1, 1)]);
    assert_eq!(chunks("-x\n+y\n *** Add File: b"), Ok(vec![expected]));
}

#[test]
fn a_file_may_be_added_empty() {
    assert_eq!(parse("*** Add File: a"), Ok(vec![Hunk::Add { path: "a".into(), contents: String::new() }]));
}

#[test]
fn environment_ids() {
    let parse = |ids: &str| {
        parse_patch(&format!("*** Begin Patch\n{ids}*** Delete File: a\n*** End Patch"))
            .map(|patch| patch.environment_id)
    };
    let refused = |message: &str| Err(ParseError::Patch(message.to_owned()));
    assert_eq!(parse(""), Ok(None));
    assert_eq!(parse("*** Environment ID: x y \n"), Ok(Some("x y".into())));
    assert_eq!(parse(" *** Environment ID:x\n"), Ok(Some("x".into())));
    assert_eq!(parse("*** Environment ID: \n"), refused("apply_patch environment_id cannot be empty"));
    assert_eq!(
        parse("*** Environment ID: x\n*** Environment ID: y\n"),
        refused("apply_patch environment_id cannot be specified more than once")
    );
    let late = "*** Begin Patch\n*** Delete File: a\n*** Environment ID: x\n*** End Patch";
    assert_eq!(parse_patch(late), Err(error(&format!("'*** Environment ID: x' {INVALID}"), 3)));
}

#[test]
fn lines_outside_updates_that_are_no_headers() {
    for (body, shown, line) in [
        ("junk", "junk", 2),
        ("", "", 2),
        ("  *** Frob File: a ", "*** Frob File: a", 2),
        ("*** Add File:", "*** Add File:", 2),
        ("*** Add File: a\n+x\nno plus", "no plus", 4),
        ("*** Add File: a\n +x", "+x", 3),
        ("*** Add File: a\n\n+x", "", 3),
        ("*** Delete File: a\n\n", "", 3),
        ("*** Delete File: a\n+x", "+x", 3),
    ] {
        assert_eq!(parse(body), Err(error(&format!("'{shown}' {INVALID}"), line)), "{body:?}");
    }
}

#[test]
fn chunks_of_every_form() {
    let ended = |mut chunk: Chunk| {
        chunk.is_end_of_file = true;
        chunk
    };
    let cases = [
        // Rules 8 and 9: no header needed for the first chunk; an empty line is empty context.
        (
            " a\n-b\n+c\n\n ",
            vec![chunk(&[], &["a", "b", "", ""], &["a", "c", "", ""], &[(0, 0), (2, 2), (3, 3)])],
        ),
        // Rules 5 and 6.
        ("@@\n-a\n@@ f() \n+b", vec![chunk(&[], &["a"], &[], &[]), chunk(&["f()"], &[], &["b"], &[])]),
        ("@@     return\n-a", vec![chunk(&["    return"], &["a"], &[], &[])]),
        // Rule 4: several headers narrow each other.
        ("@@ A\n@@ B\n@@ C\n-a", vec![chunk(&["A", "B", "C"], &["a"], &[], &[])]),
        // Rule 7: closes the chunk; blank lines behind it do not count, headers open another.
        (
            "-a\n*** End of File\n\n\t\n@@ x\n-b",
            vec![ended(chunk(&[], &["a"], &[], &[])), chunk(&["x"], &["b"], &[], &[])],
        ),
        ("-a\n*** End of File", vec![ended(chunk(&[], &["a"], &[], &[]))]),
        // Without a chunk it says nothing.
        ("*** End of File\n-a", vec![chunk(&[], &["a"], &[], &[])]),
        // What stands behind the sign is kept: tabs, trailing blanks, signs.
        ("-\ta \n+-b\t\n+*** End Patch", vec![chunk(&[], &["\ta "], &["-b\t", "*** End Patch"], &[])]),
        ("-@@ a\n+@@", vec![chunk(&[], &["@@ a"], &["@@"], &[])]),
    ];
    for (body, expected) in cases {
        assert_eq!(chunks(body).expect(body), expected, "{body}");
    }
}

#[test]
fn a_rename_needs_no_chunk() {
    let body = "*** Update File: a\n*** Move to: b\n*** Update File: c\n-x";
    let rename = |path: &str, to: Option<&str>, chunks| Hunk::Update {
        path: path.into(),
        move_to: to.map(str::to_owned),
        chunks,
    };
    let expected = [rename("a", Some("b"), vec![]), rename("c", None, vec![chunk(&[], &["x"], &[], &[])])];
    assert_eq!(parse(body).expect("parses"), expected);
}

#[test]
fn lines_in_updates_that_fit_nowhere() {
    let unexpected = |line: &str| format!("Unexpected line found in update hunk: '{line}'. {PREFIXES}");
    let expected =
        |line: &str| format!("Expected update hunk to start with a @@ context marker, got: '{line}'");
    let no_lines = || "Update hunk does not contain any lines".to_owned();
    let cases = [
        // Rule 2.
        ("-a\n*** End of File\n-b", expected("-b"), 5),
        ("-a\n*** End of File\nfoo", expected("foo"), 5),
        // Rule 3: one destination, before the chunks.
        ("*** Move to: b\n*** Move to: c\n-x", unexpected("*** Move to: c"), 4),
        ("-x\n*** Move to: c", expected("*** Move to: c"), 4),
        // Rule 4.
        ("@@\n@@", unexpected("@@"), 4),
        ("@@\n@@ A\n-x", unexpected("@@ A"), 4),
        ("@@ A\n@@\n-x", unexpected("@@"), 4),
        ("@@ A\n@@ B\n@@ \n-x", unexpected("@@ "), 5),
        // Rule 7.
        ("@@\n*** End of File", no_lines(), 4),
        // Rules 10 and 11.
        ("-x\n?what", expected("?what"), 4),
        ("?what", unexpected("?what"), 3),
        ("@@\nfoo", unexpected("foo"), 4),
        ("@@foo\n-x", unexpected("@@foo"), 3),
        ("\t\n-x", unexpected("\t"), 3),
        ("-x\n\t", expected("\t"), 4),
        // A3.c.
        ("@@", no_lines(), 4),
        ("@@ A\n@@ B", no_lines(), 5),
        ("-x\n@@", no_lines(), 5),
        ("@@\n*** Delete File: b", unexpected("*** Delete File: b"), 4),
        ("-x\n@@ c\n*** Update File: b", unexpected("*** Update File: b"), 5),
    ];
    for (body, message, line) in cases {
        assert_eq!(chunks(body), Err(error(&message, line)), "{body:?}");
    }
}

#[test]
fn an_update_without_anything_names_its_own_line() {
    let message = |path: &str| format!("Update file hunk for path '{path}' is empty");
    assert_eq!(parse("*** Update File: a"), Err(error(&message("a"), 2)));
    assert_eq!(
        parse("*** Delete File: x\n*** Update File: a b\n*** Add File: y"),
        Err(error(&message("a b"), 3))
    );
    // What closes it is the last line, with or without a line end.
    let text = "*** Begin Patch\n*** Update File: a.txt\n*** End Patch\n";
    assert_eq!(parse_patch(text), Err(error(&message("a.txt"), 2)));
}

#[test]
fn nothing_but_blanks_may_follow_the_end() {
    let last = Err(ParseError::Patch("The last line of the patch must be '*** End Patch'".into()));
    assert!(parse_patch("*** Begin Patch\n*** End Patch\n\n \t\n").is_ok());
    assert_eq!(parse_patch("*** Begin Patch\n*** End Patch\nfoo"), last);
    assert_eq!(parse_patch("*** Begin Patch\n*** End Patch\nfoo\n*** End Patch"), last);
}

#[test]
fn displays_of_the_tool() {
    assert_eq!(error("m", 3).to_string(), "invalid hunk at line 3, m");
    assert_eq!(ParseError::Patch("m".into()).to_string(), "invalid patch: m");
}
