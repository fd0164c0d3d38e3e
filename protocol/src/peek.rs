//! A look at one member of an object, without reading the rest.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// The text of the first member `name` of the object `json`; `None` when there is none or it is no string.
///
/// Reads up to the member only, so the rest need not be valid.
pub(crate) fn peek_text<'de>(json: &'de str, name: &'static str) -> Option<Cow<'de, str>> {
    let mut found = None;
    let mut reader = serde_json::Deserializer::from_str(json);
    // Stopping inside an object is an error to serde_json; what counts is what was found.
    let _ = reader.deserialize_map(Peek { name, found: &mut found });
    found
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
