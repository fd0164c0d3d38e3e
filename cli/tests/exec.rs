//! `tenon exec` against a server of the Responses API.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use std::io::Write;
use std::process::Stdio;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Place, Ran, Server, message, shell};

const BYPASS: &str = "--dangerously-bypass-approvals-and-sandbox";

fn texts(request: &Value, role: &str) -> Vec<String> {
    let items = request["input"].as_array().into_iter().flatten().filter(|item| item["role"] == role);
    items.filter_map(|item| item["content"][0]["text"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_prompt_runs_to_its_end() {
    let place = Place::new();
    let server = Server::start(vec![vec![shell("c1", "echo hi")], vec![message("all done")]]);
    place.config(&server.config());
    let ran = place.run(&["exec", "--json", BYPASS, "-o", "last.txt", "-m", "m1", "say hi"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(ran.completed("command_execution")[0]["aggregated_output"], "hi\n");
    let usage = ran.events().pop().expect("a line")["usage"].clone();
    let counted = json!({"input_tokens": 14, "cached_input_tokens": 0, "output_tokens": 6, "reasoning_output_tokens": 0});
    assert_eq!(usage, counted);
    assert_eq!(std::fs::read_to_string(place.work().join("last.txt")).ok().as_deref(), Some("all done"));
    let requests = server.requests();
    assert_eq!(requests[0]["model"], "m1");
    assert_eq!(texts(&requests[0], "user").last().map(String::as_str), Some("say hi"));
    assert_eq!(place.rollouts().len(), 1);
}

#[test]
fn a_prompt_comes_from_standard_input() {
    let place = Place::new();
    let server = Server::start(vec![vec![message("ok")]]);
    place.config(&server.config());
    let mut child = place.command(&["exec", BYPASS]).stdin(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(b"from a pipe\n").expect("written");
    let ran = Ran::from(child.wait_with_output().expect("it ends"));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("\nok\n"), "{}", ran.stdout);
    assert_eq!(texts(&server.requests()[0], "user").last().map(String::as_str), Some("from a pipe"));
}

#[test]
fn a_session_is_gone_on_from() {
    let place = Place::new();
    let server = Server::start(vec![vec![message("one")], vec![message("two")], vec![message("three")]]);
    place.config(&server.config());
    let first = place.run(&["exec", "--json", BYPASS, "first"]);
    let id = first.events()[0]["thread_id"].as_str().expect("an id").to_owned();
    let second = place.run(&["exec", "--json", BYPASS, "resume", "--last", "second"]);
    assert_eq!((second.status, second.stderr.as_str()), (Some(0), ""));
    assert_eq!(second.events()[0]["thread_id"], id);
    let third = place.run(&["exec", "resume", &id, "third", BYPASS]);
    assert_eq!(third.status, Some(0), "{}", third.stderr);
    assert_eq!(place.rollouts().len(), 1, "all in one file");
    let last = server.requests().pop().expect("a request");
    let said: Vec<String> = texts(&last, "user").into_iter().filter(|text| !text.starts_with('<')).collect();
    assert_eq!(said, ["first", "second", "third"]);
    assert_eq!(texts(&last, "assistant"), ["one", "two"]);
}

#[test]
fn a_server_that_is_not_there_fails_the_turn() {
    let place = Place::new();
    place.config(
        "model_provider = \"l\"\n[model_providers.l]\nbase_url = \"http://127.0.0.1:1/v1\"\nrequest_max_retries = 0\n\
         stream_max_retries = 0\n",
    );
    let ran = place.run(&["exec", "--json", BYPASS, "-o", "last.txt", "go"]);
    assert_eq!(ran.status, Some(1));
    let last = ran.events().pop().expect("a line");
    assert_eq!(last["type"], "turn.failed");
    let told = format!("tenon: the turn failed: {}\n", last["error"]["message"].as_str().expect("text"));
    assert!(ran.stderr.ends_with(&told), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(place.work().join("last.txt")).ok().as_deref(), Some(""));
}

#[test]
fn unknown_keys_are_warnings() {
    let place = Place::new();
    let server = Server::start(vec![vec![message("ok")]]);
    place.config(&format!(
        "colour = 1\n{}[mcp_servers.s]\ncommand = \"x\"\nenabled = false\nodd = 1\n",
        server.config()
    ));
    let ran = place.run(&["exec", "--json", BYPASS, "go"]);
    assert_eq!(ran.status, Some(0));
    let home = place.home();
    let told = format!(
        "tenon: warning: {}/config.toml: unknown key `colour` is ignored\n\
         tenon: warning: {}/config.toml: unknown key `mcp_servers.s.odd` is ignored\n",
        home.display(),
        home.display()
    );
    assert_eq!(ran.stderr, told);
}
