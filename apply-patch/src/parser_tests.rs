use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

/// The whole-text parse as the contract words it (A3.1 to A3.6): the yardstick for the parser.
fn by_the_book(text: &str) -> Result<Patch, ParseError> {
    let lines: Vec<&str> =
        text.trim().split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let lines = if text.trim().is_empty() { Vec::new() } else { lines };
    let inner = match strict(&lines) {
        Ok(()) => &lines[..],
        Err(original) => match &lines[..] {
            [first, inner @ .., last]
                if lines.len() >= 4 && WRAPPERS.contains(first) && last.ends_with("EOF") =>
            {
                strict(inner)?;
                inner
            }
            _ => return Err(original),
        },
    };
    let mut machine = Machine::default();
    let (last, before) = inner.split_last().expect("checked");
    for line in before {
        machine.line(line)?;
    }
    if last.trim() == END_PATCH {
        machine.end(last)?;
    } else {
        machine.line(last)?;
    }
    if machine.has_ended() { Ok(machine.into_patch()) } else { Err(last_line_error()) }
}

fn strict(lines: &[&str]) -> Result<(), ParseError> {
    match (lines.first().map(|line| line.trim()), lines.last().map(|line| line.trim())) {
        (Some(BEGIN_PATCH), Some(END_PATCH)) => Ok(()),
        (Some(first), _) if first != BEGIN_PATCH => Err(first_line_error()),
        _ => Err(last_line_error()),
    }
}

fn one_by_one(text: &str) -> Result<Patch, ParseError> {
    let mut parser = StreamingParser::default();
    for c in text.chars() {
        parser.push(c.encode_utf8(&mut [0; 4]));
    }
    parser.finish()
}

const FIRST: &str = "invalid patch: The first line of the patch must be '*** Begin Patch'";
const LAST: &str = "invalid patch: The last line of the patch must be '*** End Patch'";

fn failure(text: &str) -> String {
    parse_patch(text).expect_err(text).to_string()
}

#[test]
fn the_frame() {
    assert_eq!(failure("junk"), FIRST);
    assert_eq!(failure(""), LAST);
    assert_eq!(failure(" \n "), LAST);
    assert_eq!(failure("*** End Patch"), FIRST);
    assert_eq!(failure("*** Begin Patch"), LAST);
    assert_eq!(failure("*** Begin Patch\njunk"), LAST);
    assert_eq!(failure("*** Begin Patch junk\n*** End Patch"), FIRST);
}

#[test]
fn padding_around_markers_and_text_is_fine() {
    let text = "\n  \n  *** Begin Patch \r\n*** Delete File: a\r\n *** End Patch \r\n\r\n ";
    assert_eq!(parse_patch(text).expect("parses").hunks, [Hunk::Delete { path: "a".into() }]);
    // The last place makes even an indented marker in an update the end.
    let text = "*** Begin Patch\n*** Update File: a\n-x\n   *** End Patch\n\n";
    assert_eq!(parse_patch(text).expect("parses").hunks.len(), 1);
}

#[test]
fn one_carriage_return_goes_with_each_line_end() {
    let text = "*** Begin Patch\r\n*** Add File: a\r\n+x\r\r\n+y\n*** End Patch\r\n";
    let contents = "x\r\ny\n".to_owned();
    assert_eq!(parse_patch(text).expect("parses").hunks, [Hunk::Add { path: "a".into(), contents }]);
}

#[test]
fn heredoc_wrappers() {
    let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    for start in WRAPPERS {
        for end in ["EOF", "xEOF", "EOF\n", " EOF \n\n"] {
            let text = format!("{start}\n{patch}\n{end}");
            assert_eq!(parse_patch(&text), parse_patch(patch), "{text:?}");
        }
    }
    // The wrapper of the shortest patch has four lines; three are too few.
    assert!(parse_patch("<<EOF\n*** Begin Patch\n*** End Patch\nEOF").is_ok());
    assert_eq!(failure("<<EOF\n*** Begin Patch\nEOF"), FIRST);
    // Other delimiters, padded first lines and missing ends keep the first complaint.
    assert_eq!(failure(&format!("<<END\n{patch}\nEND")), FIRST);
    assert_eq!(failure(&format!("<<EOF \n{patch}\nEOF")), FIRST);
    assert_eq!(failure(&format!("<<EOF\n{patch}\n")), FIRST);
    // Inside, the strict check is made anew and its complaint counts.
    assert_eq!(failure("<<EOF\njunk\n*** End Patch\nEOF"), FIRST);
    assert_eq!(failure("<<EOF\n*** Begin Patch\njunk\nEOF"), LAST);
    assert_eq!(failure(&format!("<<EOF\n\n{patch}\nEOF")), FIRST);
    assert_eq!(failure(&format!("<<EOF\n{patch}\n\nEOF")), LAST);
}

#[test]
fn lines_are_counted_from_the_begin_marker() {
    let inner = "*** Begin Patch\nfoo\n*** End Patch";
    let expected = parse_patch(inner).expect_err("refused");
    assert!(expected.to_string().starts_with("invalid hunk at line 2, "));
    assert_eq!(parse_patch(&format!("\n\n{inner}")), Err(expected.clone()));
    assert_eq!(parse_patch(&format!("<<EOF\n{inner}\nEOF")), Err(expected));
}

#[test]
fn hunks_show_while_they_come_in() {
    let mut parser = StreamingParser::default();
    parser.push("*** Begin Patch\n*** Add Fi");
    assert_eq!(parser.hunks(), []);
    parser.push("le: a\n+one\n+tw");
    assert_eq!(parser.hunks(), [Hunk::Add { path: "a".into(), contents: "one\n".into() }]);
    parser.push("o\nbad\n+three\n");
    assert_eq!(parser.hunks(), [Hunk::Add { path: "a".into(), contents: "one\ntwo\n".into() }]);
}

/// Texts made of the lines that matter to the format.
fn patchish() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => prop::sample::select(vec![
            "*** Begin Patch", "*** End Patch", " *** End Patch", "  *** End Patch ", "*** Update File: a",
            "*** Update File: xEOF", "*** Add File: b", "*** Delete File: c", "*** Move to: d",
            "*** Environment ID: e", "*** End of File", "@@", "@@ ctx", "@@ctx", "", " ", "\t", "-old", "+new",
            " same", "+EOF", "EOF", " EOF", "<<EOF", "<<'EOF'", "?",
        ]).prop_map(str::to_owned),
        1 => "[ -~\\r\\u{a0}漢]{0,6}",
    ];
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "\r\r\n", ""]);
    let body = prop::collection::vec((line, end), 0..14);
    (prop::sample::select(vec!["", "*** Begin Patch\n", "<<EOF\n*** Begin Patch\n"]), body).prop_map(
        |(start, lines)| lines.into_iter().fold(start.to_owned(), |text, (line, end)| text + &line + end),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn streaming_whole_and_book_agree_on_every_prefix(text in patchish()) {
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let prefix = text.get(..end).expect("a boundary");
            let expected = by_the_book(prefix);
            prop_assert_eq!(parse_patch(prefix), expected.clone());
            prop_assert_eq!(one_by_one(prefix), expected);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        prop_assert_eq!(parse_patch(&text), by_the_book(&text));
    }

    #[test]
    fn where_the_text_is_cut_does_not_matter(text in patchish(), cuts in prop::collection::vec(0usize..400, 0..6)) {
        let mut parser = StreamingParser::default();
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| text.is_char_boundary(*cut)).collect();
        cuts.sort_unstable();
        let mut from = 0;
        for cut in cuts {
            parser.push(text.get(from..cut).expect("boundaries"));
            from = cut;
        }
        parser.push(text.get(from..).expect("a boundary"));
        prop_assert_eq!(parser.finish(), parse_patch(&text));
    }
}
