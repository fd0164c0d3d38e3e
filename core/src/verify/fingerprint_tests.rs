use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn prompt(texts: &[&str]) -> Prompt {
    let input = texts.iter().map(|text| Arc::new(ResponseItem::message("user", text))).collect();
    Prompt { model: "m".to_owned(), instructions: "be kind".to_owned(), input, ..Prompt::default() }
}

fn of(prompt: &Prompt) -> Fingerprint {
    Fingerprints::default().of(prompt)
}

#[test]
fn the_body_is_the_text_that_is_documented() {
    let message = |text: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
    let body = format!(
        "{{\"model\":\"m\",\"instructions\":\"be kind\",\"input\":[{},{}],\"tools\":[]}}",
        message("one"),
        message("two"),
    );
    let fingerprint = of(&prompt(&["one", "two"]));
    assert_eq!(fingerprint.body, sha256(&body));
    assert_eq!(fingerprint.instructions, sha256("be kind"));
    assert_eq!(fingerprint.tools, sha256("[]"));
    assert_eq!(
        fingerprint.items,
        Some(vec![sha256(&message("one").to_string()), sha256(&message("two").to_string())])
    );
}

#[test]
fn an_id_is_a_name_and_not_compared() {
    let with_id = Prompt {
        input: vec![Arc::new(ResponseItem::message("user", "one").with_id_if_absent())],
        ..prompt(&[])
    };
    assert_eq!(of(&with_id), of(&prompt(&["one"])));
}

#[test]
fn a_line_tells_what_is_new_and_is_read_again() {
    let first = of(&prompt(&["one", "two"]));
    let second = of(&prompt(&["one", "two", "three"]));
    let lines = [first.line(None), second.line(Some(&first))];
    assert_eq!((lines[0].kept, lines[0].items.len(), lines[0].tools.is_some()), (0, 2, true));
    assert_eq!((lines[1].kept, lines[1].items.len(), lines[1].tools.is_some()), (2, 1, false));
    let read = Fingerprint::read(&lines[0], None);
    assert_eq!(read, first);
    assert_eq!(Fingerprint::read(&lines[1], Some(&read)), second);
    // Where the line before is lost, the whole can still be compared.
    let alone = Fingerprint::read(&lines[1], None);
    assert_eq!((alone.items, alone.each_tool), (None, None));
    assert_eq!(alone.body, second.body);
}

#[test]
fn a_request_that_goes_on_has_the_hashes_it_has_alone() {
    let long = Prompt {
        tools: Arc::new(vec![ToolSpec::lark("x", "y", "z"); 2]),
        ..prompt(&["one", "two", "three"])
    };
    let up_to =
        |count: usize| Prompt { input: long.input.iter().take(count).cloned().collect(), ..long.clone() };
    let mended = |at: usize| {
        let mut mended = long.clone();
        mended.input[at] = Arc::new(ResponseItem::message("user", "other"));
        mended
    };
    let requests = [
        up_to(0),
        up_to(1),
        up_to(1),
        long.clone(),
        Prompt { tools: Arc::default(), ..long.clone() },
        mended(2),
        mended(0),
        up_to(2),
        Prompt { model: "n".to_owned(), ..long.clone() },
        Prompt { instructions: String::new(), ..long.clone() },
        long.clone(),
    ];
    let mut fingerprints = Fingerprints::default();
    for (at, request) in requests.iter().enumerate() {
        assert_eq!(fingerprints.of(request), of(request), "request {at}");
    }
}

#[test]
fn only_what_is_new_is_read() {
    let long = prompt(&["one", "two", "three"]);
    let begun = Beginning::of(&long);
    assert!(begun.begins(&long));
    let mut known = begun;
    known.go_on(long.input.get(..2).unwrap());
    assert!(known.begins(&long) && !known.begins(&prompt(&["one", "two", "three"])));
    known.go_on(&long.input);
    assert_eq!(Some(&known.items), of(&long).items.as_ref());
    assert!(!known.begins(&prompt(&[])));
}
