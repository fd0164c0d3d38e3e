//! The search ranks as the crate does that the reference ranks with, where texts and queries hold no identifiers.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs, reason = "test code")]

use bm25::{Language, SearchEngineBuilder};
use tenon_core::search::SearchIndex;

const TEXTS: &[&str] = &[
    "Forecast the weather: temperature, rain and wind for a city on a date.",
    "Create a calendar event with a title, a start and an end.",
    "Lists the events of calendars, sorted by their starts; doesn't show cancelled ones.",
    "Reads a file's content, with its encoding.",
    "Searches files by name and content; returns matching lines.",
    "Café menus of the naïve city",
    "Merging branches: merges, merged, merge",
    "Organizations and their organizational settings",
    "weather weather weather",
    "you're the one that shouldn't be here",
    "v1.2.3 of the API costs 1,000.50 dollars (e.g. per month)",
    "",
];
const QUERIES: &[&str] = &[
    "weather",
    "weather forecast or calendar event",
    "create an event",
    "starting calendars",
    "file contents",
    "naive cafes in the city",
    "merge branch branch",
    "organization's setting",
    "the of and a",
    "cost of v1.2.3",
    "zzzzqqq",
    "",
];

#[test]
fn scores_are_those_of_the_reference() {
    let theirs = SearchEngineBuilder::<u32>::with_corpus(Language::English, TEXTS.iter().copied()).build();
    let ours = SearchIndex::new(TEXTS.iter().copied());
    for query in QUERIES {
        let mut expected: Vec<(usize, f64)> = theirs
            .search(query, None)
            .into_iter()
            .map(|hit| (usize::try_from(hit.document.id).unwrap(), f64::from(hit.score)))
            .collect();
        expected.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let found = ours.search(query, usize::MAX);
        let texts = |hits: &[(usize, f64)]| hits.iter().map(|hit| hit.0).collect::<Vec<_>>();
        let hits: Vec<(usize, f64)> = found.iter().map(|hit| (hit.text, hit.score)).collect();
        // Theirs are rounded to single precision.
        for (ours, theirs) in hits.iter().zip(&expected) {
            assert!((ours.1 - theirs.1).abs() < 1e-4, "{query}: {hits:?}, expected {expected:?}");
        }
        assert_eq!(texts(&hits), texts(&expected), "{query}: {hits:?}, expected {expected:?}");
    }
}
