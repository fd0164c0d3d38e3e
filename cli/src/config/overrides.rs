//! `-c key=value`: one key of the configuration for one run.

use std::str::FromStr;

use toml::{Table, Value};

/// A dotted key and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConfigOverride {
    /// As it was written, for messages.
    pub(crate) option: String,
    path: Vec<String>,
    value: Value,
}

impl ConfigOverride {
    /// Reads `key=value`. The key is dotted as in TOML, quotes included; the value is TOML, or else, where it is none,
    /// a bare string.
    ///
    /// # Errors
    /// Without `=`, or when the key is none.
    pub(crate) fn parse(option: &str) -> Result<Self, String> {
        let Some((key, value)) = option.split_once('=') else {
            return Err("expected key=value".to_owned());
        };
        let path = path_of(key.trim()).ok_or_else(|| format!("{key:?} is no dotted key such as a.b"))?;
        let value = value.trim();
        let value = Value::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        Ok(Self { option: option.to_owned(), path, value })
    }

    /// Puts the value into a table of the whole configuration.
    ///
    /// # Errors
    /// When something on the way is no table.
    pub(crate) fn apply(&self, table: &mut Table) -> Result<(), String> {
        let Some((last, parents)) = self.path.split_last() else { return Ok(()) };
        let mut table = table;
        for (depth, key) in parents.iter().enumerate() {
            let next = table.entry(key.clone()).or_insert_with(|| Value::Table(Table::new()));
            let Some(next) = next.as_table_mut() else {
                let upto = self.path.get(..=depth).unwrap_or_default().join(".");
                return Err(format!("{upto} holds a value and no table"));
            };
            table = next;
        }
        table.insert(last.clone(), self.value.clone());
        Ok(())
    }
}

/// The parts of a dotted key, by TOML's own rules.
fn path_of(key: &str) -> Option<Vec<String>> {
    if key.contains(['\n', '\r', '#']) {
        return None;
    }
    let mut table = Table::from_str(&format!("{key} = 0")).ok()?;
    let mut path = Vec::new();
    loop {
        let (key, value) = std::mem::take(&mut table).into_iter().next()?;
        path.push(key);
        match value {
            Value::Table(inner) => table = inner,
            _ => return Some(path),
        }
    }
}

#[cfg(test)]
#[path = "overrides_tests.rs"]
mod tests;
