//! `tenon mcp` from outside, against the fixture server of the scenarios.
#![allow(clippy::expect_used, reason = "test code")]

mod support;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::Place;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/mcp_fixture.py");

fn place() -> Place {
    let place = Place::new();
    place.config(&format!(
        "[mcp_servers.fixture]\ncommand = \"python3\"\nargs = [{FIXTURE:?}]\n\
         [mcp_servers.gone]\ncommand = \"sh\"\nargs = [\"-c\", \"echo no luck >&2; exit 4\"]\n"
    ));
    place
}

#[test]
fn list_says_how_each_server_stands_and_why() {
    let ran = place().run(&["mcp", "list"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "fixture  stdio       ready   17 tools   fixture 1.0.0, protocol 2025-11-25");
    assert_eq!(lines[1], "gone     stdio       failed");
    assert!(lines[2].contains("the server exited with code 4; its last words:"), "{}", ran.stdout);
    assert_eq!(lines[3], "    no luck");
}

#[test]
fn list_as_json_names_the_tools_as_the_model_does() {
    let ran = place().run(&["mcp", "list", "--json"]);
    let servers: Vec<Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(servers[0]["state"], "ready");
    let tools = servers[0]["tools"].as_array().expect("a list");
    assert!(tools.contains(&json!("mcp__fixture.calendar_create_event")), "{tools:?}");
    assert_eq!(servers[1]["state"], "failed");
}

#[test]
fn tools_are_listed_as_their_server_describes_them() {
    let place = place();
    let ran = place.run(&["mcp", "tools", "fixture"]);
    assert!(
        ran.stdout.lines().any(|line| line == "echo                       Echo a message back."),
        "{}",
        ran.stdout
    );
    let ran = place.run(&["mcp", "tools", "fixture", "--json"]);
    let tools: Vec<Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(tools.len(), 17);
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["message"]));
}

#[test]
fn a_call_prints_its_result_and_fails_with_it() {
    let place = place();
    let ran = place.run(&["mcp", "call", "fixture", "echo", "{\"message\": \"hi\"}"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), "echo: hi\n"));
    let ran = place.run(&["mcp", "call", "fixture", "meta", "--json"]);
    let result: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(result["_meta"], json!({"secret": "client-only"}), "the host is told");
    let ran = place.run(&["mcp", "call", "fixture", "fail"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), "the disk is full\n"));
    let ran = place.run(&["mcp", "call", "fixture", "rpc_error"]);
    assert_eq!(ran.status, Some(1));
    assert_eq!(ran.stderr, "tenon: Mcp error: -32000: backend is down({\"retry\":false})\n");
}

#[test]
fn a_server_that_dies_in_a_call_is_named_with_its_status_and_last_words() {
    let place = place();
    let script = format!("python3 {FIXTURE:?}; echo out of memory >&2; exit 9");
    place.config(&format!("[mcp_servers.frail]\ncommand = \"sh\"\nargs = [\"-c\", {script:?}]\n"));
    let ran = place.run(&["mcp", "call", "frail", "crash"]);
    assert_eq!(ran.status, Some(1));
    let why = "Transport closed; the server exited with code 9; its last words: out of memory";
    assert_eq!(ran.stderr, format!("tenon: MCP server `frail`: {why}\n"));
}

#[test]
fn the_list_of_tools_has_those_of_servers() {
    let ran = place().run(&["tools"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let line = |start: &str| ran.stdout.lines().find(|line| line.starts_with(start)).unwrap_or_default();
    assert!(line("mcp__fixture.echo ").contains("deferred"), "{}", ran.stdout);
    assert!(line("read_mcp_resource ").contains("parallel"), "{}", ran.stdout);
    assert!(ran.stderr.contains("MCP server gone did not start"), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_done_says_so() {
    let place = place();
    let told = |args: &[&str]| {
        let ran = place.run(args);
        (ran.status, ran.stderr.replace(&place.home().display().to_string(), "HOME"))
    };
    assert_eq!(
        told(&["mcp", "tools", "nope"]),
        (
            Some(2),
            "tenon: there is no enabled MCP server `nope` in HOME/config.toml; known servers: fixture, gone\n".to_owned()
        )
    );
    let (status, why) = told(&["mcp", "call", "fixture", "echo", "[1]"]);
    assert_eq!(status, Some(2));
    assert!(why.starts_with("tenon: the arguments are no JSON object: "), "{why}");
    assert_eq!(
        told(&["mcp", "login", "fixture"]),
        (Some(2), "tenon: mcp_servers.fixture is a program: it needs no login\n".to_owned())
    );
}

#[test]
fn a_required_server_that_is_not_there_ends_the_run_before_it_begins() {
    let place = Place::new();
    place.config("[mcp_servers.need]\ncommand = \"/no/such/server\"\nrequired = true\n");
    let said = r#"{"type":"message","role":"assistant","content":[]}"#;
    let file = place.file("turn.jsonl", said);
    let ran = place.replay(&file, &["--with-config"]);
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.stderr.contains(
            "the required MCP server need is not there: cannot start `/no/such/server`: No such file or directory"
        ),
        "{}",
        ran.stderr
    );
}
