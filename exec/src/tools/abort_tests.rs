use pretty_assertions::assert_eq;

use super::*;
use crate::buffer::HeadTailBuffer;

fn message(ago: Duration, printed: &[u8], bound: Option<usize>, policy: TruncationPolicy) -> String {
    let mut buffer = HeadTailBuffer::new(16);
    buffer.push(printed);
    let since = Instant::now().checked_sub(ago).expect("the machine runs longer");
    aborted(since, None, buffer.take(true), bound, policy).message
}

#[test]
fn the_contracts_vectors() {
    let policy = TruncationPolicy::default();
    let ago = Duration::from_millis(2340);
    assert_eq!(message(ago, b"", None, policy), "Wall time: 2.3 seconds\naborted by user");
    assert_eq!(message(ago, b"x\n", None, policy), "Wall time: 2.3 seconds\naborted by user\nOutput:\nx\n");
    assert_eq!(message(Duration::ZERO, b"", None, policy), "Wall time: 0.1 seconds\naborted by user");
}

#[test]
fn the_smaller_bound_holds() {
    let text = b"0123456789";
    let cut = "Wall time: 0.1 seconds\naborted by user\nOutput:\nWarning: truncated output (original token count: 3)\n\
               Total output lines: 1\n\n01…2 tokens truncated…89";
    assert_eq!(message(Duration::ZERO, text, Some(1), TruncationPolicy::default()), cut);
    assert_eq!(message(Duration::ZERO, text, None, TruncationPolicy::Tokens(1)), cut);
}

#[test]
fn what_the_buffer_lost_is_said() {
    let found = message(Duration::ZERO, b"0123456789abcdefghij", None, TruncationPolicy::default());
    assert_eq!(
        found,
        "Wall time: 0.1 seconds\naborted by user\nOutput:\n01234567\n... 4 bytes omitted ...\ncdefghij"
    );
}
