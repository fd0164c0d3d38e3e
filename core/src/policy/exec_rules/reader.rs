//! Reads a rule file: literal calls, and nothing else.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec::IntoIter;

use super::ExecRules;
use super::error::{Position, RuleError};
use super::rule::{Decision, HostExecutable, NetworkRule, PatternWord, PrefixRule};
use super::token::{Token, tokens};

/// Lists within lists that a file may hold.
const MAX_DEPTH: usize = 8;

/// What stands in a rule file.
const CALLS: &str = "prefix_rule(...), host_executable(...) and network_rule(...)";

/// A file's rules, and what is to hold of them.
pub(super) struct Read {
    pub(super) rules: ExecRules,
    examples: Vec<Example>,
}

/// A command that one rule must or must not match.
struct Example {
    /// Which of the file's rules.
    rule: usize,
    words: Vec<String>,
    matches: bool,
    at: Position,
}

impl Read {
    /// Tries the examples: those of `match` must match their rule, those of `not_match` must not.
    pub(super) fn check(&self) -> Result<(), RuleError> {
        for Example { rule, words, matches, at } in &self.examples {
            let Some(rule) = self.rules.prefixes.get(*rule) else { continue };
            let known: Vec<Option<&str>> = words.iter().map(|word| Some(word.as_str())).collect();
            if rule.speaks_of(&known) != *matches {
                let (list, fault) = if *matches { ("match", "does not") } else { ("not_match", "does") };
                let words = shown(words);
                return Err(RuleError::at(*at, format!("{list}: the rule {fault} match `{words}`")));
            }
        }
        Ok(())
    }
}

/// Words as a shell would read them.
fn shown(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

/// Reads a file's text.
pub(super) fn read(text: &str) -> Result<Read, RuleError> {
    let mut parser =
        Parser { tokens: tokens(text)?.into_iter().peekable(), last: Position { line: 1, column: 1 } };
    let mut read = Read { rules: ExecRules::default(), examples: Vec::new() };
    while let Some((token, at)) = parser.next() {
        match token {
            Token::LineEnd => {}
            Token::Name(name) => {
                let apply = function(&name, at)?;
                apply(parser.call(at)?, &mut read)?;
                parser.end_of_statement()?;
            }
            Token::Text(_) | Token::Mark(_) | Token::Other(_) => {
                let found = token.shown();
                let what = format!("a rule file holds calls of {CALLS} alone, found {found}");
                return Err(RuleError::at(at, what));
            }
        }
    }
    Ok(read)
}

/// A literal value.
enum Value {
    Text(String),
    List(Vec<(Value, Position)>),
}

/// One call: its arguments by name.
struct Call {
    at: Position,
    arguments: BTreeMap<String, (Value, Position)>,
}

struct Parser {
    tokens: Peekable<IntoIter<(Token, Position)>>,
    /// Where the last token stood, for what is missing at the end.
    last: Position,
}

impl Parser {
    fn next(&mut self) -> Option<(Token, Position)> {
        let next = self.tokens.next();
        if let Some((_, at)) = &next {
            self.last = *at;
        }
        next
    }

    /// The next token inside of parentheses, where line ends mean nothing.
    fn inside(&mut self, expected: &str) -> Result<(Token, Position), RuleError> {
        while let Some((token, at)) = self.next() {
            if token != Token::LineEnd {
                return Ok((token, at));
            }
        }
        Err(RuleError::at(self.last, format!("the file ends where {expected} is expected")))
    }

    fn expect(&mut self, mark: char) -> Result<(), RuleError> {
        let expected = format!("`{mark}`");
        match self.inside(&expected)? {
            (Token::Mark(found), _) if found == mark => Ok(()),
            (other, at) => Err(unexpected(&expected, &other, at)),
        }
    }

    /// The rest of a call whose name stood at `at`: parentheses with named arguments.
    fn call(&mut self, at: Position) -> Result<Call, RuleError> {
        // The parenthesis belongs to the name: a line end between them would end the statement.
        match self.next() {
            Some((Token::Mark('('), _)) => {}
            Some((other, at)) => return Err(unexpected("`(`", &other, at)),
            None => return Err(RuleError::at(at, "expected a call: `(` is missing behind the name")),
        }
        let mut arguments = BTreeMap::new();
        loop {
            match self.inside("an argument or `)`")? {
                (Token::Mark(')'), _) => return Ok(Call { at, arguments }),
                (Token::Name(name), at) => {
                    self.expect('=')?;
                    let value = self.value(0)?;
                    if arguments.contains_key(&name) {
                        return Err(RuleError::at(at, format!("`{name}` is given twice")));
                    }
                    arguments.insert(name, value);
                }
                (other, at) => {
                    return Err(unexpected("an argument by its name, as in `pattern = ...`", &other, at));
                }
            }
            match self.inside("`,` or `)`")? {
                (Token::Mark(','), _) => {}
                (Token::Mark(')'), _) => return Ok(Call { at, arguments }),
                (other, at) => return Err(unexpected("`,` or `)`", &other, at)),
            }
        }
    }

    /// A string, or a list.
    fn value(&mut self, depth: usize) -> Result<(Value, Position), RuleError> {
        match self.inside("a string or a list")? {
            (Token::Text(text), at) => Ok((Value::Text(text), at)),
            (Token::Mark('['), at) if depth < MAX_DEPTH => Ok((Value::List(self.list(depth)?), at)),
            (Token::Mark('['), at) => Err(RuleError::at(at, "lists are nested too deeply")),
            (other, at) => Err(unexpected("a string or a list", &other, at)),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Vec<(Value, Position)>, RuleError> {
        let mut elements = Vec::new();
        loop {
            while self.tokens.next_if(|(token, _)| *token == Token::LineEnd).is_some() {}
            if self.tokens.next_if(|(token, _)| *token == Token::Mark(']')).is_some() {
                return Ok(elements);
            }
            elements.push(self.value(depth + 1)?);
            match self.inside("`,` or `]`")? {
                (Token::Mark(','), _) => {}
                (Token::Mark(']'), _) => return Ok(elements),
                (other, at) => return Err(unexpected("`,` or `]`", &other, at)),
            }
        }
    }

    fn end_of_statement(&mut self) -> Result<(), RuleError> {
        match self.next() {
            None | Some((Token::LineEnd, _)) => Ok(()),
            Some((other, at)) => Err(unexpected("the end of the line", &other, at)),
        }
    }
}

fn unexpected(expected: &str, found: &Token, at: Position) -> RuleError {
    RuleError::at(at, format!("expected {expected}, found {}", found.shown()))
}

/// What takes over what a call says.
type Function = fn(Call, &mut Read) -> Result<(), RuleError>;

fn function(name: &str, at: Position) -> Result<Function, RuleError> {
    match name {
        "prefix_rule" => Ok(prefix_rule),
        "host_executable" => Ok(host_executable),
        "network_rule" => Ok(network_rule),
        _ => Err(RuleError::at(at, format!("`{name}` is unknown: a rule file holds calls of {CALLS} alone"))),
    }
}

fn prefix_rule(mut call: Call, read: &mut Read) -> Result<(), RuleError> {
    let (pattern, at) = call.list("pattern")?;
    let pattern: Vec<PatternWord> = pattern.into_iter().map(pattern_word).collect::<Result<_, _>>()?;
    if pattern.is_empty() {
        return Err(RuleError::at(at, "an empty pattern would match every command"));
    }
    let decision = call.decision()?.unwrap_or(Decision::Allow);
    let justification = call.justification()?;
    let rule = read.rules.prefixes.len();
    for (list, matches) in [("match", true), ("not_match", false)] {
        let Some((value, at)) = call.arguments.remove(list) else { continue };
        for example in elements(list, value, at)? {
            let (words, at) = example_words(example)?;
            read.examples.push(Example { rule, words, matches, at });
        }
    }
    call.nothing_else()?;
    read.rules.prefixes.push(PrefixRule { pattern, decision, justification });
    Ok(())
}

fn host_executable(mut call: Call, read: &mut Read) -> Result<(), RuleError> {
    let (name, at) = call.text("name")?;
    if name.is_empty() || name.contains('/') {
        return Err(RuleError::at(at, "`name` is the bare name of a program, without a path"));
    }
    let (paths, _) = call.list("paths")?;
    let paths = paths.into_iter().map(|path| match text_of(path)? {
        (path, _) if path.starts_with('/') => Ok(path),
        (_, at) => Err(RuleError::at(at, "a path of `paths` is absolute")),
    });
    let paths = paths.collect::<Result<_, RuleError>>()?;
    call.nothing_else()?;
    read.rules.executables.push(HostExecutable { name, paths });
    Ok(())
}

fn network_rule(mut call: Call, read: &mut Read) -> Result<(), RuleError> {
    let (host, at) = call.text("host")?;
    if host.trim().is_empty() {
        return Err(RuleError::at(at, "`host` is blank"));
    }
    let (protocol, _) = call.text("protocol")?;
    let at = call.at;
    let decision = call.decision()?.ok_or_else(|| RuleError::at(at, "`decision` is missing"))?;
    let justification = call.justification()?;
    call.nothing_else()?;
    read.rules.networks.push(NetworkRule { host, protocol, decision, justification });
    Ok(())
}

impl Call {
    fn take(&mut self, name: &str) -> Result<(Value, Position), RuleError> {
        self.arguments.remove(name).ok_or_else(|| RuleError::at(self.at, format!("`{name}` is missing")))
    }

    fn list(&mut self, name: &str) -> Result<(Vec<(Value, Position)>, Position), RuleError> {
        let (value, at) = self.take(name)?;
        Ok((elements(name, value, at)?, at))
    }

    fn text(&mut self, name: &str) -> Result<(String, Position), RuleError> {
        text_of(self.take(name)?)
    }

    fn decision(&mut self) -> Result<Option<Decision>, RuleError> {
        let Some(value) = self.arguments.remove("decision") else { return Ok(None) };
        let (word, at) = text_of(value)?;
        Decision::from_word(&word).map(Some).ok_or_else(|| {
            RuleError::at(
                at,
                format!("the decision {word:?} is unknown: \"allow\", \"prompt\" or \"forbidden\""),
            )
        })
    }

    fn justification(&mut self) -> Result<Option<String>, RuleError> {
        let Some(value) = self.arguments.remove("justification") else { return Ok(None) };
        match text_of(value)? {
            (text, at) if text.trim().is_empty() => Err(RuleError::at(at, "the justification is blank")),
            (text, _) => Ok(Some(text)),
        }
    }

    fn nothing_else(self) -> Result<(), RuleError> {
        match self.arguments.into_iter().next() {
            None => Ok(()),
            Some((name, (_, at))) => Err(RuleError::at(at, format!("`{name}` is no argument of this call"))),
        }
    }
}

fn elements(name: &str, value: Value, at: Position) -> Result<Vec<(Value, Position)>, RuleError> {
    match value {
        Value::List(elements) => Ok(elements),
        Value::Text(_) => Err(RuleError::at(at, format!("`{name}` is a list"))),
    }
}

fn text_of((value, at): (Value, Position)) -> Result<(String, Position), RuleError> {
    match value {
        Value::Text(text) => Ok((text, at)),
        Value::List(_) => Err(RuleError::at(at, "expected a string, found a list")),
    }
}

fn pattern_word((value, at): (Value, Position)) -> Result<PatternWord, RuleError> {
    let alternatives = match value {
        Value::Text(text) => vec![(text, at)],
        Value::List(list) => list.into_iter().map(text_of).collect::<Result<_, _>>()?,
    };
    if alternatives.is_empty() {
        return Err(RuleError::at(at, "a list of no alternatives would match no command"));
    }
    let words = alternatives.into_iter().map(|(word, at)| {
        if word.is_empty() {
            Err(RuleError::at(at, "an empty word is no part of a pattern"))
        } else {
            Ok(word)
        }
    });
    words.collect::<Result<_, _>>().map(PatternWord)
}

/// An example: a line as a shell would split it, or a list of words.
fn example_words((value, at): (Value, Position)) -> Result<(Vec<String>, Position), RuleError> {
    let words = match value {
        Value::Text(line) => {
            shlex::split(&line).ok_or_else(|| RuleError::at(at, "this example is no line of a shell"))?
        }
        Value::List(list) => {
            let words = list.into_iter().map(|word| text_of(word).map(|(word, _)| word));
            words.collect::<Result<_, _>>()?
        }
    };
    if words.is_empty() { Err(RuleError::at(at, "an empty example")) } else { Ok((words, at)) }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
