use pretty_assertions::assert_eq;

use super::*;

impl<'a> Exact<'a> {
    /// One that cannot tell anything.
    pub(crate) fn spent(file: &'a [u8]) -> Self {
        Self { file, budget: Cell::new(0) }
    }
}

/// In a small file, and in a large one with the same bytes at its front.
fn find(file: &[u8], pattern: &[&str], from: usize) -> Finding {
    let pattern: Vec<String> = pattern.iter().map(ToString::to_string).collect();
    let found = Exact::new(file).find(&pattern, from);
    if file.is_empty() || file.ends_with(b"\n") {
        let large = [file, b"other\n".repeat(SMALL_FILE).as_slice()].concat();
        assert_eq!(Exact::new(&large).find(&pattern, from), found);
    }
    found
}

#[test]
fn whole_lines_only() {
    assert_eq!(find(b"xa\nax\na\n", &["a"], 0), Finding::Match(6..8));
    assert_eq!(find(b"xa\nax\na", &["a"], 0), Finding::Match(6..7));
    assert_eq!(find(b"a\nb\na\nb\n", &["a", "b"], 2), Finding::Match(4..8));
    assert_eq!(find(b"a\nb\n", &["a", "b"], 0), Finding::Match(0..4));
    assert_eq!(find(b"ab\n", &["a", "b"], 0), Finding::Nothing);
    assert_eq!(find(b"\xef\xbb\xbfa\n", &["a"], 3), Finding::Match(3..5));
}

#[test]
fn empty_lines_are_there_or_not() {
    assert_eq!(find(b"a\n", &["a", ""], 0), Finding::Nothing);
    assert_eq!(find(b"a\n\n", &["a", ""], 0), Finding::Match(0..3));
    assert_eq!(find(b"a\n", &[""], 0), Finding::Nothing);
    assert_eq!(find(b"", &[""], 0), Finding::Nothing);
    assert_eq!(find(b"", &["a"], 0), Finding::Nothing);
    assert_eq!(find(b"\n", &[""], 0), Finding::Match(0..1));
    assert_eq!(find(b"x\n\n\n", &["", ""], 2), Finding::Match(2..4));
}

#[test]
fn places_may_overlap() {
    assert_eq!(find(b"a\na\nab\na\na\na\n", &["a", "a", "a"], 0), Finding::Match(7..13));
    assert_eq!(find(b"a\nab\na\nb\n", &["a", "b"], 0), Finding::Match(5..9));
}

#[test]
fn other_line_ends_are_for_others() {
    assert_eq!(find(b"a\r\nb\n", &["b"], 0), Finding::Unknown);
    assert_eq!(find(b"a\rb\n", &["b"], 0), Finding::Unknown);
}

#[test]
fn a_file_is_searched_through_three_times_at_most() {
    let file = b"x\n".repeat(SMALL_FILE / 2 + 1);
    let end = file.len() - 2;
    let exact = Exact::new(&file);
    let pattern = ["y".to_owned()];
    assert_eq!(exact.find(&pattern, 0), Finding::Nothing);
    assert_eq!(exact.find(&pattern, 0), Finding::Nothing);
    assert_eq!(exact.find(&pattern, 0), Finding::Unknown, "three readings, less the pattern's lengths");
    assert_eq!(exact.find(&pattern, end), Finding::Unknown, "once it is spent nothing is sought");

    // Matches one behind the other take one reading.
    let exact = Exact::new(&file);
    for line in 0..SMALL_FILE / 2 + 1 {
        assert_eq!(exact.find(&["x".to_owned()], 2 * line), Finding::Match(2 * line..2 * line + 2));
    }

    // Near misses cost as much as they take.
    let file = b"aa\n".repeat(1000);
    let pattern = [vec!["aa".to_owned(); 500], vec!["a".to_owned()]].concat();
    assert_eq!(Exact::new(&file).find(&pattern, 0), Finding::Unknown);
}

#[test]
fn small_files_are_those_of_so_many_bytes() {
    let budget = |size: usize| {
        let file = b"x\n".repeat(size / 2);
        let exact = Exact::new(&file);
        exact.find(&["y".to_owned()], 0);
        (exact.budget.get(), READINGS * (file.len() + 1))
    };
    let (left, whole) = budget(SMALL_FILE);
    assert_eq!(left, whole, "nothing is counted");
    let (left, whole) = budget(SMALL_FILE + 2);
    assert!(left < whole);
}
