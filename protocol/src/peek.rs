//! A look at one member of an object, without reading the rest.

use std::borrow::Cow;
use std::fmt;

use memchr::memchr2;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// The text of the first member `name` of the object `json`; `None` when there is none or it is no string.
///
/// Reads up to the member only, so the rest need not be valid.
pub(crate) fn peek_text<'de>(json: &'de str, name: &'static str) -> Option<Cow<'de, str>> {
    if let Some(text) = glance(json, name) {
        return Some(Cow::Borrowed(text));
    }
    let mut found = None;
    let mut reader = serde_json::Deserializer::from_str(json);
    // Stopping inside an object is an error to serde_json; what counts is what was found.
    let _ = reader.deserialize_map(Peek { name, found: &mut found });
    found
}

/// The quick way, for compact JSON with plain members before the one that is looked for: most events begin with
/// their type, or with a number before it. `None` says nothing.
fn glance<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = json.strip_prefix('{')?;
    loop {
        let (key, after) = plain_string(rest)?;
        let value = after.strip_prefix(':')?;
        if key == name {
            return plain_string(value).map(|(text, _)| text);
        }
        rest = after_plain_value(value)?.strip_prefix(',')?;
    }
}

/// The string without escapes that `json` begins with, and what follows it.
fn plain_string(json: &str) -> Option<(&str, &str)> {
    let rest = json.strip_prefix('"')?;
    let (text, end) = rest.split_at_checked(memchr2(b'"', b'\\', rest.as_bytes())?)?;
    Some((text, end.strip_prefix('"')?))
}

/// What follows the string, number, literal or empty list that `json` begins with.
fn after_plain_value(json: &str) -> Option<&str> {
    let Some(mut rest) = json.strip_prefix('"') else {
        if let Some(after) = json.strip_prefix("[]") {
            return Some(after);
        }
        let end = json.bytes().position(|b| matches!(b, b',' | b'}' | b'{' | b'['))?;
        return json.get(end..);
    };
    loop {
        let end = rest.get(memchr2(b'"', b'\\', rest.as_bytes())?..)?;
        if let Some(after) = end.strip_prefix('"') {
            return Some(after);
        }
        rest = end.get(2..)?;
    }
}

struct Peek<'f, 'de> {
    name: &'static str,
    found: &'f mut Option<Cow<'de, str>>,
}

impl<'de> Visitor<'de> for Peek<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(is_it) = map.next_key_seed(IsName(self.name))? {
            if is_it {
                *self.found = Some(map.next_value_seed(Text)?);
                return Ok(());
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// Whether a key is this name.
struct IsName(&'static str);

impl<'de> DeserializeSeed<'de> for IsName {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for IsName {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}

/// A string, borrowed where it holds no escapes.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[cfg(test)]
#[path = "peek_tests.rs"]
mod tests;
