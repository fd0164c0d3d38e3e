//! Reads a script from its beginning to its end, as a shell does, and notes the commands.
//!
//! A shell's grammar cannot be told apart from its reading: where a heredoc begins and ends, what a quote takes in, which
//! `)` belongs to a `case`. So this reads letter by letter. It takes a command too many rather than one too few, and says
//! so where it does not understand.

mod quoted;
mod redirect;
mod reserved;

use crate::commands::{CommandInput, FoundCommand, FoundCommands};
use redirect::{Pending, Source};
use reserved::{ESAC, Prefix};

/// How deep substitutions, subshells and heredocs may be nested in each other before they are no longer followed.
pub const MAX_NESTING: usize = 64;
/// Where a word ends.
const META: [char; 10] = [' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>'];

/// A place in a text, and what was found before it.
#[derive(Debug, Default)]
pub(crate) struct Scanner<'s> {
    rest: &'s str,
    depth: usize,
    /// Heredocs whose bodies begin behind the next line end.
    pending: Vec<Pending>,
    /// How many heredocs there were.
    heredocs: usize,
    /// Their bodies, in the order of their operators, as far as they are read.
    bodies: Vec<CommandInput>,
    commands: Vec<(Vec<Option<String>>, Source)>,
    /// Those of texts within this one.
    within: Vec<FoundCommand>,
    complete: bool,
}

/// The command that is being read.
#[derive(Debug, Default)]
struct Command {
    words: Vec<Option<String>>,
    source: Source,
    prefix: Prefix,
    /// The words that must still come to close what is open in this list, the next one last.
    open: Vec<&'static str>,
}

impl<'s> Scanner<'s> {
    pub(crate) fn new(text: &'s str) -> Self {
        Self { rest: text, complete: true, ..Self::default() }
    }

    /// What was found.
    pub(crate) fn finish(self) -> FoundCommands {
        let Self { commands, bodies, mut within, complete, .. } = self;
        within.extend(commands.into_iter().map(|(words, source)| {
            let (mut input, mut input_file) = (None, None);
            match source {
                Source::Unknown => {}
                Source::Text(text) => input = Some(CommandInput { text, certain: true }),
                Source::File(name) => input_file = Some(name),
                Source::Heredoc(place) => input = bodies.get(place).cloned(),
            }
            FoundCommand { words, input, input_file }
        }));
        FoundCommands { commands: within, complete }
    }

    /// Reads commands to the end, or to the `)` that closes them.
    pub(crate) fn list(&mut self, closed: bool) {
        let before = self.pending.len();
        let mut command = Command::default();
        loop {
            self.skip_blanks();
            match self.peek() {
                None => {
                    self.complete &= !closed;
                    break;
                }
                Some('#') => self.skip_comment(),
                Some('\n') => {
                    // Which of two nested texts a body belongs to, shells do not agree upon.
                    self.complete &= before == 0;
                    self.next();
                    self.end(&mut command);
                    self.read_bodies();
                }
                Some(')') => {
                    self.next();
                    if closed {
                        break;
                    }
                    self.end(&mut command);
                    self.complete = false;
                }
                Some('(') => self.parenthesis(&mut command),
                Some('&') if self.rest.starts_with("&>") => self.redirect(&mut command, None),
                Some('<' | '>') if !self.at_process() => self.redirect(&mut command, None),
                Some(';' | '&' | '|') => self.separator(&mut command),
                Some(_) => self.next_word(&mut command),
            }
        }
        self.end(&mut command);
        self.complete &= self.pending.len() <= before && command.open.is_empty();
    }

    /// A list in parentheses, of which the first has been read.
    fn nested_list(&mut self) {
        if self.depth >= MAX_NESTING {
            (self.complete, self.rest) = (false, "");
            return;
        }
        self.depth += 1;
        self.list(true);
        self.depth -= 1;
    }

    /// Reads another text as one of this script.
    fn read_within<T>(&mut self, text: &str, read: impl FnOnce(&mut Scanner<'_>) -> T) -> Option<T> {
        if self.depth >= MAX_NESTING {
            self.complete = false;
            return None;
        }
        let mut scanner = Scanner { depth: self.depth + 1, ..Scanner::new(text) };
        let value = read(&mut scanner);
        let FoundCommands { commands, complete } = scanner.finish();
        self.within.extend(commands);
        self.complete &= complete;
        Some(value)
    }

    /// `(`: behind a function's name, of arithmetic, or of a subshell.
    fn parenthesis(&mut self, command: &mut Command) {
        let function = self.rest.strip_prefix('(').map(|rest| rest.trim_start_matches([' ', '\t']));
        match function.and_then(|rest| rest.strip_prefix(')')) {
            Some(rest) if !command.words.is_empty() => {
                command.begin_again();
                self.rest = rest;
            }
            _ if self.arithmetic() => {}
            _ => {
                self.complete &= command.words.is_empty() || command.prefix != Prefix::None;
                self.end(command);
                self.next();
                self.nested_list();
            }
        }
    }

    fn separator(&mut self, command: &mut Command) {
        let first = self.next();
        self.end(command);
        if first == Some(';') && command.open.last() == Some(&ESAC) && matches!(self.peek(), Some(';' | '&'))
        {
            let second = self.next();
            if second == Some(';') && self.peek() == Some('&') {
                self.next();
            }
            self.patterns(command);
        }
    }

    fn next_word(&mut self, command: &mut Command) {
        let before = self.rest;
        let value = self.word();
        let raw = self.raw(before);
        if self.peek().is_some_and(|c| matches!(c, '<' | '>')) && redirect::is_descriptor(&raw) {
            self.redirect(command, Some(&raw));
        } else if command.is_at_its_beginning() && self.reserved(&raw, command) {
        } else {
            command.words.push(value);
        }
    }

    /// What was read since `before`, without its continued lines.
    fn raw(&self, before: &str) -> String {
        let length = before.len().saturating_sub(self.rest.len());
        before.get(..length).unwrap_or_default().replace("\\\n", "")
    }

    fn end(&mut self, command: &mut Command) {
        let Command { words, source, prefix, open } = std::mem::take(command);
        command.open = open;
        if !words.is_empty() && prefix != Prefix::Loop {
            self.commands.push((words, source));
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest.trim_start_matches([' ', '\t']);
            self.rest = rest.strip_prefix("\\\n").unwrap_or(rest);
            if self.rest.len() == rest.len() {
                return;
            }
        }
    }

    /// To the line's end, which stays.
    fn skip_comment(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.rest = self.rest.get(end..).unwrap_or_default();
    }

    fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some('#') => self.skip_comment(),
                Some('\n') => {
                    self.next();
                    self.read_bodies();
                }
                _ => return,
            }
        }
    }

    /// Whether `<(` or `>(` stands here.
    fn at_process(&self) -> bool {
        self.rest.starts_with("<(") || self.rest.starts_with(">(")
    }
}

impl Command {
    /// Whether a reserved word may stand here.
    fn is_at_its_beginning(&self) -> bool {
        self.words.is_empty() || (self.words.len() == 1 && self.prefix.has_a_name())
    }

    /// What was read was no command.
    fn begin_again(&mut self) {
        self.words.clear();
        self.prefix = Prefix::None;
    }
}
