//! Words that mean something of their own where a command begins.

use super::{Command, Scanner};

/// What ends a `case`.
pub(super) const ESAC: &str = "esac";

/// The word that a command is read behind.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefix {
    #[default]
    None,
    /// `time`, which may have options.
    Time,
    /// `coproc` or `function`: a name may stand before the command.
    Named,
    /// `for` or `select`: what follows is no command.
    Loop,
}

impl Prefix {
    /// Whether one word may stand before what it leads in.
    pub(super) fn has_a_name(self) -> bool {
        matches!(self, Self::Named | Self::Loop)
    }
}

impl Scanner<'_> {
    /// Deals with a word where a command begins. Whether it was none of the command's own.
    pub(super) fn reserved(&mut self, raw: &str, command: &mut Command) -> bool {
        match raw {
            "if" => command.open("fi"),
            "do" => command.open("done"),
            "{" => command.open("}"),
            "then" | "else" | "elif" | "while" | "until" | "!" => command.begin_again(),
            "fi" | "done" | "}" | ESAC => {
                command.begin_again();
                self.complete &= command.open.pop() == Some(raw);
            }
            "time" => command.prefix = Prefix::Time,
            "-p" | "--" if command.prefix == Prefix::Time => {}
            "coproc" | "function" if command.words.is_empty() => command.prefix = Prefix::Named,
            "for" | "select" if command.words.is_empty() => command.prefix = Prefix::Loop,
            "case" => self.case(command),
            "[[" => self.test(),
            _ => return command.words.is_empty() && is_assignment(raw),
        }
        true
    }

    /// `case WORD in`, the first word of which has been read.
    fn case(&mut self, command: &mut Command) {
        self.skip_blanks();
        self.word();
        self.skip_lines();
        let before = self.rest;
        self.word();
        if self.raw(before) == "in" {
            command.open(ESAC);
            self.patterns(command);
        } else {
            self.complete = false;
        }
    }

    /// The patterns before the commands of a case, or its end.
    pub(super) fn patterns(&mut self, command: &mut Command) {
        self.skip_lines();
        if self.peek() == Some('(') {
            self.next();
        }
        loop {
            self.skip_blanks();
            let before = self.rest;
            self.word();
            match (self.raw(before).as_str(), self.peek()) {
                (ESAC, next) if next != Some(')') => {
                    command.open.pop();
                    return;
                }
                (_, Some('|')) => drop(self.next()),
                (_, Some(')')) => {
                    self.next();
                    return;
                }
                (word, Some(' ' | '\t' | '\\')) if !word.is_empty() => {}
                _ => {
                    self.complete = false;
                    return;
                }
            }
        }
    }

    /// `[[ ... ]]`, in which operators mean something else.
    fn test(&mut self) {
        loop {
            self.skip_lines();
            let before = self.rest;
            self.word();
            match self.raw(before).as_str() {
                "]]" => return,
                "" if self.next().is_none() => {
                    self.complete = false;
                    return;
                }
                _ => {}
            }
        }
    }

    /// `(( ... ))`, if it is what stands here: of it, only the substitutions are commands.
    pub(super) fn arithmetic(&mut self) -> bool {
        let Some(rest) = self.rest.strip_prefix("((") else { return false };
        let Some((inner, rest)) = arithmetic_end(rest).and_then(|end| rest.split_at_checked(end)) else {
            return false;
        };
        self.read_within(inner, |scanner| scanner.text(None));
        self.rest = rest.strip_prefix("))").unwrap_or(rest);
        true
    }
}

impl Command {
    /// Something was opened that this word closes.
    fn open(&mut self, closer: &'static str) {
        self.begin_again();
        self.open.push(closer);
    }
}

/// Where the `))` stands that ends arithmetic; none where one parenthesis alone closes it, which makes it a subshell.
fn arithmetic_end(text: &str) -> Option<usize> {
    let (mut open, mut chars) = (1_usize, text.char_indices());
    while let Some((place, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '\'' | '"' => drop(chars.find(|(_, other)| *other == c)),
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return text.get(place..)?.starts_with("))").then_some(place);
        }
    }
    None
}

/// `NAME=`, `NAME+=` or `NAME[...]=`, and what follows.
fn is_assignment(raw: &str) -> bool {
    let Some((name, _)) = raw.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(letter) && !name.starts_with(|c: char| c.is_ascii_digit())
}
