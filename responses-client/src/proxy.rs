//! Which proxy stands between us and an https host (cli.md: never before http, never before loopback).

use std::fmt;

use crate::ConfigError;

/// A proxy for https hosts, as the usual environment variables say it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxySettings {
    proxy: Option<(&'static str, String)>,
    no_proxy: Option<String>,
}

impl ProxySettings {
    /// Every host is dialled directly.
    pub fn none() -> Self {
        Self::default()
    }

    /// What `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` say, or their lower-case names. An empty value counts as absent.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let read = |name: &'static str| {
            let value = variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
            value.map(|value| (name, value))
        };
        let first = |names: [&'static str; 2]| names.into_iter().find_map(read);
        Self {
            proxy: first(["HTTPS_PROXY", "https_proxy"]).or_else(|| first(["ALL_PROXY", "all_proxy"])),
            no_proxy: first(["NO_PROXY", "no_proxy"]).map(|(_, hosts)| hosts),
        }
    }

    /// The proxy as reqwest takes it, and where it is, without a password.
    pub(crate) fn for_https(&self) -> Result<Option<(reqwest::Proxy, String)>, ConfigError> {
        let Some((variable, text)) = &self.proxy else { return Ok(None) };
        let wrong = |reason| ConfigError::Proxy { variable, reason };
        // Without a scheme it is http, as curl has it.
        let text = if text.contains("://") { text.clone() } else { format!("http://{text}") };
        let url = reqwest::Url::parse(&text).map_err(|_| wrong("this is no URL"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("only http and https proxies can be used"));
        }
        let shown = format!(
            "{}:{}",
            url.host_str().unwrap_or_default(),
            url.port_or_known_default().unwrap_or_default()
        );
        let proxy = reqwest::Proxy::https(url).map_err(|_| wrong("this is no proxy's URL"))?;
        let no_proxy = self.no_proxy.as_deref().and_then(reqwest::NoProxy::from_string);
        Ok(Some((proxy.no_proxy(no_proxy), shown)))
    }
}

/// A proxy's address may hold a password.
impl fmt::Debug for ProxySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variable = self.proxy.as_ref().map(|(variable, _)| variable);
        f.debug_struct("ProxySettings").field("from", &variable).field("no_proxy", &self.no_proxy).finish()
    }
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;
