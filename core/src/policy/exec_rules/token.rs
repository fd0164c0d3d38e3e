//! A rule file as tokens.

use std::iter::Peekable;
use std::str::Chars;

use super::error::{Position, RuleError};

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A name.
    Name(String),
    /// A string, its escapes read.
    Text(String),
    /// One of `( ) [ ] , =`.
    Mark(char),
    /// The end of a line. It ends a statement, and means nothing in parentheses.
    LineEnd,
    /// A character that means nothing in a rule file.
    Other(char),
}

impl Token {
    /// The token as an error names it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Name(name) => format!("`{name}`"),
            Self::Text(text) => format!("the string {text:?}"),
            Self::Mark(mark) => format!("`{mark}`"),
            Self::LineEnd => "the end of the line".to_owned(),
            Self::Other(other) => format!("`{other}`, which has no meaning in a rule file"),
        }
    }
}

/// Splits a text into tokens, each with its place.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Position)>, RuleError> {
    let mut source = Source { chars: text.chars().peekable(), at: Position { line: 1, column: 1 } };
    let mut found = Vec::new();
    loop {
        let at = source.at;
        let Some(c) = source.next() else { return Ok(found) };
        let token = match c {
            ' ' | '\t' | '\r' => continue,
            '#' => {
                source.skip_line();
                continue;
            }
            '\n' | ';' => Token::LineEnd,
            '(' | ')' | '[' | ']' | ',' | '=' => Token::Mark(c),
            '"' | '\'' => Token::Text(source.string(c, at)?),
            c if c.is_ascii_alphabetic() || c == '_' => Token::Name(source.name(c)),
            c => Token::Other(c),
        };
        found.push((token, at));
    }
}

struct Source<'t> {
    chars: Peekable<Chars<'t>>,
    at: Position,
}

impl Source<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        if c == '\n' {
            self.at = Position { line: self.at.line.saturating_add(1), column: 1 };
        } else {
            self.at.column = self.at.column.saturating_add(1);
        }
        Some(c)
    }

    fn skip_line(&mut self) {
        while self.chars.peek().is_some_and(|c| *c != '\n') {
            self.next();
        }
    }

    fn name(&mut self, first: char) -> String {
        let mut name = String::from(first);
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
            self.at.column = self.at.column.saturating_add(1);
            name.push(c);
        }
        name
    }

    fn string(&mut self, quote: char, opened: Position) -> Result<String, RuleError> {
        let mut text = String::new();
        loop {
            let at = self.at;
            match self.next() {
                None | Some('\n') => {
                    return Err(RuleError::at(opened, "this string is not closed on its line"));
                }
                Some('\\') => text.push(self.escape(at)?),
                Some(c) if c == quote => return Ok(text),
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self, at: Position) -> Result<char, RuleError> {
        match self.next() {
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some('r') => Ok('\r'),
            Some(c @ ('\\' | '"' | '\'')) => Ok(c),
            Some(c) => {
                let known = r#"\\, \", \', \n, \r and \t are"#;
                Err(RuleError::at(at, format!("`\\{c}` is no escape that is read: {known}")))
            }
            None => Err(RuleError::at(at, "the text ends in an escape")),
        }
    }
}
