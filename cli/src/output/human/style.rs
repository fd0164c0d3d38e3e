//! Colours and width.

use std::borrow::Cow;

/// What a text is, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Dim,
    Good,
    Bad,
    Warning,
}

/// How lines look: plain for a pipe and under `NO_COLOR`, coloured and as wide as the window on a terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    colours: bool,
    columns: Option<usize>,
}

/// Narrower windows are written to as if they were this wide.
const MIN_COLUMNS: usize = 20;

impl Style {
    /// A style without colours, for a reader that is no terminal.
    pub(crate) fn plain() -> Self {
        Self { colours: false, columns: None }
    }

    /// A style for a terminal; `columns` is none where its width is unknown.
    pub(crate) fn terminal(colours: bool, columns: Option<u16>) -> Self {
        Self { colours, columns: columns.map(|columns| usize::from(columns).max(MIN_COLUMNS)) }
    }

    /// How many characters fit on a line that begins with a call's number or an indent.
    pub(crate) fn columns(&self) -> usize {
        const INDENT: usize = 6;
        self.columns.map_or(usize::MAX, |columns| columns - INDENT)
    }

    /// The text in its colour.
    pub(crate) fn paint<'a>(&self, tone: Tone, text: &'a str) -> Cow<'a, str> {
        let code = match tone {
            Tone::Plain => return Cow::Borrowed(text),
            Tone::Dim => "2",
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Warning => "33",
        };
        if self.colours { Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m")) } else { Cow::Borrowed(text) }
    }
}
