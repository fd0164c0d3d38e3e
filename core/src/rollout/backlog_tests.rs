use pretty_assertions::assert_eq;

use super::super::fake_disk::{FakeFile, Fault};
use super::*;

fn backlog(lines: &[&str]) -> Backlog {
    let mut backlog = Backlog::new(MAX_BACKLOG_BYTES);
    for line in lines {
        assert!(backlog.push(format!("{line}\n").into_bytes()));
    }
    backlog
}

#[test]
fn lines_are_written_one_by_one() {
    let mut file = FakeFile::default();
    let mut backlog = backlog(&["one", "two"]);
    backlog.write_to(&mut file).unwrap();
    assert_eq!((file.text().as_str(), file.disk().writes), ("one\ntwo\n", 2));
    assert!(backlog.is_empty());
}

#[test]
fn what_was_not_written_stays_to_the_byte() {
    let mut file = FakeFile::with_fault(1, Fault::Short);
    let mut backlog = backlog(&["one", "twotwo", "three"]);
    assert_eq!(backlog.write_to(&mut file).unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!((file.text().as_str(), backlog.len()), ("one\ntwot", 2));
    backlog.continue_after(Tail::Intact);
    backlog.write_to(&mut file).unwrap();
    assert_eq!(file.text(), "one\ntwotwo\nthree\n");
}

#[test]
fn a_line_begins_again_where_the_file_has_changed() {
    let mut file = FakeFile::with_fault(0, Fault::Short);
    let mut backlog = backlog(&["one", "two"]);
    backlog.write_to(&mut file).unwrap_err();
    assert_eq!(file.text(), "on");
    backlog.continue_after(Tail::Changed);
    backlog.write_to(&mut file).unwrap();
    assert_eq!(file.text(), "on\none\ntwo\n");
}

#[test]
fn interruptions_are_no_failures_and_a_write_of_nothing_is_one() {
    struct Odd(Vec<io::Result<usize>>);
    impl LineFile for Odd {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.0.remove(0)
        }
        fn sync_data(&mut self) -> io::Result<()> {
            Ok(())
        }
        fn reopen(&mut self) -> io::Result<Tail> {
            Ok(Tail::Intact)
        }
    }
    let mut file = Odd(vec![Err(io::ErrorKind::Interrupted.into()), Ok(1), Ok(0)]);
    let error = backlog(&["one"]).write_to(&mut file).unwrap_err();
    assert_eq!((error.kind(), file.0.len()), (io::ErrorKind::WriteZero, 0));
}

#[test]
fn the_bound_holds_at_its_edge() {
    let mut backlog = Backlog::new(8);
    assert!(backlog.push(b"1234567890\n".to_vec()), "one line always has room");
    assert!(!backlog.push(b"\n".to_vec()));
    backlog.write_to(&mut FakeFile::default()).unwrap();
    assert!(backlog.push(b"123\n".to_vec()));
    assert!(backlog.push(b"567\n".to_vec()), "8 of 8 bytes");
    assert!(!backlog.push(b"\n".to_vec()), "9 of 8 bytes");
}
