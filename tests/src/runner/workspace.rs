//! The folders of one run: a home with the configuration, a working folder with the scenario's files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::json;
use tempfile::TempDir;

use crate::normalise::Places;
use crate::scenario::{Mode, Scenario};

/// The fixture MCP server's file.
pub const MCP_FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/mcp_fixture.py");

/// Both folders; they are removed when this is dropped.
#[derive(Debug)]
pub struct Workspace {
    home: TempDir,
    cwd: TempDir,
}

impl Workspace {
    /// Makes both folders for a scenario that talks to a model server at `base_url`.
    ///
    /// # Errors
    /// When a file can't be written, or a hexadecimal one has other digits.
    pub fn new(scenario: &Scenario, base_url: &str) -> anyhow::Result<Self> {
        let workspace = Self {
            home: tempfile::Builder::new().prefix("home").tempdir()?,
            cwd: tempfile::Builder::new().prefix("cwd").tempdir()?,
        };
        for (name, content) in &scenario.files {
            write(&workspace.cwd()?, name, content.as_bytes())?;
        }
        for (name, digits) in &scenario.files_hex {
            let bytes = from_hex(digits).with_context(|| format!("files_hex {name:?}"))?;
            write(&workspace.cwd()?, name, &bytes)?;
        }
        write(workspace.home(), "config.toml", config(scenario, base_url).as_bytes())?;
        if let Some(hooks) = &scenario.hooks {
            write(workspace.home(), "hooks.json", json!({"hooks": hooks}).to_string().as_bytes())?;
        }
        Ok(workspace)
    }

    /// The client's home.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The working folder, without links in its path.
    ///
    /// # Errors
    /// When it is gone.
    pub fn cwd(&self) -> anyhow::Result<PathBuf> {
        Ok(self.cwd.path().canonicalize()?)
    }

    /// What varies between runs in what the client says.
    ///
    /// # Errors
    /// When the working folder is gone.
    pub fn places(&self) -> anyhow::Result<Places> {
        Ok(Places {
            cwd: self.cwd()?.to_string_lossy().into_owned(),
            home: self.home().to_string_lossy().into_owned(),
            fixture: MCP_FIXTURE.to_owned(),
        })
    }
}

fn config(scenario: &Scenario, base_url: &str) -> String {
    let (model, tool_mode) = match scenario.mode {
        Mode::Direct => ("gpt-5.5", ""),
        Mode::CodeMode => ("gpt-6.2-sol", "tool_mode = \"code_mode_only\"\n"),
    };
    let mut text = format!("model = \"{model}\"\nmodel_provider = \"mock\"\n{tool_mode}{}", scenario.config);
    if scenario.mcp {
        // Writing to a String does not fail.
        let _ = write!(
            text,
            "\n[mcp_servers.fixture]\ncommand = \"python3\"\nargs = [{MCP_FIXTURE:?}]\n{}",
            scenario.mcp_extra
        );
    }
    let _ = write!(
        text,
        "\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"{base_url}\"\nwire_api = \"responses\"\n\
         request_max_retries = 0\nstream_max_retries = 0\n"
    );
    text
}

fn write(root: &Path, name: &str, content: &[u8]) -> anyhow::Result<()> {
    let path = root.join(name);
    let folder = path.parent().unwrap_or(root);
    std::fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
    std::fs::write(&path, content).with_context(|| format!("{}", path.display()))
}

fn from_hex(digits: &str) -> anyhow::Result<Vec<u8>> {
    anyhow::ensure!(digits.len().is_multiple_of(2), "an odd number of hexadecimal digits");
    let pairs = digits.as_bytes().chunks_exact(2).map(|pair| {
        let pair = std::str::from_utf8(pair)?;
        Ok(u8::from_str_radix(pair, 16)?)
    });
    pairs.collect()
}

#[cfg(test)]
#[path = "workspace_tests.rs"]
mod tests;
