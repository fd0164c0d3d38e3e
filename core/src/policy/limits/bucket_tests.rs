use std::num::NonZeroU32;

use proptest::prelude::*;

use super::*;

/// Rates of every kind: of few and of many calls, of times that do not divide by them, and of next to none.
fn rates() -> impl Strategy<Value = Rate> {
    let calls = prop_oneof![1..6_u32, Just(99_999), Just(u32::MAX)];
    let per = prop_oneof![0..20_u64, Just(7_000_000_003), Just(1_000_000_000)];
    (calls, per).prop_map(|(calls, per)| Rate {
        calls: NonZeroU32::new(calls).unwrap(),
        per: Duration::from_nanos(per),
    })
}

/// The calls that a rate lets in at most from one moment to another, both counted.
fn most(rate: Rate, window: Duration) -> u128 {
    let calls = u128::from(rate.calls.get());
    calls + (window.as_nanos() * calls).checked_div(rate.per.as_nanos()).unwrap_or(u128::MAX / 2)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// In no window there are more calls than the bucket holds and fills up meanwhile; a refusal says to the nanosecond
    /// when it ends; who looked at the clock too early gets nothing by it.
    #[test]
    fn no_window_holds_more_than_it_may(
        rate in rates(),
        scale in prop::sample::select(vec![1, 50_000_000]),
        steps in prop::collection::vec((0..60_u64, 0..4_u64, 0..40_u64, any::<bool>()), 1..60),
    ) {
        let begin = Instant::now();
        let mut bucket = Bucket::full(rate, begin);
        let (mut now, mut latest, mut taken) = (Duration::ZERO, Duration::ZERO, Vec::<Duration>::new());
        for (far, near, back, is_far) in steps {
            now += if is_far { Duration::from_nanos(far * scale) } else { Duration::from_nanos(near) };
            let looked_at = if is_far { now } else { now.saturating_sub(Duration::from_nanos(back)) };
            latest = latest.max(looked_at);
            if let Err(wait) = bucket.take(begin + looked_at) {
                let ends = looked_at + wait;
                prop_assert!(ends > latest);
                prop_assert!(bucket.take(begin + ends - Duration::from_nanos(1)).is_err());
                prop_assert_eq!(bucket.take(begin + ends), Ok(()));
                (now, latest) = (now.max(ends), ends);
            }
            taken.push(latest);
        }
        for (first, from) in taken.iter().enumerate() {
            for (last, to) in taken.iter().enumerate().skip(first) {
                let calls = u128::try_from(last - first + 1).unwrap();
                prop_assert!(calls <= most(rate, *to - *from), "{rate:?}: {calls} in {:?}", *to - *from);
            }
        }
    }
}

/// A bucket of many that fills fast holds exactly as many as it holds.
#[test]
fn nothing_is_rounded() {
    let rate = Rate { calls: NonZeroU32::new(99_999).unwrap(), per: Duration::from_secs(1) };
    let now = Instant::now();
    let mut bucket = Bucket::full(rate, now);
    assert_eq!((0..100_010).filter(|_| bucket.take(now).is_ok()).count(), 99_999);
    let none = Rate { calls: NonZeroU32::MIN, per: Duration::ZERO };
    let mut bucket = Bucket::full(none, now);
    assert!((0..10).all(|_| bucket.take(now).is_ok()), "no time at all limits nothing");
}
