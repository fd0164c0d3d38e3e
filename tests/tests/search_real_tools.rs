//! Lists of real servers, for whoever has some: `{"server", "tools": [{"name", "description", "inputSchema"}]}` in the
//! `.json` files of `$TENON_MCP_TOOLS`.
//!
//! `TENON_MCP_TOOLS=/folder cargo nextest run -p tenon-tests --test search_real_tools --run-ignored only --no-capture`
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs
)]

use serde_json::Value;
use tenon_core::search::SearchIndex;

/// How many hits a model gets that does not say how many it wants.
const LIMIT: usize = 8;

/// `(server, tool, text)` of each tool, with the text that is made of an MCP tool (core.md 2.10).
fn tools() -> Vec<(String, String, String)> {
    let folder = std::env::var_os("TENON_MCP_TOOLS").expect("TENON_MCP_TOOLS names a folder");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    let mut tools = Vec::new();
    for file in files {
        let list: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let server = list["server"].as_str().unwrap();
        for tool in list["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let description = tool["description"].as_str().unwrap_or_default();
            let parameters = tool["inputSchema"]["properties"].as_object();
            let mut parameters: Vec<_> = parameters.into_iter().flat_map(|all| all.keys().cloned()).collect();
            parameters.sort();
            let parameters = parameters.join(" ");
            let text = format!("mcp__{server}{name} {name} {name} {server} {description} {parameters}");
            tools.push((server.to_owned(), name.to_owned(), text));
        }
    }
    tools
}

/// Whoever knows the words of a tool's name and its server finds it, nearly always.
#[test]
#[ignore = "needs lists of real servers in $TENON_MCP_TOOLS"]
fn tools_are_found_by_their_names_in_words() {
    let tools = tools();
    let index = SearchIndex::new(tools.iter().map(|(_, _, text)| text.as_str()));
    let (mut first, mut missed) = (0, Vec::new());
    for (place, (server, name, _)) in tools.iter().enumerate() {
        let query = format!("{} {server}", name.replace(['_', '-', '.'], " "));
        match index.search(&query, LIMIT).iter().position(|hit| hit.text == place) {
            Some(0) => first += 1,
            Some(_) => {}
            None => missed.push(format!("{server}: {name}")),
        }
    }
    println!("{} tools, {first} found as the first, missed: {missed:?}", tools.len());
    assert!(!tools.is_empty() && missed.len() * 20 <= tools.len(), "{missed:?}");
}
