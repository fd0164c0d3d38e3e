use pretty_assertions::assert_eq;

use super::*;

#[derive(Default)]
struct Heard(Mutex<Vec<Event>>);

impl EventSink for Heard {
    fn emit(&self, event: Event) {
        self.0.lock().expect("not poisoned").push(event);
    }
}

impl Heard {
    fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().expect("not poisoned"))
    }

    fn deltas(&self) -> Vec<Vec<u8>> {
        let delta = |event| match event {
            Event::ExecOutputDelta { chunk, .. } => Some(chunk),
            _ => None,
        };
        self.take().into_iter().filter_map(delta).collect()
    }
}

fn report() -> (Arc<Heard>, Report, Output) {
    let heard = Arc::new(Heard::default());
    let report = Report::new(heard.clone(), CallId::from("c1"), vec!["sh".to_owned()]);
    (heard, report, Output::new())
}

#[test]
fn a_delta_ends_at_its_bound_and_never_within_a_character() {
    let (heard, report, output) = report();
    output.push(&[b'a'; MAX_DELTA_BYTES]);
    report.deltas(&output);
    assert_eq!(heard.deltas().iter().map(Vec::len).collect::<Vec<_>>(), [8192]);
    output.push(&[b'a'; MAX_DELTA_BYTES - 1]);
    output.push("✓b".as_bytes());
    report.deltas(&output);
    assert_eq!(heard.deltas().iter().map(Vec::len).collect::<Vec<_>>(), [8191, 4]);
}

#[test]
fn a_character_that_is_not_complete_waits_for_the_next_delta() {
    let (heard, report, output) = report();
    output.push(b"a\xe2\x9c");
    report.deltas(&output);
    output.push(b"\x93");
    report.deltas(&output);
    assert_eq!(heard.deltas(), [b"a".to_vec(), "✓".as_bytes().to_vec()]);
}

#[test]
fn after_ten_thousand_deltas_there_are_no_more() {
    let (heard, report, output) = report();
    for _ in 0..MAX_DELTAS + 5 {
        output.push(b"x");
        report.deltas(&output);
    }
    assert_eq!(heard.deltas().len(), 10_000);
    report.end(&output, 0);
    let events = heard.take();
    assert_eq!(events.len(), 1, "the item still ends");
    let Event::ItemCompleted(TurnItem::CommandExecution { aggregated_output, .. }) = &events[0] else {
        panic!("{events:?}")
    };
    assert_eq!(aggregated_output.len(), 10_005);
}

#[test]
fn the_item_ends_once_and_nothing_follows() {
    let (heard, report, output) = report();
    output.push(b"one\n");
    report.end(&output, 3);
    report.end(&output, 0);
    output.push(b"two\n");
    report.deltas(&output);
    let events = heard.take();
    assert_eq!(events.len(), 2);
    assert!(matches!(&events[0], Event::ExecOutputDelta { chunk, .. } if chunk == b"one\n"));
    let Event::ItemCompleted(item) = &events[1] else { panic!("{events:?}") };
    let expected = TurnItem::CommandExecution {
        id: "c1".to_owned(),
        command: vec!["sh".to_owned()],
        aggregated_output: "one\n".to_owned(),
        exit_code: Some(3),
        status: ItemStatus::Failed,
    };
    assert_eq!(item, &expected);
}

#[test]
fn one_that_is_silenced_says_no_more() {
    let (heard, report, output) = report();
    report.silence();
    output.push(b"one\n");
    report.deltas(&output);
    report.end(&output, 0);
    assert!(heard.take().is_empty());
}

#[test]
fn a_flood_is_left_out_of_deltas_and_says_so() {
    let (heard, report, output) = report();
    output.push(&[b'x'; 1024 * 1024]);
    report.deltas(&output);
    let text = String::from_utf8(heard.deltas().concat()).expect("text");
    assert!(text.contains("\n... 983040 bytes omitted ...\n"), "{}", text.len());
    assert!(text.len() < 65 * 1024 + 64);
}
