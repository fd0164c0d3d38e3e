use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::{folded, parts, words};

fn words_of(text: &str) -> Vec<String> {
    words(&folded(text)).map(str::to_owned).collect()
}

#[test]
fn a_text_falls_into_words() {
    let cases: &[(&str, &[&str])] = &[
        ("", &[]),
        ("  -- ... ", &[]),
        ("Forecast the weather: rain, wind.", &["Forecast", "the", "weather", "rain", "wind"]),
        ("weather_forecast_for_city", &["weather_forecast_for_city"]),
        ("__init__ _", &["init"]),
        ("calendar.create-event", &["calendar.create", "event"]),
        ("you don't, don\u{2019}t", &["you", "don't", "don't"]),
        ("v1.2.3 costs 1,000.50", &["v1.2.3", "costs", "1,000.50"]),
        ("a.b. c:d e..f", &["a.b", "c:d", "e", "f"]),
        ("Café naïve", &["Cafe", "naive"]),
        ("ｆｕｌｌ width", &["full", "width"]),
        ("天気を調べる", &["天", "気", "を", "調", "へ\u{3099}る"]),
        ("カレンダーを見る", &["カレンタ\u{3099}ー", "を", "見", "る"]),
        ("погода в Осло", &["погода", "в", "Осло"]),
        ("नमस्ते दुनिया", &["नमस्ते", "दुनिया"]),
        ("😀 smile😀", &["smile"]),
    ];
    for (text, expected) in cases {
        assert_eq!(words_of(text), *expected, "{text}");
    }
}

#[test]
fn an_identifier_has_parts() {
    let cases: &[(&str, &[&str])] = &[
        ("weather", &[]),
        ("Weather", &[]),
        ("HTTP", &[]),
        ("create_event", &["create", "event"]),
        ("createEvent", &["create", "Event"]),
        ("calendar.create", &["calendar", "create"]),
        ("HTTPServer2Go", &["HTTP", "Server2", "Go"]),
        ("mcp__git_hub.listPullRequests", &["mcp", "git", "hub", "list", "Pull", "Requests"]),
        ("don't", &[]),
        ("v1.2.3", &[]),
        ("ipv4.address_2", &["ipv4", "address"]),
        ("ÜberWetter", &["Über", "Wetter"]),
    ];
    for (word, expected) in cases {
        assert_eq!(parts(word), *expected, "{word}");
    }
}

proptest! {
    #[test]
    fn words_are_what_the_text_holds_in_order(text in "\\PC{0,40}") {
        let text = folded(&text);
        let mut rest = text.as_ref();
        for word in words(&text) {
            prop_assert!(word.chars().any(char::is_alphanumeric));
            let Some((_, behind)) = rest.split_once(word) else { panic!("{word} is not in {rest}") };
            rest = behind;
            for part in parts(word) {
                prop_assert!(word.contains(part));
            }
        }
    }

    #[test]
    fn every_letter_is_in_a_word(text in "[a-zA-Z0-9_ .,:'äЖ漢か-]{0,40}") {
        let text = folded(&text);
        let letters = text.chars().filter(|letter| letter.is_alphanumeric()).count();
        let kept: usize =
            words(&text).map(|word| word.chars().filter(|letter| letter.is_alphanumeric()).count()).sum();
        prop_assert_eq!(kept, letters);
    }
}
