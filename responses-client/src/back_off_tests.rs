use pretty_assertions::assert_eq;
use reqwest::header::HeaderValue;

use super::*;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
        .collect()
}

fn asked(pairs: &[(&'static str, &str)]) -> Option<Duration> {
    asked_for(&headers(pairs), "2026-11-30T10:00:00Z".parse().unwrap())
}

#[test]
fn each_wait_doubles_the_one_before() {
    let milliseconds = |n, random| delay(n, random).as_secs_f64() * 1000.0;
    for (n, middle) in [(1, 200.0), (2, 400.0), (3, 800.0), (4, 1600.0), (5, 3200.0)] {
        for (random, factor) in [(0.0, 0.9), (0.5, 1.0), (1.0, 1.1)] {
            assert!((milliseconds(n, random) - middle * factor).abs() < 0.001, "{n} {random}");
        }
    }
}

#[test]
fn no_wait_is_longer_than_its_bound() {
    assert_eq!(delay(9, 0.5), Duration::from_millis(51_200));
    for n in [10, 100, u32::MAX] {
        assert_eq!(delay(n, 0.5), LONGEST);
    }
}

#[test]
fn chance_spreads_the_waits() {
    let waits: Vec<Duration> = (0..100).map(|_| before_retry(1)).collect();
    assert!(waits.iter().all(|wait| (180..=220).contains(&wait.as_millis())), "{waits:?}");
    assert!(waits.iter().any(|wait| wait != &waits[0]));
}

#[test]
fn the_server_may_ask_in_seconds() {
    assert_eq!(asked(&[("retry-after", "0")]), Some(Duration::ZERO));
    assert_eq!(asked(&[("retry-after", " 7 ")]), Some(Duration::from_secs(7)));
    assert_eq!(asked(&[("retry-after", "1.5")]), Some(Duration::from_millis(1500)));
    assert_eq!(asked(&[("retry-after", "-3")]), Some(Duration::ZERO));
}

#[test]
fn the_server_may_ask_with_a_date() {
    assert_eq!(asked(&[("retry-after", "Mon, 30 Nov 2026 10:00:30 GMT")]), Some(Duration::from_secs(30)));
    assert_eq!(asked(&[("retry-after", "Mon, 30 Nov 2026 09:59:59 GMT")]), Some(Duration::ZERO));
}

#[test]
fn milliseconds_are_finer_than_seconds() {
    assert_eq!(asked(&[("retry-after", "1"), ("retry-after-ms", "250")]), Some(Duration::from_millis(250)));
}

#[test]
fn what_cannot_be_read_asks_nothing() {
    for value in ["", "soon", "NaN", "1e400", "30 Nov"] {
        assert_eq!(asked(&[("retry-after", value)]), None, "{value}");
    }
    assert_eq!(asked(&[]), None);
    assert_eq!(asked(&[("retry-after", "3"), ("retry-after-ms", "x")]), Some(Duration::from_secs(3)));
}
