//! The tools of a server, as it lists them. Each is read by itself: one that is broken loses nothing but itself.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use tenon_tools::{JsonSchema, mcp_input_schema, mcp_output_schema};
use tokio_util::sync::CancellationToken;

use crate::error::RequestError;
use crate::link::{Ask, Asker, Limits, Link};

/// How many pages of a list are read. A server may give the same cursor again, and an empty one is legal: only their
/// number says that a list does not end.
pub(crate) const MAX_PAGES: usize = 100;
/// How many entries of a list are taken.
pub(crate) const MAX_ENTRIES: usize = 20_000;

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteTool {
    /// Its name there.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// The schema of its arguments, as it came.
    pub input_schema: Value,
    /// The schema of its structured results, as it came.
    pub output_schema: Option<Value>,
    /// What it says of its effects.
    pub annotations: ToolAnnotations,
    /// Its `_meta`: for the host, never for the model.
    pub meta: Option<Value>,
}

/// What a tool says of its effects. Absent is not false.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolAnnotations {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `openWorldHint`.
    pub open_world: Option<bool>,
}

impl RemoteTool {
    /// A tool without annotations.
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: Value) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: description.into(),
            input_schema,
            output_schema: None,
            annotations: ToolAnnotations::default(),
            meta: None,
        }
    }

    /// Reads one entry of a list.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn read(mut raw: Value) -> Result<Self, String> {
        let Some(members) = raw.as_object_mut() else {
            return Err("an entry of the list is no object".to_owned());
        };
        let Some(Value::String(name)) = members.remove("name") else {
            return Err("a tool has no name".to_owned());
        };
        let text = |value: Option<Value>| match value {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let annotations = members.remove("annotations").unwrap_or_default();
        let hint = |hint: &str| annotations.get(hint).and_then(Value::as_bool);
        let title = text(members.remove("title"));
        Ok(Self {
            description: text(members.remove("description")).unwrap_or_default(),
            input_schema: input_schema(&name, members.remove("inputSchema"))?,
            output_schema: members.remove("outputSchema").filter(Value::is_object),
            annotations: ToolAnnotations {
                read_only: hint("readOnlyHint"),
                destructive: hint("destructiveHint"),
                open_world: hint("openWorldHint"),
            },
            title: title.or_else(|| text(annotations.get("title").cloned())),
            meta: members.remove("_meta").filter(Value::is_object),
            name,
        })
    }

    /// The tool as an entry of a list. What it does not say is null.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
            "annotations": {
                "readOnlyHint": self.annotations.read_only,
                "destructiveHint": self.annotations.destructive,
                "openWorldHint": self.annotations.open_world,
            },
            "_meta": self.meta,
        })
    }

    /// The schema of its arguments as the model is shown it.
    ///
    /// # Errors
    /// When there is none that could be shown.
    pub(crate) fn parameters(&self) -> Result<JsonSchema, String> {
        mcp_input_schema(&self.input_schema).map_err(|error| format!("tool {}: {error}", self.name))
    }

    /// What a script gets of it.
    pub(crate) fn result_schema(&self) -> JsonSchema {
        mcp_output_schema(self.output_schema.as_ref())
    }
}

/// A schema that says nothing allows any object.
fn input_schema(tool: &str, raw: Option<Value>) -> Result<Value, String> {
    match raw {
        Some(schema @ Value::Object(_)) => Ok(schema),
        None | Some(Value::Null | Value::Bool(true)) => Ok(json!({ "type": "object" })),
        // So stands what cannot be read as well.
        Some(Value::Bool(false)) => {
            Err(format!("the inputSchema of tool {tool} allows nothing, or cannot be read"))
        }
        Some(_) => Err(format!("the inputSchema of tool {tool} is no schema")),
    }
}

/// The tools of a server, and what was wrong with the rest.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Listed {
    pub(crate) tools: Vec<RemoteTool>,
    pub(crate) warnings: Vec<String>,
}

/// Lists the tools, page by page.
///
/// # Errors
/// When a page does not come.
pub(crate) async fn list_tools(
    link: &dyn Link,
    limits: Limits,
    cancellation: &CancellationToken,
) -> Result<Listed, RequestError> {
    let (entries, mut warnings) =
        list_all(link, |cursor| Ask::ListTools { cursor }, "tools", limits, cancellation).await?;
    let (mut tools, mut names) = (Vec::with_capacity(entries.len()), HashSet::new());
    for entry in entries {
        match RemoteTool::read(entry) {
            Ok(tool) if names.insert(tool.name.clone()) => tools.push(tool),
            Ok(tool) => warnings.push(format!("tool {} is listed twice; the first one is taken", tool.name)),
            Err(wrong) => warnings.push(wrong),
        }
    }
    Ok(Listed { tools, warnings })
}

/// Lists whatever a method lists, up to the bounds, and what was wrong.
///
/// # Errors
/// When a page does not come.
pub(crate) async fn list_all(
    link: &dyn Link,
    ask: impl Fn(Option<String>) -> Ask + Send + Sync,
    member: &str,
    limits: Limits,
    cancellation: &CancellationToken,
) -> Result<(Vec<Value>, Vec<String>), RequestError> {
    let (mut entries, mut warnings, mut cursor) = (Vec::new(), Vec::new(), None);
    for page in 0.. {
        if page == MAX_PAGES || entries.len() >= MAX_ENTRIES {
            warnings.push(format!("the list of {member} does not end: {} entries are taken", entries.len()));
            break;
        }
        let asker = Asker::other(cancellation);
        let mut answer = link.ask(ask(cursor.take()), limits, asker).await?;
        let answer = answer.as_object_mut().map(std::mem::take).unwrap_or_default();
        let (more, next) = page_of(answer, member)?;
        entries.extend(more);
        match next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    entries.truncate(MAX_ENTRIES);
    Ok((entries, warnings))
}

/// The entries of a page, and where the next one begins.
fn page_of(mut page: Map<String, Value>, member: &str) -> Result<(Vec<Value>, Option<String>), RequestError> {
    let Some(Value::Array(entries)) = page.remove(member) else {
        return Err(RequestError::Unexpected);
    };
    let next = match page.remove("nextCursor") {
        Some(Value::String(next)) => Some(next),
        _ => None,
    };
    Ok((entries, next))
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
