//! What a patch says, parsed but not yet held against any file.

/// A parsed patch (runtime.md A3).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patch {
    /// The value of an `*** Environment ID:` line (A3.g).
    pub environment_id: Option<String>,
    /// The file operations in the order of the text; may be empty (A3.7).
    pub hunks: Vec<Hunk>,
}

/// One file operation. Paths are spelled as in the patch (A3.h).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hunk {
    /// `*** Add File:` writes a whole file.
    Add {
        /// Where.
        path: String,
        /// The file's text: each line with a line feed, or nothing at all.
        contents: String,
    },
    /// `*** Delete File:` removes a file.
    Delete {
        /// Which.
        path: String,
    },
    /// `*** Update File:` changes a file, moves it, or both.
    Update {
        /// Which.
        path: String,
        /// The new path of a `*** Move to:` line.
        move_to: Option<String>,
        /// The changes in the order of the text. Empty only for a pure rename.
        chunks: Vec<Chunk>,
    },
}

impl Hunk {
    /// The path that the hunk's header names.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Delete { path } | Self::Update { path, .. } => path,
        }
    }
}

/// One change of an update (A3.f).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chunk {
    /// The texts of its `@@ ` headers, each to be sought behind the last.
    pub change_contexts: Vec<String>,
    /// Removed and context lines in order, without line ends.
    pub old_lines: Vec<String>,
    /// Added and context lines in order, without line ends.
    pub new_lines: Vec<String>,
    /// For each context line its index in `old_lines` and in `new_lines`, ascending.
    pub context_line_indices: Vec<(usize, usize)>,
    /// Whether `*** End of File` closes it: it then matches at the end of the file only.
    pub is_end_of_file: bool,
}

impl Chunk {
    /// Whether it has no lines yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.old_lines.is_empty() && self.new_lines.is_empty()
    }

    /// Appends a line that stays.
    pub(crate) fn push_context(&mut self, line: &str) {
        self.context_line_indices.push((self.old_lines.len(), self.new_lines.len()));
        self.old_lines.push(line.to_owned());
        self.new_lines.push(line.to_owned());
    }
}
