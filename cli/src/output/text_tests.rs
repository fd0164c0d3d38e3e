use pretty_assertions::assert_eq;

use super::*;

#[test]
fn control_characters_are_written_out() {
    for (text, shown) in [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred\x1b[0m", "^[[31mred^[[0m"),
        ("a\r\nb\rc", "a\nb^Mc"),
        ("\0\x07\x7f", "^@^G^?"),
        ("\u{9b}31m", "<U+009B>31m"),
        ("a\u{202e}b\u{2066}c", "a<U+202E>b<U+2066>c"),
        ("\u{feff}x\u{200b}y\u{e0041}", "<U+FEFF>x<U+200B>y<U+E0041>"),
        ("r\u{ad}m\u{61c} a\u{3164}\u{ffa0}\u{fff9}", "r<U+00AD>m<U+061C> a<U+3164><U+FFA0><U+FFF9>"),
        ("é 漢字 👩‍👩‍👧", "é 漢字 👩‍👩‍👧"),
    ] {
        assert_eq!(neutral(text), shown, "{text:?}");
    }
}

#[test]
fn fit_text_is_not_copied() {
    assert!(matches!(neutral("fit\n"), Cow::Borrowed("fit\n")));
}

#[test]
fn a_line_is_clipped_at_a_character() {
    assert_eq!(clip("漢字漢字", 4), "漢字漢字");
    assert_eq!(clip("漢字漢字漢", 4), "漢字漢字…");
    assert_eq!(clip("abc", 0), "…");
    assert_eq!(clip("", 0), "");
}

#[test]
fn an_excerpt_has_the_first_and_the_last_lines() {
    let text = |lines: usize| (1..=lines).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
    assert_eq!(excerpt(&text(5), 5), ["1", "2", "3", "4", "5"]);
    assert_eq!(excerpt(&text(6), 5), ["1", "2", "… 2 more lines …", "5", "6"]);
    assert_eq!(excerpt(&text(100), 5), ["1", "2", "… 96 more lines …", "99", "100"]);
    assert_eq!(excerpt("", 5), Vec::<&str>::new());
}
