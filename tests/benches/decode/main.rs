//! What decoding a stream costs: bytes in chunks to events, against a floor that only looks at every byte, and against
//! the types of another crate.
//!
//! `cargo bench -p tenon-tests --bench decode`
//!
//! All three read the same bytes in the same chunks in the same run. The figures are in docs/performance.md.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod corpus;
mod lines;

use std::hint::black_box;

use async_openai::types::responses::ResponseStreamEvent;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lines::for_each_data;
use serde::de::IgnoredAny;
use tenon_protocol::{Decoded, EventDecoder};

/// About what one read of a socket gives.
const CHUNK_BYTES: usize = 8 << 10;

/// The least that can be done: find the lines, and see that each is JSON.
#[inline(never)]
fn floor(stream: &[u8]) -> usize {
    let mut events = 0;
    for_each_data(stream.chunks(CHUNK_BYTES), |data| {
        black_box(serde_json::from_slice::<IgnoredAny>(data).unwrap());
        events += 1;
    });
    events
}

#[inline(never)]
fn tenon(stream: &[u8]) -> usize {
    let mut events = 0;
    let mut sink = |decoded| match black_box(decoded) {
        Decoded::Event(_) => events += 1,
        Decoded::Broken(what) => panic!("{what}"),
    };
    let mut decoder = EventDecoder::new();
    for chunk in stream.chunks(CHUNK_BYTES) {
        decoder.feed(chunk, &mut sink);
    }
    decoder.finish(&mut sink);
    events
}

#[inline(never)]
fn async_openai(stream: &[u8]) -> usize {
    let mut events = 0;
    for_each_data(stream.chunks(CHUNK_BYTES), |data| {
        black_box(serde_json::from_slice::<ResponseStreamEvent>(data).unwrap());
        events += 1;
    });
    events
}

fn decode(c: &mut Criterion) {
    let stream = corpus::stream();
    let events = floor(&stream);
    assert_eq!((tenon(&stream), async_openai(&stream)), (events, events), "all of them read every event");

    let mut group = c.benchmark_group("decode");
    group.throughput(Throughput::Bytes(stream.len() as u64));
    group.bench_function("floor", |bench| bench.iter(|| floor(black_box(&stream))));
    group.bench_function("tenon", |bench| bench.iter(|| tenon(black_box(&stream))));
    group.bench_function("async-openai", |bench| bench.iter(|| async_openai(black_box(&stream))));
    group.finish();
}

criterion_group!(benches, decode);
criterion_main!(benches);
