//! The simplest reader of server-sent events that these streams need: one `data:` line an event, LF.

use memchr::memchr;

/// Calls `each` with the data of every event. A line that lies whole in its chunk is not copied.
pub(crate) fn for_each_data<'a>(chunks: impl Iterator<Item = &'a [u8]>, mut each: impl FnMut(&[u8])) {
    let mut begun: Vec<u8> = Vec::new();
    let mut line = |line: &[u8]| {
        if let Some(data) = line.strip_prefix(b"data: ") {
            each(data);
        }
    };
    for mut rest in chunks {
        while let Some((whole, end)) = memchr(b'\n', rest).and_then(|at| rest.split_at_checked(at)) {
            if begun.is_empty() {
                line(whole);
            } else {
                begun.extend_from_slice(whole);
                line(&begun);
                begun.clear();
            }
            rest = end.get(1..).unwrap_or_default();
        }
        begun.extend_from_slice(rest);
    }
}
