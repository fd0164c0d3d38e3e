//! hooks.json (core.md 8.2): what is configured, and what of it cannot be used.
//!
//! A handler or a group that does not fit is left out with a warning; what stands beside it is used.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tenon_tools::{HookEventName, HookSource};

use super::matcher::Matcher;
use super::{HookContract, OnError};
use crate::read_user_file;

/// How long a hook may take where its configuration does not say.
pub const DEFAULT_HOOK_TIMEOUT: Duration = Duration::from_secs(600);

/// How large hooks.json may be, in bytes.
const HOOKS_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The shortest time a hook is given, whatever its configuration says.
const MIN_TIMEOUT_SECONDS: u64 = 1;

/// One handler of a file.
#[derive(Debug, Clone)]
pub struct ConfiguredHook {
    /// What it hears of.
    pub event: HookEventName,
    pub(crate) matcher: Matcher,
    /// The command, for a shell.
    pub command: String,
    /// How long it may take.
    pub timeout: Duration,
    /// What the user wants to read while it runs.
    pub status_message: Option<String>,
    /// How much it is told and trusted.
    pub contract: HookContract,
    /// The file it stands in.
    pub source_path: PathBuf,
    /// Whose file that is.
    pub source: HookSource,
    /// Which one it is among all handlers, from 0.
    pub display_order: usize,
}

/// What a file of hooks says.
#[derive(Debug, Clone, Default)]
pub struct HookConfig {
    /// What is to run, in order.
    pub hooks: Vec<ConfiguredHook>,
    /// What the operator should know of the rest.
    pub warnings: Vec<String>,
}

impl HookConfig {
    /// Reads the user's own file. One that is not there configures nothing; one that cannot be read or parsed
    /// configures nothing with a warning.
    pub fn load(path: &Path) -> Self {
        match read_user_file(path, HOOKS_MAX_BYTES) {
            Ok(None) => Self::default(),
            Ok(Some(bytes)) if bytes.len() as u64 > HOOKS_MAX_BYTES => {
                Self::unusable("read", path, &format!("it is larger than {HOOKS_MAX_BYTES} bytes"))
            }
            Ok(Some(bytes)) => match String::from_utf8(bytes) {
                Ok(text) => Self::parse(&text, path),
                Err(_) => Self::unusable("read", path, &"stream did not contain valid UTF-8"),
            },
            Err(error) => Self::unusable("read", path, &error),
        }
    }

    /// Reads the text of a user's file that lies at `path`.
    pub fn parse(text: &str, path: &Path) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut file = match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(file) => file,
            Err(error) => return Self::unusable("parse", path, &error),
        };
        match file.remove("hooks") {
            None | Some(Value::Null) => Self::default(),
            Some(Value::Object(events)) => Reading { path, config: Self::default() }.events(events),
            Some(_) => Self::unusable("parse", path, &"`hooks` is no object"),
        }
    }

    fn unusable(what: &str, path: &Path, error: &dyn Display) -> Self {
        let warning = format!("failed to {what} hooks config {}: {error}", path.display());
        Self { hooks: Vec::new(), warnings: vec![warning] }
    }
}

/// One matcher and its handlers. Members that are not known are passed over, here and below.
#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    matcher: Value,
    #[serde(default)]
    hooks: Vec<Value>,
}

/// What all handlers have.
#[derive(Deserialize)]
struct Tagged {
    r#type: String,
}

/// A handler of type `command`.
#[derive(Deserialize)]
struct CommandHandler {
    #[serde(default)]
    command: String,
    #[serde(alias = "timeoutSec")]
    timeout: Option<u64>,
    r#async: Option<bool>,
    #[serde(rename = "statusMessage")]
    status_message: Option<String>,
    extended: Option<bool>,
    #[serde(alias = "onError")]
    on_error: Option<OnError>,
}

/// Reads an object: a list would fit as well, member by member.
fn object<T: DeserializeOwned>(value: Value) -> Result<T, serde_json::Error> {
    Map::deserialize(&value)?;
    serde_json::from_value(value)
}

/// A file that is being read.
struct Reading<'a> {
    path: &'a Path,
    config: HookConfig,
}

impl Reading<'_> {
    fn events(mut self, mut events: Map<String, Value>) -> HookConfig {
        for event in HookEventName::ALL {
            match events.shift_remove(event.name()) {
                None | Some(Value::Null) => {}
                Some(Value::Array(groups)) => groups.into_iter().for_each(|group| self.group(event, group)),
                Some(_) => self.left_out(&format!("hooks of {}", event.name()), &"expected a list of groups"),
            }
        }
        for name in events.keys() {
            self.left_out("hooks", &format!("there is no event {name:?} here"));
        }
        self.config
    }

    fn group(&mut self, event: HookEventName, group: Value) {
        let Group { matcher, hooks } = match object(group) {
            Ok(group) => group,
            Err(error) => return self.left_out(&format!("a group of {} hooks", event.name()), &error),
        };
        let matcher = match self.matcher(event, &matcher) {
            Some(matcher) => matcher,
            None => return,
        };
        for handler in hooks {
            self.handler(event, &matcher, handler);
        }
    }

    /// The matcher of a group; none for one that cannot be used. These two events have nothing to match.
    fn matcher(&mut self, event: HookEventName, matcher: &Value) -> Option<Matcher> {
        if matches!(event, HookEventName::UserPromptSubmit | HookEventName::Stop) {
            return Some(Matcher::All);
        }
        let text = match matcher {
            Value::Null => None,
            Value::String(text) => Some(text.as_str()),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                self.left_out(&format!("a group of {} hooks", event.name()), &"its matcher is no string");
                return None;
            }
        };
        match Matcher::parse(text) {
            Ok(matcher) => Some(matcher),
            Err(error) => {
                let path = self.path.display();
                self.warn(format!("invalid matcher {:?} in {path}: {error}", text.unwrap_or_default()));
                None
            }
        }
    }

    fn handler(&mut self, event: HookEventName, matcher: &Matcher, handler: Value) {
        let what = format!("a {} hook", event.name());
        let Tagged { r#type: kind } = match object(handler.clone()) {
            Ok(tagged) => tagged,
            Err(error) => return self.left_out(&what, &error),
        };
        match kind.as_str() {
            "command" => {}
            kind @ ("prompt" | "agent") => return self.unsupported(kind),
            other => return self.left_out(&what, &format!("there is no type {other:?}")),
        }
        match object(handler) {
            Ok(handler) => self.command(event, matcher, handler),
            Err(error) => self.left_out(&what, &error),
        }
    }

    fn command(&mut self, event: HookEventName, matcher: &Matcher, handler: CommandHandler) {
        let CommandHandler { command, timeout, r#async, status_message, extended, on_error } = handler;
        if command.trim().is_empty() {
            return self.warn(format!("skipping empty hook command in {}", self.path.display()));
        }
        if r#async == Some(true) {
            return self.unsupported("async");
        }
        let timeout = timeout.map(|seconds| Duration::from_secs(seconds.max(MIN_TIMEOUT_SECONDS)));
        self.config.hooks.push(ConfiguredHook {
            event,
            matcher: matcher.clone(),
            command,
            timeout: timeout.unwrap_or(DEFAULT_HOOK_TIMEOUT),
            status_message,
            contract: HookContract {
                extended: extended.unwrap_or_default(),
                on_error: on_error.unwrap_or_default(),
            },
            source_path: self.path.to_owned(),
            source: HookSource::User,
            display_order: self.config.hooks.len(),
        });
    }

    fn unsupported(&mut self, kind: &str) {
        let path = self.path.display();
        self.warn(format!("skipping {kind} hook in {path}: {kind} hooks are not supported yet"));
    }

    fn left_out(&mut self, what: &str, why: &dyn Display) {
        self.warn(format!("skipping {what} in {}: {why}", self.path.display()));
    }

    fn warn(&mut self, warning: String) {
        self.config.warnings.push(warning);
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
