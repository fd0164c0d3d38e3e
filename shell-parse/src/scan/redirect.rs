//! Redirections, and the heredocs among them.

use std::mem::take;

use super::{Command, Scanner};
use crate::commands::CommandInput;

/// The operators, none of them behind one that it begins with.
const OPERATORS: [&str; 12] = ["<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">&", ">|", ">", "&>>", "&>"];

/// What a command reads.
#[derive(Debug, Default)]
pub(super) enum Source {
    /// What only the run knows.
    #[default]
    Unknown,
    /// This.
    Text(String),
    /// The file of this name.
    File(String),
    /// The heredoc of this number.
    Heredoc(usize),
}

/// A heredoc whose operator has been read.
#[derive(Debug)]
pub(super) struct Pending {
    delimiter: String,
    /// Whether any of the delimiter is quoted: then nothing of the body is expanded.
    quoted: bool,
    /// `<<-`: tabs before lines are taken off.
    strips: bool,
}

impl Scanner<'_> {
    /// A redirection, of this descriptor if one is named.
    pub(super) fn redirect(&mut self, command: &mut Command, descriptor: Option<&str>) {
        let found =
            OPERATORS.iter().find_map(|operator| Some((*operator, self.rest.strip_prefix(operator)?)));
        let Some((operator, rest)) = found else {
            self.complete = false;
            self.next();
            return;
        };
        self.rest = rest;
        self.skip_blanks();
        let before = self.rest;
        let value = self.word();
        let raw = self.raw(before);
        self.complete &= !raw.is_empty();
        let source = match operator {
            "<<" | "<<-" => self.heredoc(value, &raw, operator == "<<-"),
            // A line end is added.
            "<<<" => value.map_or(Source::Unknown, |text| Source::Text(text + "\n")),
            "<" | "<>" => value.map_or(Source::Unknown, Source::File),
            _ => Source::Unknown,
        };
        if descriptor.map_or(operator.starts_with('<'), |named| named.trim_start_matches('0').is_empty()) {
            command.source = source;
        }
    }

    fn heredoc(&mut self, value: Option<String>, raw: &str, strips: bool) -> Source {
        // Nothing is expanded in a delimiter, and who writes as if there were means to confuse.
        self.complete &= value.is_some() && !raw.contains('$');
        let delimiter = value.unwrap_or_else(|| raw.to_owned());
        self.pending.push(Pending { delimiter, quoted: raw.contains(['\'', '"', '\\']), strips });
        self.heredocs += 1;
        Source::Heredoc(self.heredocs - 1)
    }

    /// Reads the bodies that begin here.
    pub(super) fn read_bodies(&mut self) {
        for pending in take(&mut self.pending) {
            let (body, ended) = self.body(&pending);
            self.complete &= ended;
            let read = if pending.quoted { None } else { self.read_within(&body, |inner| inner.text(None)) };
            let (text, certain) = read.unwrap_or((body, pending.quoted));
            self.bodies.push(CommandInput { text, certain });
        }
    }

    /// The lines up to the delimiter's own, and whether that is there.
    fn body(&mut self, pending: &Pending) -> (String, bool) {
        let mut body = String::new();
        while !self.rest.is_empty() {
            let end = line_end(self.rest, !pending.quoted);
            let (line, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
            self.rest = rest;
            let line = if pending.strips { line.trim_start_matches('\t') } else { line };
            let bare = line.strip_suffix('\n').unwrap_or(line);
            let same = bare == pending.delimiter
                || (!pending.quoted && bare.replace("\\\n", "") == pending.delimiter);
            if same {
                return (body, true);
            }
            body.push_str(line);
        }
        (body, false)
    }
}

/// Where the first line ends, in bytes, its line end included. Where lines are continued, a backslash before the end
/// makes one of two.
fn line_end(text: &str, continued: bool) -> usize {
    let mut quoted = false;
    for (place, c) in text.char_indices() {
        if c == '\n' && !(quoted && continued) {
            return place + 1;
        }
        quoted = c == '\\' && !quoted;
    }
    text.len()
}

/// What may name a descriptor before an operator that touches it: a number, or `{name}`.
pub(super) fn is_descriptor(raw: &str) -> bool {
    let named = raw.strip_prefix('{').and_then(|raw| raw.strip_suffix('}'));
    named.is_some() || (!raw.is_empty() && raw.bytes().all(|byte| byte.is_ascii_digit()))
}
