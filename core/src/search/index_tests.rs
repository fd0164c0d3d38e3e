use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::{K1, SearchHit, SearchIndex};

fn found(texts: &[&str], query: &str) -> Vec<usize> {
    let index = SearchIndex::new(texts.iter().copied());
    index.search(query, texts.len()).into_iter().map(|hit| hit.text).collect()
}

#[test]
fn the_texts_that_have_the_word_are_found() {
    let texts = ["Forecast the weather for a city", "Create a calendar event", "List events of a calendar"];
    let cases: &[(&str, &[usize])] = &[
        ("weather", &[0]),
        ("WEATHER!", &[0]),
        // Stems.
        ("calendars", &[1, 2]),
        ("creating", &[1]),
        ("forecasting weathers", &[0]),
        // Stop words count for nothing, in the texts and in the query.
        ("a", &[]),
        ("the for of a", &[]),
        ("the weather of a city", &[0]),
        // Nothing has it.
        ("zzzzqqq", &[]),
        ("", &[]),
        ("-- !", &[]),
    ];
    for (query, expected) in cases {
        assert_eq!(found(&texts, query), *expected, "{query}");
    }
}

#[test]
fn the_score_is_that_of_bm25() {
    let index = SearchIndex::new(["rain rain wind", "rain", "sun"]);
    // Two of three texts have `rain`; the middling text has 5 / 3 words.
    let rarity = (1.0_f64 + 1.5 / 2.5).ln();
    let score =
        |often: f64, length: f64| rarity * often * 2.2 / (often + K1 * (0.25 + 0.75 * length / (5.0 / 3.0)));
    let [first, second] = index.search("rain", 8)[..] else { panic!("two texts have it") };
    assert_eq!((first.text, second.text), (1, 0));
    assert!((first.score - score(1.0, 1.0)).abs() < 1e-12, "{first:?}");
    assert!((second.score - score(2.0, 3.0)).abs() < 1e-12, "{second:?}");
    // A word that is asked for twice counts twice.
    assert!((index.search("rain rain", 1)[0].score - 2.0 * score(1.0, 1.0)).abs() < 1e-12);
}

#[test]
fn equally_good_texts_come_in_the_order_of_the_list() {
    let texts = vec!["same words here"; 40];
    assert_eq!(found(&texts, "words"), (0..40).collect::<Vec<_>>());
}

#[test]
fn parts_of_identifiers_rank_below_words() {
    let long = format!("weather {}", "and much more beside it ".repeat(200));
    let texts = [
        "getWeatherData get_weather.weather_now weatherStation",
        long.as_str(),
        "weather.report",
        "nothing of it",
        "my weather",
    ];
    assert_eq!(found(&texts, "weather"), [4, 1, 0, 2]);
    // Where no text has the word whole, parts decide alone.
    assert_eq!(found(&texts, "station"), [0]);
    // The words of the query have parts too.
    assert_eq!(found(&["create an event", "create_event", "CreateEvent now"], "createEvent"), [2, 0, 1]);
}

#[test]
fn parts_help_where_words_do_not_decide() {
    let mut texts = vec!["List things"; 30];
    texts.push("listPullRequests");
    assert_eq!(found(&texts, "list pull requests")[0], 30);
}

#[test]
fn words_of_any_script_are_found() {
    let texts =
        ["Prévisions météo", "прогноз погоды", "天気予報", "날씨 예보", "カレンダー", "Ｗｅａｔｈｅｒ"];
    let cases: &[(&str, &[usize])] = &[
        ("meteo", &[0]),
        ("MÉTÉO", &[0]),
        ("погоды", &[1]),
        ("ПРОГНОЗ", &[1]),
        ("天気", &[2]),
        ("날씨", &[3]),
        ("ｶﾚﾝﾀﾞｰ", &[4]),
        ("weather", &[5]),
    ];
    for (query, expected) in cases {
        assert_eq!(found(&texts, query), *expected, "{query}");
    }
}

#[test]
fn no_more_is_returned_than_asked_for() {
    let index = SearchIndex::new(["one tool", "two tool", "three tool"]);
    for (limit, expected) in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (usize::MAX, 3)] {
        assert_eq!(index.search("tool", limit).len(), expected, "{limit}");
    }
}

#[test]
fn nothing_is_found_in_nothing() {
    let index = SearchIndex::new([]);
    assert!(index.is_empty());
    assert_eq!(index.search("tool", 8), []);
    let index = SearchIndex::new([""]);
    assert_eq!((index.len(), index.search("tool", 8)), (1, Vec::<SearchHit>::new()));
}

/// Texts of a few words, whole and in identifiers, so that they meet often.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop::sample::select(vec![
        "create",
        "event",
        "the",
        "events",
        "createEvent",
        "event_list",
        "list",
        "weather.now",
        "now",
        "天気",
    ]);
    let text = prop::collection::vec(word, 0..8).prop_map(|words| words.join(" "));
    prop::collection::vec(text, 0..24)
}

proptest! {
    #[test]
    fn hits_are_in_order_and_each_text_is_hit_once(
        texts in texts(), query in "(create|event|list|now|eventList|天気| ){0,5}", limit in 0_usize..30,
    ) {
        let index = SearchIndex::new(texts.iter().map(String::as_str));
        let all = index.search(&query, usize::MAX);
        let hits = index.search(&query, limit);
        // The best of all, whatever the limit; and the same again.
        prop_assert_eq!(&hits[..], &all[..limit.min(all.len())]);
        prop_assert_eq!(&hits, &index.search(&query, limit));
        for pair in all.windows(2) {
            let [first, second] = pair else { continue };
            let in_order = first.score > second.score || (first.score == second.score && first.text < second.text);
            prop_assert!(in_order, "{:?}", pair);
        }
        let mut places: Vec<_> = all.iter().map(|hit| hit.text).collect();
        places.sort_unstable();
        places.dedup();
        prop_assert_eq!(places.len(), all.len());
        prop_assert!(all.iter().all(|hit| hit.score > 0.0 && hit.text < texts.len()));
    }

    #[test]
    fn no_part_ranks_above_the_word(texts in texts(), word in "create|event|list|now") {
        let index = SearchIndex::new(texts.iter().map(String::as_str));
        let has_whole = |hit: &SearchHit| {
            texts[hit.text].split(' ').any(|other| other == word || (word == "event" && other == "events"))
        };
        let hits = index.search(&word, usize::MAX);
        let whole = hits.iter().take_while(|hit| has_whole(hit)).count();
        prop_assert!(!hits[whole..].iter().any(has_whole), "{:?}", hits);
    }

    #[test]
    fn no_text_and_no_query_is_too_odd(texts in prop::collection::vec("\\PC{0,30}", 0..6), query in "\\PC{0,30}") {
        let index = SearchIndex::new(texts.iter().map(String::as_str));
        prop_assert!(index.search(&query, 8).len() <= texts.len());
    }
}
