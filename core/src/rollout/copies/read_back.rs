//! An output as it was, from its line and from what lies beside the file.

use tenon_protocol::{CallFinished, ResponseItem, TextAside};

use super::folder::CopyFolder;
use super::texts::{TextHash, replace, text_mut, texts};
use crate::rollout::error::RolloutError;
use crate::rollout::reader::LoadedRollout;

/// What stands in the place of a text that is not found where its line says that it is.
pub const OUTPUT_LOST: &str =
    "outcome known, output lost: the copy of this output beside the rollout is missing or damaged";

/// An output, as far as it was found.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::rollout) struct ReadBack {
    pub(in crate::rollout) output: ResponseItem,
    /// Something of it was not found: there is [`OUTPUT_LOST`] in its place.
    pub(in crate::rollout) is_lost: bool,
}

/// Why a text is not there.
enum Missing {
    /// It is lost.
    Lost,
    /// Nobody knows: it could not be looked at.
    Unread(RolloutError),
}

impl LoadedRollout {
    /// The output of a call's end, with the texts that lie beside the file, or in another line. In the place of one that
    /// is not found, or cannot be read, there is [`OUTPUT_LOST`].
    #[must_use]
    pub fn output_of(&self, finished: &CallFinished) -> ResponseItem {
        let (output, _) = self.filled_in(finished);
        output
    }

    /// As [`output_of`](Self::output_of), for whoever writes down what comes of it.
    ///
    /// # Errors
    /// When a text lies there and cannot be read: it may be read another time.
    pub(in crate::rollout) fn read_back(&self, finished: &CallFinished) -> Result<ReadBack, RolloutError> {
        let (output, missing) = self.filled_in(finished);
        let mut is_lost = false;
        for missing in missing {
            match missing {
                Missing::Lost => is_lost = true,
                Missing::Unread(error) => return Err(error),
            }
        }
        Ok(ReadBack { output, is_lost })
    }

    /// The output, and what of it is not there.
    fn filled_in(&self, finished: &CallFinished) -> (ResponseItem, Vec<Missing>) {
        if finished.aside.is_empty() {
            return (finished.output.clone(), Vec::new());
        }
        let folder = CopyFolder::of(&self.path);
        let (mut kind, mut all_missing) = (finished.output.clone().into_kind(), Vec::new());
        for aside in &finished.aside {
            match (self.text_aside(aside, &folder), text_mut(&mut kind, aside.entry)) {
                (Ok(text), Some(place)) => *place = text,
                (Ok(_), None) => {}
                (Err(missing), _) => {
                    tracing::warn!(call_id = %finished.call_id, sha256 = aside.sha256, "an output is not found");
                    replace(&mut kind, aside.entry, OUTPUT_LOST);
                    all_missing.push(missing);
                }
            }
        }
        (ResponseItem::new(kind), all_missing)
    }

    fn text_aside(&self, aside: &TextAside, folder: &CopyFolder) -> Result<String, Missing> {
        let hash = TextHash::read(&aside.sha256).ok_or(Missing::Lost)?;
        let read = folder.read_whole(&hash, aside.bytes);
        let (bytes, why) = match read {
            Ok(bytes) => (bytes, Missing::Lost),
            Err(error) => (None, Missing::Unread(RolloutError::io("read", &folder.file(&hash), error))),
        };
        let copy = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let copy = copy.filter(|text| TextHash::of(text) == hash);
        copy.or_else(|| self.text_in_line(&hash, aside.bytes)).ok_or(why)
    }

    /// The text in the line of an item: with the line, its copy has gone.
    fn text_in_line(&self, hash: &TextHash, bytes: u64) -> Option<String> {
        let texts = self.items().flat_map(|(_, item)| texts(item.kind())).map(|(_, text)| text);
        let mut fitting = texts.filter(|text| text.len() as u64 == bytes);
        fitting.find(|text| TextHash::of(text) == *hash).map(str::to_owned)
    }
}

#[cfg(test)]
#[path = "read_back_tests.rs"]
mod tests;
