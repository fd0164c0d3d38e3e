use pretty_assertions::assert_eq;

use super::*;

#[test]
fn a_poll_may_wait_long_and_never_short() {
    let millis = |asked, max| wait(asked, true, Duration::from_millis(max)).as_millis();
    assert_eq!(millis(None, 300_000), 5_000);
    assert_eq!(millis(Some(4_999), 300_000), 5_000);
    assert_eq!(millis(Some(5_001), 300_000), 5_001);
    assert_eq!(millis(Some(300_001), 300_000), 300_000);
    assert_eq!(millis(Some(300_001), 1_000), 5_000, "the bound itself is at least five seconds");
}

#[test]
fn a_write_waits_as_a_command_does() {
    let millis = |asked| wait(asked, false, Duration::from_secs(300)).as_millis();
    assert_eq!(millis(None), 250);
    assert_eq!(millis(Some(249)), 250);
    assert_eq!(millis(Some(30_001)), 30_000);
}
