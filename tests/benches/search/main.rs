//! What it costs to index and to search 10,000 tools, against the crate `bm25`, which the reference does it with.
//!
//! `cargo bench -p tenon-tests --bench search`
//!
//! Both index the same texts and are asked the same queries, in the same run. The figures are in docs/performance.md.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

mod tools;

use std::hint::black_box;

use bm25::{Language, SearchEngine, SearchEngineBuilder};
use criterion::{Criterion, criterion_group, criterion_main};
use tenon_core::search::SearchIndex;
use tools::QUERIES;

const TOOLS: usize = 10_000;
const LIMIT: usize = 8;

fn tenon(texts: &[String]) -> SearchIndex {
    SearchIndex::new(texts.iter().map(String::as_str))
}

fn bm25(texts: &[String]) -> SearchEngine<u32> {
    SearchEngineBuilder::<u32>::with_corpus(Language::English, texts).build()
}

fn index(c: &mut Criterion) {
    let texts = tools::texts(TOOLS);
    let mut group = c.benchmark_group("index");
    group.sample_size(10);
    group.bench_function("tenon", |bench| bench.iter(|| tenon(black_box(&texts))));
    group.bench_function("bm25", |bench| bench.iter(|| bm25(black_box(&texts))));
    group.finish();
}

fn search(c: &mut Criterion) {
    let texts = tools::texts(TOOLS);
    let (ours, theirs) = (tenon(&texts), bm25(&texts));
    for query in QUERIES {
        let found = (ours.search(query, LIMIT).is_empty(), theirs.search(query, LIMIT).is_empty());
        assert_eq!(found, (*query == "zzzzqqq", *query == "zzzzqqq"), "{query}");
    }
    let mut group = c.benchmark_group("search");
    group.sample_size(20);
    group.bench_function("tenon", |bench| {
        bench.iter(|| QUERIES.iter().map(|query| ours.search(black_box(query), LIMIT).len()).sum::<usize>());
    });
    group.bench_function("bm25", |bench| {
        bench
            .iter(|| QUERIES.iter().map(|query| theirs.search(black_box(query), LIMIT).len()).sum::<usize>());
    });
    group.finish();
}

criterion_group!(benches, index, search);
criterion_main!(benches);
