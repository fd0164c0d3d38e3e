use std::io::Cursor;

use pretty_assertions::assert_eq;

use super::*;
use crate::failure::{INTERRUPTED, USAGE};

async fn prompt(
    source: PromptSource,
    stdin: impl Read + Send + 'static,
    terminal: bool,
) -> Result<String, String> {
    read(source, Box::new(stdin), terminal, &CancellationToken::new()).await.map_err(|failure| {
        assert_eq!(failure.status, USAGE);
        failure.message.unwrap_or_default()
    })
}

const PIPED: PromptSource = PromptSource::Stdin { asked: false };

#[tokio::test]
async fn a_prompt_is_typed_or_read_to_the_end() {
    let typed = PromptSource::Typed("go".to_owned());
    assert_eq!(prompt(typed, Cursor::new("not read"), false).await, Ok("go".to_owned()));
    for (bytes, text) in [("a\nb\n", "a\nb"), ("\u{feff}a\r\n", "a"), ("  a", "  a")] {
        assert_eq!(prompt(PIPED, Cursor::new(bytes), false).await, Ok(text.to_owned()));
    }
    let asked = PromptSource::Stdin { asked: true };
    assert_eq!(prompt(asked, Cursor::new("from a terminal"), true).await, Ok("from a terminal".to_owned()));
}

#[tokio::test]
async fn no_prompt_is_a_mistake() {
    let told = |text: &str| Err(text.to_owned());
    let none = "there is no prompt: give one as the last argument, or pipe one in";
    assert_eq!(prompt(PIPED, Cursor::new("x"), true).await, told(none));
    assert_eq!(prompt(PIPED, Cursor::new(" \n"), false).await, told("the prompt is empty"));
    assert_eq!(
        prompt(PromptSource::Typed(String::new()), Cursor::new(""), false).await,
        told("the prompt is empty")
    );
    let broken = "the prompt on standard input is no UTF-8 text, from byte 2 on";
    assert_eq!(prompt(PIPED, Cursor::new(b"ab\xff"), false).await, told(broken));
}

#[tokio::test]
async fn the_length_is_bounded() {
    let most = std::io::repeat(b'x').take(PROMPT_MAX_BYTES);
    assert_eq!(prompt(PIPED, most, false).await.map(|text| text.len() as u64), Ok(PROMPT_MAX_BYTES));
    let more = std::io::repeat(b'x').take(PROMPT_MAX_BYTES + 1);
    assert_eq!(prompt(PIPED, more, false).await, Err("the prompt is longer than 16777216 bytes".to_owned()));
}

/// A pipe that nobody writes to, until it is dropped.
struct Silent(std::sync::mpsc::Receiver<()>);

impl Read for Silent {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        // Ends with the sender.
        let _ = self.0.recv();
        Ok(0)
    }
}

#[tokio::test]
async fn the_wait_for_a_prompt_can_be_interrupted() {
    let (writer, reader) = std::sync::mpsc::channel();
    let cancellation = CancellationToken::new();
    cancellation.cancel();
    let failure = read(PIPED, Box::new(Silent(reader)), false, &cancellation).await.expect_err("interrupted");
    assert_eq!((failure.status, failure.message), (INTERRUPTED, None));
    drop(writer);
}
