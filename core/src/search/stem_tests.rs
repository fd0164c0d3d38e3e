use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::stem;

/// Words and their stems from Snowball's own vocabulary, one for each rule.
const STEMS: &[(&str, &str)] = &[
    ("consign", "consign"),
    ("consigned", "consign"),
    ("consignment", "consign"),
    ("consolation", "consol"),
    ("consolingly", "consol"),
    ("knightly", "knight"),
    ("knots", "knot"),
    // 0 and 1a
    ("john's", "john"),
    ("caresses", "caress"),
    ("ties", "tie"),
    ("cries", "cri"),
    ("gas", "gas"),
    ("gaps", "gap"),
    ("kiwis", "kiwi"),
    ("bus", "bus"),
    // 1b and 1c
    ("agreed", "agre"),
    ("feed", "feed"),
    ("luxuriated", "luxuri"),
    ("hopping", "hop"),
    ("hoping", "hope"),
    ("bed", "bed"),
    ("say", "say"),
    ("cry", "cri"),
    ("by", "by"),
    // 2 to 5
    ("rationally", "ration"),
    ("organization", "organ"),
    ("ideology", "ideolog"),
    ("sensibility", "sensibl"),
    ("formative", "format"),
    ("electricity", "electr"),
    ("adoption", "adopt"),
    ("replacement", "replac"),
    ("rate", "rate"),
    ("controll", "control"),
    ("cease", "ceas"),
    // beginnings and exceptions
    ("generate", "generat"),
    ("communication", "communic"),
    ("dying", "die"),
    ("news", "news"),
    ("succeeded", "succeed"),
    ("proceed", "proceed"),
    ("yes", "yes"),
    ("youth", "youth"),
];

#[test]
fn words_have_the_stems_that_snowball_gives_them() {
    for (word, expected) in STEMS {
        assert_eq!(stem(word), *expected, "{word}");
    }
}

#[test]
fn what_is_no_english_word_is_its_own_stem() {
    for word in ["", "a", "is", "größen", "погода", "天", "привет's"] {
        assert_eq!(stem(word), word);
    }
}

proptest! {
    #[test]
    fn a_stem_is_never_much_longer_than_its_word(word in "[a-z'_.0-9]{0,24}") {
        // An `e` may come to stand where `ed` or `ing` was.
        prop_assert!(stem(&word).len() <= word.len());
    }

    #[test]
    fn no_text_is_too_odd(word in "\\PC{0,12}") {
        stem(&word.to_lowercase());
    }
}
