//! `tenon tools`: what a model would be shown.

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_exec::ExecService;
use tenon_protocol::ToolName;
use tenon_tools::{NamespaceSpec, NamespaceTool, ToolExecutor, ToolExposure, ToolSource, ToolSpec};

use super::{Surroundings, mcp};
use crate::args::ToolsArgs;
use crate::config::{Config, Defaults, Flags, ToolMode, load};
use crate::failure::Failure;
use crate::home::Home;
use crate::output::mcp_trouble;
use crate::wiring::{self, Scripts};

/// How many characters of a description stand on a line.
const DESCRIPTION_CHARS: usize = 100;

/// Lists the tools.
///
/// # Errors
/// When the configuration cannot be used, or the list not be written.
pub(crate) async fn run(args: &ToolsArgs, surroundings: &mut Surroundings) -> Result<u8, Failure> {
    let home = Home::find(&surroundings.environment, &surroundings.cwd)?;
    let loaded = load(&home.config(), &args.config.overrides).map_err(Failure::usage)?;
    let config = Config::resolve(loaded, Flags::default(), Defaults::EXEC, &home).map_err(Failure::usage)?;
    for warning in &config.warnings {
        surroundings.console.warning(warning);
    }
    let exec = wiring::exec_service(&config, &surroundings.environment);
    let servers = tools_of_servers(&config, &home, surroundings).await?;
    let tools = listed(&exec, config.tool_mode, servers);
    surroundings.print(&if args.json { as_json(&tools) } else { as_lines(&tools) })
}

/// A tool as the model is shown it.
struct Listed {
    name: String,
    exposure: ToolExposure,
    parallel: bool,
    spec: ToolSpec,
}

/// All tools in the order of registration. Where scripts alone can call one that would be direct, it is listed so.
fn listed(exec: &ExecService, mode: ToolMode, servers: Vec<Arc<dyn ToolExecutor>>) -> Vec<Listed> {
    let scripts = Scripts::of(mode);
    let mut tools = wiring::tools(exec, scripts.as_ref());
    tools.extend(servers);
    let layers: Vec<_> = scripts.iter().map(Scripts::layer).collect();
    let in_list = |tool: &&Arc<dyn ToolExecutor>| {
        matches!(tool.exposure(), ToolExposure::Direct | ToolExposure::DirectModelOnly)
    };
    let specs = tools.iter().filter(in_list).map(|tool| tool.spec()).collect();
    let shown = layers.iter().fold(specs, |specs, layer| layer.apply(specs, &tools));
    let list = |tool: &Arc<dyn ToolExecutor>| {
        let spec = shown.iter().find_map(|spec| spec_of(spec, tool.name()));
        let exposure = match (&spec, tool.exposure()) {
            (None, ToolExposure::Direct) => ToolExposure::CodeModeOnly,
            (_, exposure) => exposure,
        };
        let spec = spec.unwrap_or_else(|| tool.spec());
        Listed { name: tool.name().to_string(), exposure, parallel: tool.parallel(), spec }
    };
    tools.iter().map(list).collect()
}

/// What an entry of the list says of one tool, if it is about it.
fn spec_of(spec: &ToolSpec, name: &ToolName) -> Option<ToolSpec> {
    match spec {
        ToolSpec::Namespace(namespace) if name.namespace() == Some(&namespace.name) => {
            let tool = namespace.tools.iter().find(|tool| tool.name() == name.name())?;
            Some(ToolSpec::Namespace(NamespaceSpec { tools: vec![tool.clone()], ..namespace.clone() }))
        }
        ToolSpec::Namespace(_) => None,
        ToolSpec::Function(_) | ToolSpec::Custom(_) | ToolSpec::ToolSearch(_) | ToolSpec::WebSearch(_) => {
            (name.is_default_namespace() && spec.name() == name.name()).then(|| spec.clone())
        }
    }
}

/// What the configured MCP servers offer, once all have started or failed to.
async fn tools_of_servers(
    config: &Config,
    home: &Home,
    surroundings: &mut Surroundings,
) -> Result<Vec<Arc<dyn ToolExecutor>>, Failure> {
    let (servers, settled) = mcp::settled(config, home, surroundings).await;
    let (tools, status) = (servers.snapshot(), servers.status());
    servers.shutdown().await;
    for server in status {
        if let Some(trouble) = mcp_trouble(&server.name, server.state) {
            surroundings.console.warning(&trouble);
        }
    }
    if settled { Ok(tools) } else { Err(Failure::interrupted()) }
}

fn as_json(tools: &[Listed]) -> String {
    let shown = |tool: &Listed| {
        json!({
            "name": tool.name,
            "exposure": exposure(tool.exposure),
            "parallel": tool.parallel,
            "spec": tool.spec,
        })
    };
    let tools: Vec<Value> = tools.iter().map(shown).collect();
    format!("{:#}\n", Value::Array(tools))
}

fn as_lines(tools: &[Listed]) -> String {
    let width = tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or_default();
    let line = |tool: &Listed| {
        let Listed { name, exposure: shown_to, parallel, spec } = tool;
        let parallel = if *parallel { "parallel" } else { "exclusive" };
        let words = crate::output::first_line(description(spec), DESCRIPTION_CHARS);
        format!("{name:width$}  {:17}  {parallel:9}  {words}\n", exposure(*shown_to))
    };
    tools.iter().map(line).collect()
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
