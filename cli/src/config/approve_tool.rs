//! Writes `approval_mode = "approve"` for one tool of a server into the text of a configuration file, and leaves every
//! other byte of it as it is.

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

const MODE: &str = "approval_mode";
const DEFAULT_MODE: &str = "default_tools_approval_mode";

/// The text with the mode of one tool set, or none where it is set already. `whole` is the text as it was read.
///
/// # Errors
/// Where the file has no such server, or says something else of the tool than that it is decided by its annotations;
/// and where there is no place for it.
pub(super) fn approve_tool(
    text: &str,
    whole: &DeTable<'_>,
    server: &str,
    tool: &str,
) -> Result<Option<String>, String> {
    let path = ["mcp_servers", server, "tools", tool];
    let tables = tables(whole, &path)?;
    let member = |depth: usize, key: &str| tables.get(depth)?.get_ref().as_table()?.get(key);
    if tables.len() < 2 {
        return Err(format!("it defines no MCP server `{server}`"));
    }
    let asks = |key: &str| Err(format!("it wants the tool asked about each time ({key} = \"prompt\")"));
    let texts = match member(3, MODE).map(|mode| (mode, mode.get_ref().as_str())) {
        Some((_, Some("approve"))) => return Ok(None),
        Some((_, Some("prompt"))) => return asks(MODE),
        Some((mode, Some("auto"))) => {
            let span = mode.span();
            vec![spliced(text, span.start, span.end, "\"approve\"")]
        }
        Some(_) => return Err(format!("{}.{MODE} is no approval mode", dotted(&path))),
        None if member(1, DEFAULT_MODE).is_some_and(|mode| mode.get_ref().as_str() == Some("prompt")) => {
            return asks(DEFAULT_MODE);
        }
        None => with_a_new_line(text, &path, &tables),
    };
    let wanted = wanted(text, &path);
    let fits = |text: &String| wanted.is_some() && text.parse::<Table>().ok() == wanted;
    let written = texts.into_iter().flatten().find(fits);
    written.map(Some).ok_or_else(|| format!("there is no place in it for {}.{MODE}", dotted(&path)))
}

/// The tables on the way, as far as they are there.
fn tables<'t, 'i>(whole: &'t DeTable<'i>, path: &[&str]) -> Result<Vec<&'t Spanned<DeValue<'i>>>, String> {
    let mut found = Vec::new();
    let mut table = whole;
    for (depth, key) in path.iter().enumerate() {
        let Some(value) = table.get(*key) else { break };
        let upto = path.get(..=depth).unwrap_or_default();
        let inner = value.get_ref().as_table();
        table = inner.ok_or_else(|| format!("{} holds a value and no table", dotted(upto)))?;
        found.push(value);
    }
    Ok(found)
}

/// The forms in which the line may stand, the most fitting first. Not each of them is right for every file.
fn with_a_new_line(text: &str, path: &[&str; 4], tables: &[&Spanned<DeValue<'_>>]) -> Vec<Option<String>> {
    let mut texts = Vec::new();
    // In the innermost table that is written in braces: nothing can be added to that one from outside.
    for (depth, table) in tables.iter().enumerate().rev() {
        let below = path.get(depth + 1..).unwrap_or_default();
        if text.get(table.span()).is_some_and(|text| text.starts_with('{')) {
            texts.push(in_braces(text, table, below));
        }
    }
    if let Some(tool) = tables.get(3) {
        texts.push(under_header(text, tool));
        let keys = tool.get_ref().as_table().into_iter().flat_map(|table| table.keys());
        texts.extend(keys.map(|key| beside_key(text, key.span().start)));
    }
    texts.push(Some(at_the_end(text, path)));
    texts
}

/// `{ tools.x.approval_mode = "approve", ...`.
fn in_braces(text: &str, table: &Spanned<DeValue<'_>>, below: &[&str]) -> Option<String> {
    let at = table.span().start + 1;
    let comma = if table.get_ref().as_table()?.is_empty() { "" } else { "," };
    let blank = if text.get(at..)?.starts_with(char::is_whitespace) { "" } else { " " };
    let key: String = below.iter().map(|key| quoted(key) + ".").collect();
    spliced(text, at, at, &format!(" {key}{MODE} = \"approve\"{comma}{blank}"))
}

/// The first line below `[mcp_servers.s.tools.x]`.
fn under_header(text: &str, table: &Spanned<DeValue<'_>>) -> Option<String> {
    let span = table.span();
    text.get(span.clone()).filter(|header| header.starts_with('['))?;
    let rest = text.get(span.end..)?;
    let (at, before) = match rest.find('\n') {
        Some(end) => (span.end + end + 1, ""),
        None => (text.len(), line_end(text)),
    };
    spliced(text, at, at, &format!("{before}{MODE} = \"approve\"{}", line_end(text)))
}

/// A line like the one of another key of the same table: with what stands before that key.
fn beside_key(text: &str, key: usize) -> Option<String> {
    let line = text.get(..key)?.rfind('\n').map_or(0, |end| end + 1);
    let before = text.get(line..key)?;
    spliced(text, line, line, &format!("{before}{MODE} = \"approve\"{}", line_end(text)))
}

/// A table of its own behind everything.
fn at_the_end(text: &str, path: &[&str]) -> String {
    let end = line_end(text);
    let close = if text.is_empty() || text.ends_with('\n') { "" } else { end };
    format!("{text}{close}{end}[{}]{end}{MODE} = \"approve\"{end}", dotted(path))
}

/// What the file is to say: what it says, and this.
fn wanted(text: &str, path: &[&str]) -> Option<Table> {
    let mut whole: Table = text.parse().ok()?;
    let mut table = &mut whole;
    for key in path {
        table = table.entry(*key).or_insert_with(|| Value::Table(Table::new())).as_table_mut()?;
    }
    table.insert(MODE.to_owned(), Value::String("approve".to_owned()));
    Some(whole)
}

fn spliced(text: &str, start: usize, end: usize, new: &str) -> Option<String> {
    Some([text.get(..start)?, new, text.get(end..)?].concat())
}

/// Lines end as they do in the file.
fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn dotted(path: &[&str]) -> String {
    path.iter().map(|key| quoted(key)).collect::<Vec<_>>().join(".")
}

/// A key as TOML has it.
fn quoted(key: &str) -> String {
    if !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        return key.to_owned();
    }
    let mut text = String::from('"');
    for c in key.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => text.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
#[path = "approve_tool_tests.rs"]
mod tests;
