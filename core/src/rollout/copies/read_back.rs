//! An output as it was, from its line and from what lies beside the file.

use tenon_protocol::{CallFinished, ResponseItem, TextAside};

use super::folder::CopyFolder;
use super::texts::{TextHash, replace, text_mut, texts};
use crate::rollout::reader::LoadedRollout;

/// What stands in the place of a text that is not found where its line says that it is.
pub const OUTPUT_LOST: &str =
    "outcome known, output lost: the copy of this output beside the rollout is missing or damaged";

impl LoadedRollout {
    /// The output of a call's end, with the texts that lie beside the file, or in another line. In the place of one that
    /// is not found there is [`OUTPUT_LOST`].
    #[must_use]
    pub fn output_of(&self, finished: &CallFinished) -> ResponseItem {
        if finished.aside.is_empty() {
            return finished.output.clone();
        }
        let folder = CopyFolder::of(&self.path);
        let mut kind = finished.output.clone().into_kind();
        for aside in &finished.aside {
            let text = self.text_aside(aside, &folder);
            match (text, text_mut(&mut kind, aside.entry)) {
                (Some(text), Some(place)) => *place = text,
                (Some(_), None) => {}
                (None, _) => {
                    tracing::warn!(call_id = %finished.call_id, sha256 = aside.sha256, "an output is lost");
                    replace(&mut kind, aside.entry, OUTPUT_LOST);
                }
            }
        }
        ResponseItem::new(kind)
    }

    fn text_aside(&self, aside: &TextAside, folder: &CopyFolder) -> Option<String> {
        let hash = TextHash::read(&aside.sha256)?;
        let copy = folder.read_whole(&hash, aside.bytes).and_then(|bytes| String::from_utf8(bytes).ok());
        copy.filter(|text| TextHash::of(text) == hash).or_else(|| self.text_in_line(&hash, aside.bytes))
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
