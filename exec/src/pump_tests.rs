use pretty_assertions::assert_eq;
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::sync::watch;

use super::*;
use crate::output::Flow;
use crate::testing::timed;

struct Pumped {
    output: Arc<Output>,
    writer: OwnedFd,
    exit: watch::Sender<Option<Exit>>,
}

fn pumped() -> Pumped {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
    let output = Arc::new(Output::new());
    let exit = watch::Sender::new(None);
    tokio::spawn(pump(Source::new(reader).expect("a source"), Arc::clone(&output), exit.subscribe()));
    Pumped { output, writer, exit }
}

impl Pumped {
    fn write(&self, text: &str) {
        assert_eq!(rustix::io::write(&self.writer, text.as_bytes()), Ok(text.len()));
    }

    fn end(&self) {
        let at = std::time::Instant::now();
        self.exit.send_replace(Some(Exit { status: Some(0), signal: None, at }));
    }

    async fn until(&self, wanted: impl Fn(Flow) -> bool) -> Flow {
        let mut flow = self.output.flow();
        *timed(flow.wait_for(|flow| wanted(*flow))).await.0.expect("kept")
    }
}

#[tokio::test]
async fn what_was_written_before_the_end_is_read_before_it_settles() {
    let pumped = pumped();
    pumped.write("before");
    pumped.end();
    assert_eq!(pumped.until(|flow| flow.settled).await, Flow { settled: true, closed: false });
    assert_eq!(pumped.output.collect(true).into_text(), "before");
    pumped.write("after");
    drop(pumped.writer);
    let mut flow = pumped.output.flow();
    timed(flow.wait_for(|flow| flow.closed)).await.0.expect("kept");
    assert_eq!(pumped.output.collect(true).into_text(), "after");
    assert_eq!(pumped.output.transcript().into_text(), "beforeafter");
}

#[tokio::test]
async fn it_closes_when_nobody_can_write() {
    let pumped = pumped();
    pumped.write("all");
    let Pumped { output, writer, exit: _exit } = pumped;
    drop(writer);
    let mut flow = output.flow();
    timed(flow.wait_for(|flow| flow.closed)).await.0.expect("kept");
    assert_eq!(output.collect(true).into_text(), "all");
}

#[tokio::test]
async fn a_flood_of_others_does_not_keep_it_from_settling() {
    let pumped = pumped();
    let writer = pumped.writer.try_clone().expect("a second end");
    let flood = std::thread::spawn(move || while rustix::io::write(&writer, &[b'x'; 4096]).is_ok() {});
    pumped.end();
    pumped.until(|flow| flow.settled).await;
    pumped.output.discard();
    // Reading goes on, or the writer would stand still; it ends when this test's runtime takes the reader away.
    drop((pumped, flood));
}
