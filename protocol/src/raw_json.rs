//! JSON kept as it came: the text is the value.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// One JSON value as its text: member order, nulls, unknown members and every digit of a number stay as they came.
///
/// Cheap to clone. The text never holds a line break (between tokens they become spaces, inside strings JSON forbids
/// them), so that it can be a line of a JSON Lines file as it stands.
#[derive(Clone)]
pub struct RawJson(Arc<RawValue>);

impl RawJson {
    /// Checks that `json` is one JSON value and keeps its text.
    ///
    /// # Errors
    /// serde_json's, when it is not.
    pub fn parse(json: &str) -> serde_json::Result<Self> {
        serde_json::from_str::<&RawValue>(json).map(Self::from)
    }

    /// Writes `value` as JSON.
    ///
    /// # Errors
    /// serde_json's, when `value` has no JSON form (a map with keys that are no strings).
    pub fn of<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Self> {
        serde_json::value::to_raw_value(value).map(Self::from)
    }

    /// The JSON text.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Reads the text as a `T`.
    ///
    /// # Errors
    /// serde_json's, when it does not fit; also for numbers that a [`Value`] cannot hold (`1e400`).
    pub fn to<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        serde_json::from_str(self.get())
    }
}

impl std::ops::Deref for RawJson {
    type Target = RawValue;

    fn deref(&self) -> &RawValue {
        &self.0
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(raw: Box<RawValue>) -> Self {
        Self(Arc::from(on_one_line(raw)))
    }
}

impl From<&RawValue> for RawJson {
    fn from(raw: &RawValue) -> Self {
        Self::from(raw.to_owned())
    }
}

impl From<RawJson> for Box<RawValue> {
    fn from(raw: RawJson) -> Self {
        raw.0.as_ref().to_owned()
    }
}

impl From<Value> for RawJson {
    fn from(value: Value) -> Self {
        // A Value always has a JSON form.
        Self::of(&value).unwrap_or_default()
    }
}

/// JSON `null`.
impl Default for RawJson {
    fn default() -> Self {
        Self(Arc::from(RawValue::NULL.to_owned()))
    }
}

/// Equal texts, or texts that mean the same JSON value.
impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        if self.get() == other.get() {
            return true;
        }
        matches!((self.to::<Value>(), other.to::<Value>()), (Ok(a), Ok(b)) if a == b)
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from)
    }
}

/// Puts spaces for the line breaks between tokens (events of several `data:` lines have them).
fn on_one_line(raw: Box<RawValue>) -> Box<RawValue> {
    if memchr::memchr2(b'\n', b'\r', raw.get().as_bytes()).is_none() {
        return raw;
    }
    let spaced = raw.get().replace(['\n', '\r'], " ");
    RawValue::from_string(spaced).unwrap_or(raw)
}

#[cfg(test)]
#[path = "raw_json_tests.rs"]
mod tests;
