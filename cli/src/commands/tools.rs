//! `tenon tools`: what a model would be shown.

use std::io::ErrorKind;
use std::sync::Arc;

use serde_json::{Value, json};
use tenon_tools::{NamespaceTool, ToolExecutor, ToolExposure, ToolSpec};

use super::Surroundings;
use crate::args::ToolsArgs;
use crate::config::{Config, Defaults, Flags, load};
use crate::failure::{COMPLETED, Failure};
use crate::home::Home;
use crate::wiring;

/// How many characters of a description stand on a line.
const DESCRIPTION_CHARS: usize = 100;

/// Lists the tools.
///
/// # Errors
/// When the configuration cannot be used, or the list not be written.
pub(crate) fn run(args: &ToolsArgs, surroundings: &mut Surroundings) -> Result<u8, Failure> {
    let home = Home::find(&surroundings.environment, &surroundings.cwd)?;
    let loaded = load(&home.config(), &args.config.overrides).map_err(Failure::usage)?;
    let config = Config::resolve(loaded, Flags::default(), Defaults::EXEC, &home).map_err(Failure::usage)?;
    for warning in &config.warnings {
        surroundings.console.warning(warning);
    }
    let exec = wiring::exec_service(&config, &surroundings.environment);
    let tools = wiring::tools(&exec);
    let text = if args.json { as_json(&tools) } else { as_lines(&tools) };
    let written = surroundings.stdout.write_all(text.as_bytes()).and_then(|()| surroundings.stdout.flush());
    match written {
        Ok(()) => Ok(COMPLETED),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(COMPLETED),
        Err(error) => Err(Failure::failed(format!("cannot write standard output: {error}"))),
    }
}

fn as_json(tools: &[Arc<dyn ToolExecutor>]) -> String {
    let shown = |tool: &Arc<dyn ToolExecutor>| {
        json!({
            "name": tool.name().to_string(),
            "exposure": exposure(tool.exposure()),
            "parallel": tool.parallel(),
            "spec": tool.spec(),
        })
    };
    let tools: Vec<Value> = tools.iter().map(shown).collect();
    format!("{:#}\n", Value::Array(tools))
}

fn as_lines(tools: &[Arc<dyn ToolExecutor>]) -> String {
    let names: Vec<String> = tools.iter().map(|tool| tool.name().to_string()).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    let line = |(tool, name): (&Arc<dyn ToolExecutor>, &String)| {
        let parallel = if tool.parallel() { "parallel" } else { "exclusive" };
        let spec = tool.spec();
        let words = crate::output::first_line(description(&spec), DESCRIPTION_CHARS);
        format!("{name:width$}  {:17}  {parallel:9}  {words}\n", exposure(tool.exposure()))
    };
    tools.iter().zip(&names).map(line).collect()
}

/// The word for who may see and call a tool.
fn exposure(exposure: ToolExposure) -> &'static str {
    match exposure {
        ToolExposure::Direct => "direct",
        ToolExposure::Deferred => "deferred",
        ToolExposure::DirectModelOnly => "direct_model_only",
        ToolExposure::DeferredModelOnly => "deferred_model_only",
        ToolExposure::CodeModeOnly => "code_mode_only",
        ToolExposure::Hidden => "hidden",
    }
}

fn description(spec: &ToolSpec) -> &str {
    match spec {
        ToolSpec::Function(function) => &function.description,
        ToolSpec::Custom(custom) => &custom.description,
        ToolSpec::ToolSearch(search) => &search.description,
        ToolSpec::Namespace(namespace) => match namespace.tools.as_slice() {
            [NamespaceTool::Function(only)] => &only.description,
            [NamespaceTool::Custom(only)] => &only.description,
            _ => &namespace.description,
        },
        ToolSpec::WebSearch(_) => "A search in the web that the API runs.",
    }
}
