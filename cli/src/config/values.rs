//! Single values of `config.toml`. Each checks itself while it is read, so that an error knows its line.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use tenon_tools::{ApprovalPolicy, EnvironmentInherit, GranularApproval};

/// `sandbox_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SandboxMode {
    ReadOnly,
    WorkspaceWrite,
    DangerFullAccess,
}

/// `tool_mode`: how the tools are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolMode {
    #[default]
    Direct,
    CodeMode,
    CodeModeOnly,
}

/// `wire_api`: the one that is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WireApi;

impl<'de> Deserialize<'de> for WireApi {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "responses" => Ok(Self),
            other => {
                Err(de::Error::custom(format!("wire_api {other:?} is not spoken; only \"responses\" is")))
            }
        }
    }
}

/// `inherit` of `[shell_environment_policy]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Inherit {
    All,
    Core,
    None,
}

impl From<Inherit> for EnvironmentInherit {
    fn from(inherit: Inherit) -> Self {
        match inherit {
            Inherit::All => Self::All,
            Inherit::Core => Self::Core,
            Inherit::None => Self::None,
        }
    }
}

/// `base_url` of a provider: http or https, a host, no query.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct BaseUrl(pub(crate) String);

impl TryFrom<String> for BaseUrl {
    type Error = String;

    fn try_from(url: String) -> Result<Self, String> {
        // Not shown: it may hold a password.
        if url.contains('@') {
            return Err("base_url must not hold a user or a password; use env_key or http_headers".to_owned());
        }
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let Some(rest) = rest else {
            return Err(format!("base_url {url:?} must begin with http:// or https://"));
        };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.is_empty() || host.starts_with(':') {
            return Err(format!("base_url {url:?} names no host"));
        }
        if url.contains(['?', '#']) {
            return Err(format!(
                "base_url {url:?} must end with its path: what follows `?` belongs in query_params"
            ));
        }
        if url.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(format!("base_url {url:?} must not hold white space"));
        }
        Ok(Self(url.trim_end_matches('/').to_owned()))
    }
}

/// The name of an HTTP header.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct HeaderName(pub(crate) String);

impl TryFrom<String> for HeaderName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(token) {
            return Err(format!(
                "{name:?} is no name of an HTTP header: letters, digits and hyphens make one"
            ));
        }
        Ok(Self(name))
    }
}

/// The value of an HTTP header. Its own text stands in no error: it may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct HeaderValue(pub(crate) String);

impl TryFrom<String> for HeaderValue {
    type Error = String;

    fn try_from(value: String) -> Result<Self, String> {
        if value.bytes().all(|byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f)) {
            return Ok(Self(value));
        }
        Err("the value of an HTTP header must be one line without control characters".to_owned())
    }
}

/// The name of a variable of the environment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct VariableName(pub(crate) String);

impl TryFrom<String> for VariableName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(format!("{name:?} is no name of an environment variable"));
        }
        Ok(Self(name))
    }
}

/// A number of at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u64")]
pub(crate) struct AtLeastOne(pub(crate) u64);

impl TryFrom<u64> for AtLeastOne {
    type Error = &'static str;

    fn try_from(number: u64) -> Result<Self, Self::Error> {
        if number == 0 { Err("must be at least 1") } else { Ok(Self(number)) }
    }
}

/// `approval_policy`: a word, or `{ granular = { ... } }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Approval(pub(crate) ApprovalPolicy);

const APPROVALS: &str = "\"untrusted\", \"on-request\", \"never\" or { granular = { ... } }";

impl<'de> Deserialize<'de> for Approval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ApprovalVisitor)
    }
}

struct ApprovalVisitor;

impl<'de> Visitor<'de> for ApprovalVisitor {
    type Value = Approval;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(APPROVALS)
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Approval, E> {
        match word {
            "untrusted" => Ok(Approval(ApprovalPolicy::UnlessTrusted)),
            // `on-failure` of older files means on-request today (runtime.md E57).
            "on-request" | "on-failure" => Ok(Approval(ApprovalPolicy::OnRequest)),
            "never" => Ok(Approval(ApprovalPolicy::Never)),
            other => Err(E::custom(format!("unknown approval policy {other:?}, expected {APPROVALS}"))),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Approval, A::Error> {
        let GranularTable { granular } = GranularTable::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Approval(ApprovalPolicy::Granular(GranularApproval {
            sandbox_approval: granular.sandbox_approval,
            rules: granular.rules,
            skill_approval: granular.skill_approval,
            request_permissions: granular.request_permissions,
            mcp_elicitations: granular.mcp_elicitations,
        })))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GranularTable {
    granular: Granular,
}

/// The switches of runtime.md D9.a. A misspelt one would allow or forbid silently, so unknown ones are errors here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools, reason = "five independent switches of the configuration")]
struct Granular {
    sandbox_approval: bool,
    rules: bool,
    #[serde(default)]
    skill_approval: bool,
    #[serde(default)]
    request_permissions: bool,
    mcp_elicitations: bool,
}
