//! The working folder after a run.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::python_json::dumps_sorted;

/// What stands for a path that is no regular file (a pipe, a link to nothing).
const NOT_REGULAR: &str = "not a regular file";
/// Where a text is cut into lines by the recording harness: more than newlines.
const LINE_ENDS: [char; 10] =
    ['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Every file below the folder by its relative path, as text: JSON in its canonical form, bytes that are no UTF-8 as
/// `\xNN`. Linked folders are not entered.
///
/// # Errors
/// When a file can't be read.
pub fn snapshot(root: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let (entry, path) = entry.map(|entry| (entry.file_type(), entry.path()))?;
            if entry?.is_dir() {
                folders.push(path);
            } else if let Some(text) = text_of(&path)? {
                let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                let text = canonical(&name, &text);
                files.insert(name, text);
            }
        }
    }
    Ok(files)
}

/// The text that stands for one path; none for a link to a folder.
fn text_of(path: &Path) -> io::Result<Option<String>> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(Some(backslashed(&std::fs::read(path)?))),
        Ok(metadata) if metadata.is_dir() => Ok(None),
        Ok(_) | Err(_) => Ok(Some(NOT_REGULAR.to_owned())),
    }
}

/// The bytes as text, each byte that is no UTF-8 as `\xNN`.
pub fn backslashed(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// JSON by its value and not by the order of its members; other text, and JSON that does not parse, as it is.
pub fn canonical(name: &str, text: &str) -> String {
    let parsed = if name.ends_with(".json") {
        serde_json::from_str(text).map(|value: Value| dumps_sorted(&value))
    } else if name.ends_with(".jsonl") {
        let lines = text.split(LINE_ENDS).filter(|line| !line.is_empty());
        let values = lines.map(|line| serde_json::from_str(line).map(|value: Value| dumps_sorted(&value)));
        values.collect::<Result<Vec<_>, _>>().map(|lines| lines.join("\n"))
    } else {
        return text.to_owned();
    };
    parsed.unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
