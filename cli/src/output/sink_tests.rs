use std::sync::{Arc, Mutex};

use pretty_assertions::assert_eq;

use super::*;

/// Writes a warning's message as it is.
struct Plain;

impl Printer for Plain {
    fn print(&mut self, event: Event, out: &mut dyn Write) -> io::Result<()> {
        let Event::Warning { message } = event else { panic!("a piece was queued: {event:?}") };
        writeln!(out, "{message}")
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "end")
    }
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A writer that takes one write and no more.
struct Breaking(bool, ErrorKind);

impl Write for Breaking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if std::mem::replace(&mut self.0, true) { Err(self.1.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn warning(message: &str) -> Event {
    Event::Warning { message: message.to_owned() }
}

#[tokio::test]
async fn events_are_written_in_order_and_pieces_are_not_queued() {
    let written = Shared::default();
    let output = Output::start(Box::new(Plain), Box::new(written.clone()), CancellationToken::new())
        .expect("a thread");
    for number in 0..1000 {
        output.emit(warning(&number.to_string()));
        output.emit(Event::AgentMessageDelta { item_id: None, delta: "x".to_owned() });
    }
    assert!(matches!(output.finish(&CancellationToken::new()).await, OutputEnd::Written));
    output.emit(warning("late"));
    assert!(matches!(output.finish(&CancellationToken::new()).await, OutputEnd::Written));
    let expected: String =
        (0..1000).map(|number| format!("{number}\n")).chain(["end\n".to_owned()]).collect();
    assert_eq!(String::from_utf8(written.0.lock().expect("no panic").clone()), Ok(expected));
}

#[tokio::test]
async fn a_reader_that_goes_away_ends_the_work_and_is_no_failure() {
    let broken = CancellationToken::new();
    let writer = Box::new(Breaking(false, ErrorKind::BrokenPipe));
    let output = Output::start(Box::new(Plain), writer, broken.clone()).expect("a thread");
    output.emit(warning("a"));
    output.emit(warning("b"));
    broken.cancelled().await;
    output.emit(warning("c"));
    assert!(matches!(output.finish(&CancellationToken::new()).await, OutputEnd::Closed));
}

#[tokio::test]
async fn a_full_disk_is_a_failure() {
    let writer = Box::new(Breaking(true, ErrorKind::StorageFull));
    let output = Output::start(Box::new(Plain), writer, CancellationToken::new()).expect("a thread");
    output.emit(warning("a"));
    let OutputEnd::Failed(error) = output.finish(&CancellationToken::new()).await else {
        panic!("no failure")
    };
    assert_eq!(error.kind(), ErrorKind::StorageFull);
}

/// A writer that takes nothing until it is let go.
struct Stuck(std::sync::mpsc::Receiver<()>);

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.recv();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_who_does_not_read_is_given_up_only_when_the_run_is_cancelled() {
    let (let_go, stuck) = std::sync::mpsc::channel();
    let output = Output::start(Box::new(Plain), Box::new(Stuck(stuck)), CancellationToken::new());
    let output = output.expect("a thread");
    output.emit(warning("one"));
    let cancelled = CancellationToken::new();
    let patience = tokio::time::timeout(FLUSH_PATIENCE * 10, output.finish(&cancelled)).await;
    assert!(patience.is_err(), "nobody wanted it to end");
    drop(let_go);

    let (let_go, stuck) = std::sync::mpsc::channel();
    let output = Output::start(Box::new(Plain), Box::new(Stuck(stuck)), CancellationToken::new());
    let output = output.expect("a thread");
    output.emit(warning("one"));
    cancelled.cancel();
    let begun = tokio::time::Instant::now();
    assert!(matches!(output.finish(&cancelled).await, OutputEnd::Closed));
    assert_eq!(begun.elapsed(), FLUSH_PATIENCE);
    drop(let_go);
}
