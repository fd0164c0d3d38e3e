//! Words, quotes and expansions.

use super::{META, Scanner};

impl Scanner<'_> {
    /// The word that begins here, its quotes taken off; none where its value depends on anything outside the script.
    /// Empty where none begins.
    pub(super) fn word(&mut self) -> Option<String> {
        let (mut text, mut known, before) = (String::new(), true, self.rest);
        loop {
            let part = match self.peek() {
                Some('<' | '>') if self.at_process() => {
                    self.next();
                    self.next();
                    self.nested_list();
                    None
                }
                Some('(') if self.raw(before).ends_with('=') => {
                    self.next();
                    self.array();
                    None
                }
                None => break,
                Some(c) if META.contains(&c) => break,
                Some(c) => {
                    self.next();
                    self.part(c)
                }
            };
            known &= part.is_some();
            text.push_str(&part.unwrap_or_default());
        }
        known.then_some(text)
    }

    /// A part of a word, of which the first letter has been read.
    fn part(&mut self, first: char) -> Option<String> {
        match first {
            '\\' => Some(match self.next() {
                Some('\n') => String::new(),
                Some(quoted) => quoted.into(),
                None => "\\".to_owned(),
            }),
            '\'' => {
                let Some((text, rest)) = self.rest.split_once('\'') else {
                    (self.complete, self.rest) = (false, "");
                    return None;
                };
                self.rest = rest;
                Some(text.to_owned())
            }
            '"' => {
                let (text, certain) = self.text(Some('"'));
                certain.then_some(text)
            }
            '`' => {
                self.backticks(false);
                None
            }
            '$' => self.dollar(false),
            other => Some(other.into()),
        }
    }

    /// Text in which expansions alone are made: to its end, or to this quote. Expansions stay as they are written;
    /// whether there are none.
    pub(super) fn text(&mut self, end: Option<char>) -> (String, bool) {
        let (mut text, mut certain) = (String::new(), true);
        loop {
            let before = self.rest;
            let known = match self.next() {
                None => {
                    self.complete &= end.is_none();
                    return (text, certain);
                }
                Some(c) if Some(c) == end => return (text, certain),
                Some('\\') => Some(self.behind_backslash(end)),
                Some('`') => {
                    self.backticks(end.is_some());
                    None
                }
                Some('$') => self.dollar(true),
                Some(other) => Some(other.into()),
            };
            certain &= known.is_some();
            text.push_str(&known.unwrap_or_else(|| self.raw(before)));
        }
    }

    /// Within such text a backslash quotes only `$`, a backtick, itself and the quote, and disappears with a line end.
    fn behind_backslash(&mut self, end: Option<char>) -> String {
        match self.next() {
            Some('\n') => String::new(),
            Some(quoted @ ('$' | '`' | '\\')) => quoted.into(),
            Some(quoted) if Some(quoted) == end => quoted.into(),
            Some(other) => format!("\\{other}"),
            None => "\\".to_owned(),
        }
    }

    /// The script between two backticks, of which the first has been read.
    fn backticks(&mut self, in_quotes: bool) {
        let mut script = String::new();
        loop {
            match self.next() {
                None => {
                    self.complete = false;
                    break;
                }
                Some('`') => break,
                Some('\\') => match self.next() {
                    Some(quoted @ ('$' | '`' | '\\')) => script.push(quoted),
                    Some('"') if in_quotes => script.push('"'),
                    Some(other) => script.extend(['\\', other]),
                    None => script.push('\\'),
                },
                Some(other) => script.push(other),
            }
        }
        self.read_within(&script, |inner| inner.list(false));
    }

    /// What stands behind a `$`; none where only the run knows what it comes to.
    fn dollar(&mut self, in_quotes: bool) -> Option<String> {
        if self.arithmetic() {
            return None;
        }
        match self.peek()? {
            '(' => {
                self.next();
                self.nested_list();
            }
            open @ ('{' | '[') => {
                self.next();
                self.braces(if open == '{' { '}' } else { ']' }, in_quotes);
            }
            '\'' if !in_quotes => {
                self.next();
                return self.escaped();
            }
            '"' if !in_quotes => return Some(String::new()),
            c if is_name(c) => self.rest = self.rest.trim_start_matches(is_name),
            '@' | '*' | '#' | '?' | '$' | '!' | '-' => drop(self.next()),
            _ => return Some("$".to_owned()),
        }
        None
    }

    /// `${...}` or `$[...]`, the beginning of which has been read.
    fn braces(&mut self, end: char, in_quotes: bool) {
        loop {
            match self.next() {
                None => {
                    self.complete = false;
                    return;
                }
                Some(c) if c == end => return,
                Some('\'') if in_quotes => {}
                Some(other) => drop(self.part(other)),
            }
        }
    }

    /// `$'...'`, the beginning of which has been read; known where nothing in it is escaped.
    fn escaped(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut known = true;
        loop {
            match self.next() {
                None => {
                    self.complete = false;
                    return None;
                }
                Some('\'') => return known.then_some(text),
                Some('\\') => {
                    known = false;
                    self.next();
                }
                Some(other) => text.push(other),
            }
        }
    }

    /// The values of an array, behind their parenthesis.
    fn array(&mut self) {
        loop {
            self.skip_lines();
            match self.peek() {
                Some(')') => {
                    self.next();
                    return;
                }
                None => {
                    self.complete = false;
                    return;
                }
                Some(c) if META.contains(&c) && !self.at_process() => {
                    self.complete = false;
                    self.next();
                }
                Some(_) => drop(self.word()),
            }
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
