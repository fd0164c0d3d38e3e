use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn normal(pass: Pass, line: &str) -> String {
    String::from_utf8(pass.normal(line.as_bytes(), &mut Vec::new()).to_vec()).expect("UTF-8 stays UTF-8")
}

/// The folding table in the contract's own terms (A4.4).
fn fold_char(c: char) -> char {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}

#[test]
fn every_character_is_treated_as_in_the_tables() {
    // All that the tables speak of lies in the first plane.
    for c in ('\0'..='\u{ffff}').chain(['\u{1f600}', char::MAX]) {
        let line = format!("a{c}b");
        let folded: String = line.chars().map(fold_char).collect();
        assert_eq!(normal(Pass::Fold, &line), folded, "{c:?}");
        let padded = format!("{c}a{c}");
        assert_eq!(normal(Pass::Trim, &padded), padded.trim(), "{c:?}");
        assert_eq!(normal(Pass::TrimEnd, &padded), padded.trim_end(), "{c:?}");
        assert_eq!(normal(Pass::Exact, &padded), padded);
    }
}

#[test]
fn bytes_that_are_no_text_stay() {
    let mut scratch = Vec::new();
    assert_eq!(Pass::Fold.normal(b" \xff\xe2\x80\xe2\x80\x93\xc2 ", &mut scratch), b"\xff\xe2\x80-\xc2");
    assert_eq!(Pass::Trim.normal(b"\x80\xa0 ", &mut Vec::new()), b"\x80\xa0");
}

proptest! {
    #[test]
    fn lines_are_treated_like_strings(line in "[ \\ta\u{a0}\u{2003}\u{2013}\u{201c}\u{3000}漢]{0,12}") {
        prop_assert_eq!(normal(Pass::TrimEnd, &line), line.trim_end());
        prop_assert_eq!(normal(Pass::Trim, &line), line.trim());
        let folded: String = line.trim().chars().map(fold_char).collect();
        prop_assert_eq!(normal(Pass::Fold, &line), folded);
    }

    #[test]
    fn no_bytes_panic(line in prop::collection::vec(any::<u8>(), 0..24)) {
        for pass in PASSES {
            let _ = pass.normal(&line, &mut Vec::new());
        }
    }
}
