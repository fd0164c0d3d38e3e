//! Objects: members by name, their descriptions as comments, and what other members may be.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Place, TooMuch, Type, TypeWriter};
use crate::surface::names::is_js_identifier;

/// One step to the right.
const INDENT: &str = "  ";
/// What ends a line of TypeScript, and so a comment.
const LINE_ENDS: [char; 4] = ['\n', '\r', '\u{2028}', '\u{2029}'];

/// What is said of an object.
struct Object<'a> {
    /// By name, in order.
    members: Vec<(&'a String, &'a Value)>,
    required: HashSet<&'a str>,
    /// What is said of members without a name of their own.
    others: Option<&'a Value>,
}

impl<'a> TypeWriter<'a> {
    /// Members sorted by name, on one line unless one of them has a description.
    pub(super) fn object(&mut self, node: &'a Map<String, Value>, at: Place) -> Result<Type, TooMuch> {
        let mut members: Vec<(&String, &Value)> =
            node.get("properties").and_then(Value::as_object).into_iter().flatten().collect();
        // Each becomes more than a byte: what cannot fit is not even sorted.
        self.spend(members.len())?;
        members.sort_unstable_by_key(|(name, _)| *name);
        let object = Object { members, required: required(node), others: node.get("additionalProperties") };
        if object.members.iter().any(|(_, schema)| comment_lines(schema).next().is_some()) {
            self.commented(&object, at)
        } else {
            self.on_one_line(&object, at)
        }
    }

    fn on_one_line(&mut self, object: &Object<'a>, at: Place) -> Result<Type, TooMuch> {
        let mut parts = Vec::with_capacity(object.members.len() + 1);
        for member in &object.members {
            parts.push(self.member(member, object, at)?);
        }
        parts.extend(self.others(object, at)?);
        if parts.is_empty() { self.written("{}") } else { self.written(format!("{{ {} }}", parts.join(" "))) }
    }

    fn commented(&mut self, object: &Object<'a>, at: Place) -> Result<Type, TooMuch> {
        let inner = Place { indent: at.indent + 1, ..at };
        let margin = &*INDENT.repeat(inner.indent);
        let mut text = "{\n".to_owned();
        for member in &object.members {
            for line in comment_lines(member.1) {
                self.spend(line.len())?;
                text.extend([margin, "// ", line, "\n"]);
            }
            text.extend([margin, self.member(member, object, inner)?.as_str(), "\n"]);
        }
        if let Some(others) = self.others(object, inner)? {
            text.extend([margin, others.as_str(), "\n"]);
        }
        text.extend([INDENT.repeat(at.indent).as_str(), "}"]);
        self.written(text)
    }

    fn member(
        &mut self,
        (name, schema): &(&'a String, &'a Value),
        object: &Object<'a>,
        at: Place,
    ) -> Result<String, TooMuch> {
        let optional = if object.required.contains(name.as_str()) { "" } else { "?" };
        let member = self.schema(schema, at.inside())?;
        let name =
            if is_js_identifier(name) { (*name).clone() } else { Value::from(name.as_str()).to_string() };
        Ok(self.written(format!("{name}{optional}: {};", member.text))?.text)
    }

    /// What members without a name of their own may be; none where there may be none, or where nothing is said of them
    /// beside members that are named.
    fn others(&mut self, object: &Object<'a>, at: Place) -> Result<Option<String>, TooMuch> {
        match object.others {
            Some(Value::Bool(false)) => Ok(None),
            None if !object.members.is_empty() => Ok(None),
            None | Some(Value::Bool(true)) => Ok(Some("[key: string]: unknown;".to_owned())),
            Some(schema) => {
                let others = self.schema(schema, at.inside())?;
                Ok(Some(self.written(format!("[key: string]: {};", others.text))?.text))
            }
        }
    }
}

fn required(node: &Map<String, Value>) -> HashSet<&str> {
    let required = node.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The lines of a description that say something.
fn comment_lines(schema: &Value) -> impl Iterator<Item = &str> {
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    description.split(LINE_ENDS).map(str::trim).filter(|line| !line.is_empty())
}
