//! What must hold for any patch and any file. A body panics where it does not.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tenon_apply_patch::{Facts, Fs, Hunk, Kind, Patch, StreamingParser, parse_patch, plan};

/// The parser says the same however the text is cut, and of every beginning of it.
///
/// The first byte says how many cuts there are, the next ones where; the rest is the text.
pub fn parse_stream(data: &[u8]) {
    let Some((count, rest)) = data.split_first() else { return };
    let (cuts, text) = rest.split_at(rest.len().min(usize::from(*count) % 8));
    let text = String::from_utf8_lossy(text);
    let whole = parse_patch(&text);
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| usize::from(*cut) * text.len() / 256).collect();
    cuts.sort_unstable();
    let mut streaming = StreamingParser::default();
    let mut from = 0;
    let boundary = |cut: usize| (0..=cut).rev().find(|cut| text.is_char_boundary(*cut)).unwrap_or_default();
    for to in cuts.into_iter().map(boundary).chain([text.len()]) {
        streaming.push(&text[from..to]);
        from = to;
        let mut beginning = StreamingParser::default();
        beginning.push(&text[..to]);
        assert_eq!(streaming.hunks(), beginning.hunks(), "up to {to}");
        assert_eq!(beginning.finish(), parse_patch(&text[..to]), "up to {to}");
    }
    assert_eq!(streaming.finish(), whole);
}

/// Largest file that `apply` looks at: its check takes the square of the lines.
const MAX_FILE: usize = 2048;

/// Whatever a patch does to whatever bytes: lines that it does not remove are there after it, in their
/// order and to the byte. Only a last line without a line end gets one.
///
/// The first two bytes are the length of the file, low byte first; the file follows, then the patch: as
/// it is, and as the body of an update.
pub fn apply(data: &[u8]) {
    let [low, high, rest @ ..] = data else { return };
    let length = usize::from(u16::from_le_bytes([*low, *high])) % MAX_FILE;
    let (file, text) = rest.split_at(rest.len().min(length));
    let text = String::from_utf8_lossy(text);
    let framed = format!("*** Begin Patch\n*** Update File: f\n{text}\n*** End Patch");
    for text in [text.into_owned(), framed] {
        if let Ok(patch) = parse_patch(&text) {
            apply_to(file, &patch);
        }
    }
}

fn apply_to(file: &[u8], patch: &Patch) {
    let fs = OneFile(file.to_vec());
    let Ok(plan) = plan(patch, Path::new("/"), &fs) else { return };
    assert_eq!(plan.changes().len(), patch.hunks.len());
    let mut old = file.to_vec();
    for (change, hunk) in plan.changes().iter().zip(&patch.hunks) {
        let _ = change.unified_diff();
        let Hunk::Update { chunks, .. } = hunk else { continue };
        let new = change.content().expect("an update leaves a file").to_vec();
        if change.path() != Path::new("/f") || patch.hunks.len() > 1 {
            continue;
        }
        let removed: usize =
            chunks.iter().map(|chunk| chunk.old_lines.len() - chunk.context_line_indices.len()).sum();
        let (before, after) = (pieces(&old), pieces(&new));
        let open =
            usize::from(before.last().is_some_and(|last| !last.ends_with(b"\n") && !last.ends_with(b"\r")));
        let kept = common(&before, &after);
        assert!(
            kept + 2 * removed + open >= before.len(),
            "{kept} of {} pieces stay: {chunks:?}",
            before.len()
        );
        if chunks.is_empty() {
            assert_eq!(old, new, "a pure rename");
        }
        old = new;
    }
}

/// Lines with their line ends, the line feed of a CRLF apart; no byte-order mark.
fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')).collect()
}

/// The length of the longest common subsequence.
fn common(left: &[&[u8]], right: &[&[u8]]) -> usize {
    let mut row = vec![0; right.len() + 1];
    for line in left {
        let mut diagonal = 0;
        for (index, other) in right.iter().enumerate() {
            let above = row[index + 1];
            row[index + 1] = if line == other { diagonal + 1 } else { above.max(row[index]) };
            diagonal = above;
        }
    }
    row[right.len()]
}

/// A disk with one file, `/f`, which can only be read.
#[derive(Debug)]
struct OneFile(Vec<u8>);

impl OneFile {
    fn there(&self, path: &Path) -> io::Result<Facts> {
        if path != Path::new("/f") {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Facts {
            kind: Kind::File,
            len: self.0.len() as u64,
            mode: 0o644,
            owner: 0,
            group: 0,
            links: 1,
            identity: (0, 1),
            modified: (0, 0),
            changed: (0, 0),
            no_xattrs: false,
        })
    }
}

fn no<T>() -> io::Result<T> {
    Err(io::ErrorKind::ReadOnlyFilesystem.into())
}

impl Fs for OneFile {
    fn facts(&self, path: &Path) -> io::Result<Facts> {
        self.there(path)
    }

    fn read_link(&self, _: &Path) -> io::Result<PathBuf> {
        no()
    }

    fn read(&self, path: &Path) -> io::Result<(Facts, Vec<u8>)> {
        Ok((self.there(path)?, self.0.clone()))
    }

    fn holds(&self, path: &Path, bytes: &[u8]) -> io::Result<bool> {
        self.there(path).map(|_| self.0 == bytes)
    }

    fn may_write(&self, _: &Path) -> io::Result<()> {
        no()
    }

    fn create(&self, _: &Path, _: u32) -> io::Result<File> {
        no()
    }

    fn open_existing(&self, _: &Path) -> io::Result<File> {
        no()
    }

    fn write(&self, _: &mut File, _: &[u8]) -> io::Result<()> {
        no()
    }

    fn set_len(&self, _: &File, _: u64) -> io::Result<()> {
        no()
    }

    fn copy_attributes(&self, _: &Path, _: &Facts, _: &File) -> io::Result<()> {
        no()
    }

    fn set_mode(&self, _: &File, _: u32) -> io::Result<()> {
        no()
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        no()
    }

    fn rename_new(&self, _: &Path, _: &Path) -> io::Result<()> {
        no()
    }

    fn names(&self, _: &Path, _: &str, _: usize) -> io::Result<Vec<OsString>> {
        no()
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        no()
    }

    fn create_dir(&self, _: &Path) -> io::Result<()> {
        no()
    }

    fn remove_dir(&self, _: &Path) -> io::Result<()> {
        no()
    }
}
