//! BM25 over texts, and below it a second rank for parts of identifiers.
//!
//! A word that stands in a text as it is asked for counts as BM25 has it (k1 1.2, b 0.75; the inverse document
//! frequency is `ln(1 + (N - n + 0.5) / (n + 0.5))`). Where it is only a part of an identifier, in the text or in the
//! query, it counts less than it does in any text that has it whole: at most [`PART_SHARE`] of the least of these.

use std::collections::{BTreeMap, HashMap};

use super::stem::stem;
use super::stop_words::is_stop_word;
use super::words::{folded, parts, words};

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// What a part counts at most, of the least that the whole word counts anywhere. Below 1: parts rank below words.
const PART_SHARE: f64 = 0.95;

/// An index over texts, each known by its place in the list that was indexed.
#[derive(Debug, Default)]
pub struct SearchIndex {
    terms: HashMap<Box<str>, usize>,
    /// Of each term: where it stands, in the order of the texts.
    postings: Vec<Vec<Posting>>,
    /// Of each text: what its length adds below the line of BM25's fraction.
    norms: Vec<f64>,
}

/// A text that holds a term.
#[derive(Debug, Clone, Copy)]
struct Posting {
    text: u32,
    /// How often, as a word.
    whole: u16,
    /// How often, as a part of a word.
    part: u16,
}

impl Posting {
    fn place(&self) -> usize {
        self.text as usize
    }
}

/// A text that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchHit {
    /// The text's place in the list that was indexed.
    pub text: usize,
    /// How well it fits; above 0.
    pub score: f64,
}

impl SearchIndex {
    /// Indexes the texts.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut builder = Builder::default();
        for text in texts {
            builder.add(text);
        }
        builder.finish()
    }

    /// How many texts are indexed.
    pub fn len(&self) -> usize {
        self.norms.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.norms.is_empty()
    }

    /// The texts that fit best, the best first, at most `limit`. Of two that fit equally well the one indexed first
    /// comes first. A query without a word that any text has finds nothing.
    pub fn search(&self, query: &str, limit: usize) -> Vec<SearchHit> {
        let mut scores = Scores::new(self.len());
        for (term, asked) in self.asked_for(query) {
            let Some(postings) = self.postings.get(term) else { continue };
            let whole = postings.iter().filter(|posting| posting.whole > 0).count();
            let (rarity, ceiling) = (self.rarity(whole), self.ceiling(postings, whole));
            for posting in postings {
                let part = PART_SHARE * ceiling;
                let score = if posting.whole > 0 {
                    let as_part = part * saturated(u32::from(posting.whole) + u32::from(posting.part));
                    asked.whole * rarity * self.weight(posting) + asked.part * as_part
                } else {
                    (asked.whole + asked.part) * part * saturated(posting.part.into())
                };
                scores.add(posting.place(), score);
            }
        }
        scores.best(limit)
    }

    /// The terms of a query that any text has, and how often they are asked for.
    fn asked_for(&self, query: &str) -> BTreeMap<usize, Asked> {
        let mut asked = BTreeMap::<usize, Asked>::new();
        let number = |word: &str| term_of(word).and_then(|term| self.terms.get(term.as_str()).copied());
        for word in words(&folded(query)) {
            if let Some(term) = number(word) {
                asked.entry(term).or_default().whole += 1.0;
            }
            for term in parts(word).into_iter().filter_map(number) {
                asked.entry(term).or_default().part += 1.0;
            }
        }
        asked
    }

    /// The least that a term counts as a word, in the texts that have it as one; without any, what a word as rare as
    /// the part counts in a text of middling length.
    fn ceiling(&self, postings: &[Posting], whole: usize) -> f64 {
        if whole == 0 {
            return self.rarity(postings.len());
        }
        let weights = postings.iter().filter(|posting| posting.whole > 0).map(|posting| self.weight(posting));
        self.rarity(whole) * weights.fold(f64::INFINITY, f64::min)
    }

    /// The inverse document frequency of a term that so many texts hold.
    fn rarity(&self, holders: usize) -> f64 {
        let (all, holders) = (self.len() as f64, holders as f64);
        (1.0 + (all - holders + 0.5) / (holders + 0.5)).ln()
    }

    fn weight(&self, posting: &Posting) -> f64 {
        let often = f64::from(posting.whole);
        let norm = self.norms.get(posting.place()).copied().unwrap_or(K1);
        often * (K1 + 1.0) / (often + norm)
    }
}

/// How much a part counts that a text has so often; below 1.
fn saturated(often: u32) -> f64 {
    f64::from(often) / (f64::from(often) + K1)
}

/// How often a query asks for a term.
#[derive(Default)]
struct Asked {
    whole: f64,
    part: f64,
}

/// What the texts score, as far as they do.
struct Scores {
    of: Vec<f64>,
    found: Vec<usize>,
}

impl Scores {
    fn new(texts: usize) -> Self {
        Self { of: vec![0.0; texts], found: Vec::new() }
    }

    fn add(&mut self, text: usize, score: f64) {
        if let Some(sum) = self.of.get_mut(text) {
            if *sum == 0.0 {
                self.found.push(text);
            }
            *sum += score;
        }
    }

    fn best(self, limit: usize) -> Vec<SearchHit> {
        let score = |text| self.of.get(text).copied().unwrap_or_default();
        let mut hits: Vec<_> =
            self.found.iter().map(|text| SearchHit { text: *text, score: score(*text) }).collect();
        let better = |a: &SearchHit, b: &SearchHit| b.score.total_cmp(&a.score).then(a.text.cmp(&b.text));
        if limit < hits.len() {
            hits.select_nth_unstable_by(limit, better);
            hits.truncate(limit);
        }
        hits.sort_unstable_by(better);
        hits
    }
}

/// What a word is looked up as: its stem, in small letters. None of a stop word.
fn term_of(word: &str) -> Option<String> {
    let word = word.to_lowercase();
    (!is_stop_word(&word)).then(|| stem(&word))
}

/// An index that is being made.
#[derive(Default)]
struct Builder {
    index: SearchIndex,
    /// What became of words, as they are written: most of them come again.
    seen: HashMap<Box<str>, usize>,
    terms: Vec<Terms>,
    /// Of each text: how many words it has, without stop words.
    lengths: Vec<u32>,
}

/// The terms of a word.
struct Terms {
    whole: Option<usize>,
    parts: Box<[usize]>,
}

impl Builder {
    fn add(&mut self, text: &str) {
        // More texts than a number of 32 bits can tell apart are not found.
        let Ok(place) = u32::try_from(self.lengths.len()) else { return };
        let mut length = 0;
        for word in words(&folded(text)) {
            let number = self.seen.get(word).copied().unwrap_or_else(|| self.see(word));
            let Some(terms) = self.terms.get(number) else { continue };
            if let Some(term) = terms.whole {
                length += 1;
                note(&mut self.index.postings, term, Posting { text: place, whole: 1, part: 0 });
            }
            for term in &terms.parts {
                note(&mut self.index.postings, *term, Posting { text: place, whole: 0, part: 1 });
            }
        }
        self.lengths.push(length);
    }

    fn see(&mut self, word: &str) -> usize {
        let whole = term_of(word).map(|term| self.number(term));
        let parts = parts(word).into_iter().filter_map(term_of).map(|term| self.number(term)).collect();
        self.terms.push(Terms { whole, parts });
        self.seen.insert(word.into(), self.terms.len() - 1);
        self.terms.len() - 1
    }

    fn number(&mut self, term: String) -> usize {
        let next = self.index.postings.len();
        let number = *self.index.terms.entry(term.into_boxed_str()).or_insert(next);
        if number == next {
            self.index.postings.push(Vec::new());
        }
        number
    }

    fn finish(mut self) -> SearchIndex {
        let words: f64 = self.lengths.iter().map(|length| f64::from(*length)).sum();
        let middling = (words / self.lengths.len() as f64).max(1.0);
        let norm = |length: &u32| K1 * (1.0 - B + B * f64::from(*length) / middling);
        self.index.norms = self.lengths.iter().map(norm).collect();
        self.index
    }
}

/// Notes that the text which is being read, the last one, has a term.
fn note(postings: &mut [Vec<Posting>], term: usize, new: Posting) {
    let Some(postings) = postings.get_mut(term) else { return };
    match postings.last_mut() {
        Some(last) if last.text == new.text => {
            last.whole = last.whole.saturating_add(new.whole);
            last.part = last.part.saturating_add(new.part);
        }
        Some(_) | None => postings.push(new),
    }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
