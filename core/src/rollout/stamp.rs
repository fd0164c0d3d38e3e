//! The times that rollout lines hold.

use std::time::SystemTime;

use jiff::Timestamp;

/// A time as rollout lines write it (runtime.md D11.2): UTC, milliseconds, `Z`. A time that no calendar can hold
/// becomes the nearest one that it can.
#[must_use]
pub fn timestamp(at: SystemTime) -> String {
    format!("{:.3}", as_timestamp(at))
}

/// The instant of a system time.
pub(super) fn as_timestamp(at: SystemTime) -> Timestamp {
    let nearest = if at > SystemTime::UNIX_EPOCH { Timestamp::MAX } else { Timestamp::MIN };
    Timestamp::try_from(at).unwrap_or(nearest)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn milliseconds_and_z() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_764_496_800_007);
        assert_eq!(timestamp(at), "2025-11-30T10:00:00.007Z");
        assert_eq!(timestamp(SystemTime::UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
    }
}
