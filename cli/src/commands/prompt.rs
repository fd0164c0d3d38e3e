//! The prompt of `exec`.

use std::io::Read;

use tokio_util::sync::CancellationToken;

use crate::args::PromptSource;
use crate::failure::Failure;

/// How long a prompt may be, in bytes.
pub(crate) const PROMPT_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The prompt, typed or read to the end of standard input.
///
/// # Errors
/// When there is none, or it is empty, too long or no text; or when the wait for it is interrupted.
pub(crate) async fn read(
    source: PromptSource,
    stdin: Box<dyn Read + Send>,
    stdin_is_terminal: bool,
    cancellation: &CancellationToken,
) -> Result<String, Failure> {
    let text = match source {
        PromptSource::Typed(text) => text,
        PromptSource::Stdin { asked: false } if stdin_is_terminal => {
            return Err(Failure::usage("there is no prompt: give one as the last argument, or pipe one in"));
        }
        PromptSource::Stdin { .. } => {
            // The thread is left to itself when the wait is over: a read cannot be called back.
            let read = tokio::task::spawn_blocking(move || read_all(stdin));
            tokio::select! {
                biased;
                () = cancellation.cancelled() => return Err(Failure::interrupted()),
                text = read => text.map_err(Failure::failed)??,
            }
        }
    };
    if text.trim().is_empty() {
        return Err(Failure::usage("the prompt is empty"));
    }
    Ok(text)
}

fn read_all(stdin: Box<dyn Read + Send>) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = stdin.take(PROMPT_MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::usage(format!("cannot read the prompt from standard input: {error}")))?;
    if bytes.len() as u64 > PROMPT_MAX_BYTES {
        return Err(Failure::usage(format!("the prompt is longer than {PROMPT_MAX_BYTES} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::usage(format!("the prompt on standard input is no UTF-8 text, from byte {at} on"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
