use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;

/// What a future says when it is asked once.
fn asked_once<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn pictures_fit_up_to_the_limit_and_the_next_one_waits() {
    let memory = DecodingMemory::default();
    let half = DECODING_MEMORY_BYTES / 2;
    let Poll::Ready(first) = asked_once(pin!(memory.take(half))) else { panic!("there is room") };
    let Poll::Ready(second) = asked_once(pin!(memory.take(half))) else { panic!("there is just room") };
    let mut third = pin!(memory.take(1));
    assert!(asked_once(third.as_mut()).is_pending());
    drop(first);
    assert!(asked_once(third.as_mut()).is_ready());
    drop(second);
}

#[test]
fn a_picture_larger_than_all_is_decoded_alone() {
    let memory = DecodingMemory::default();
    let Poll::Ready(huge) = asked_once(pin!(memory.take(u64::MAX))) else { panic!("there is room") };
    let mut next = pin!(memory.take(0));
    assert!(asked_once(next.as_mut()).is_pending());
    drop(huge);
    assert!(asked_once(next.as_mut()).is_ready());
}

#[test]
fn who_gives_up_waiting_leaves_nothing_behind() {
    let memory = DecodingMemory::default();
    let Poll::Ready(all) = asked_once(pin!(memory.take(DECODING_MEMORY_BYTES))) else {
        panic!("there is room")
    };
    {
        let mut given_up = pin!(memory.take(1));
        assert!(asked_once(given_up.as_mut()).is_pending());
    }
    drop(all);
    assert!(asked_once(pin!(memory.take(DECODING_MEMORY_BYTES))).is_ready());
}

#[test]
fn memory_is_counted_in_whole_units() {
    let rows = [
        (0, 1),
        (1, 1),
        (UNIT_BYTES, 1),
        (UNIT_BYTES + 1, 2),
        (DECODING_MEMORY_BYTES - 1, 1024),
        (DECODING_MEMORY_BYTES, 1024),
        (DECODING_MEMORY_BYTES + 1, 1024),
    ];
    for (bytes, expected) in rows {
        assert_eq!(units(bytes), expected, "{bytes}");
    }
}
