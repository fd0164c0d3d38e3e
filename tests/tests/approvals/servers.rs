//! The MCP servers of a scenario, and what is kept of their tools.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use async_trait::async_trait;
use tenon_core::policy::McpApprovalStore;
use tenon_mcp_client::{McpServers, ServerConfig, StdioConfig, TransportConfig};
use tenon_tests::runner::workspace::MCP_FIXTURE;

const CALENDAR_FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/calendar_fixture.py");

/// The server whose tools say different things of themselves, and the file in which it notes its calls.
pub(crate) struct Calendar(PathBuf);

impl Calendar {
    pub(crate) fn of(home: &Path) -> Self {
        Self(home.join("called"))
    }

    /// The tools that it was called for.
    pub(crate) fn called(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.0).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }
}

/// Starts the servers that a scenario wants.
pub(crate) fn servers(fixture: bool, calendar: Option<&Calendar>, cwd: &Path) -> McpServers {
    let path = || ("PATH".into(), std::env::var_os("PATH").unwrap());
    let server = |name: &str, file: &str, log: Option<&Calendar>| {
        let log = log.map(|log| ("CALENDAR_LOG".into(), log.0.clone().into()));
        let stdio = StdioConfig {
            command: "python3".into(),
            args: vec![file.into()],
            environment: [path()].into_iter().chain(log).collect(),
            cwd: None,
        };
        ServerConfig::new(name, TransportConfig::Stdio(stdio))
    };
    let fixture = fixture.then(|| server("fixture", MCP_FIXTURE, None));
    let calendar = calendar.map(|log| server("calendar", CALENDAR_FIXTURE, Some(log)));
    McpServers::builder(cwd).servers(fixture.into_iter().chain(calendar)).start()
}

/// Keeps in memory which tools are not to be asked about again.
#[derive(Debug, Default)]
pub(crate) struct Keeps(Mutex<Vec<String>>);

impl Keeps {
    pub(crate) fn kept(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl McpApprovalStore for Keeps {
    fn file(&self) -> &Path {
        Path::new("config.toml")
    }

    async fn approve(&self, server: &str, tool: &str) -> Result<(), String> {
        self.0.lock().unwrap().push(format!("{server}/{tool}"));
        Ok(())
    }
}
