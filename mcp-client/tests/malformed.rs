//! Servers that answer what they should not: nothing hangs, nothing is lost but what was broken.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::json;
use support::{Rogue, call, call_text, find, invoke, names, shown, started, text};
use tenon_mcp_client::RequestError;
use tenon_tools::{ToolExecutor, ToolSource};

#[tokio::test]
async fn a_broken_tool_loses_nothing_but_itself() {
    let (_rogue, servers) = started(&["malformed"]);
    servers.settled().await;
    let names = names(&servers);
    for name in ["ok", "no_schema", "null_schema", "bad_hints", "refs", "_"] {
        assert!(names.contains(&format!("mcp__rogue.{name}")), "{name} of {names:?}");
    }
    assert!(!names.iter().any(|name| name.ends_with("bad_schema")), "{names:?}");
    let clashing: Vec<_> = names.iter().filter(|name| name.starts_with("mcp__rogue.a_b_")).collect();
    assert_eq!(clashing.len(), 2, "{names:?}");
    let long = names.iter().find(|name| name.contains("xxx")).expect("the long one");
    assert_eq!(long.len(), 65, "64 bytes and the dot: {long}");
    servers.shutdown().await;
}

#[tokio::test]
async fn a_clashing_name_reaches_the_right_tool() {
    let (_rogue, servers) = started(&["malformed"]);
    servers.settled().await;
    let tools = servers.snapshot();
    let clashing = tools.iter().filter(|tool| tool.name().name().starts_with("a_b_"));
    let mut answers = Vec::new();
    for tool in clashing {
        let (output, call) = invoke(tool, "{}").await;
        answers.push(shown(output.as_ref(), &call)[1]["text"].as_str().expect("a text").to_owned());
    }
    answers.sort();
    assert_eq!(answers, ["no such tool: a.b", "no such tool: a/b"]);
    servers.shutdown().await;
}

#[tokio::test]
async fn pages_are_followed_and_an_endless_list_is_cut() {
    let (_rogue, servers) = started(&["pages"]);
    servers.settled().await;
    let pages: Vec<String> = (0..5).map(|page| format!("mcp__rogue.page{page}")).collect();
    assert_eq!(names(&servers), pages);
    servers.shutdown().await;
    let (_rogue, servers) = started(&["endless"]);
    servers.settled().await;
    assert_eq!(names(&servers), ["mcp__rogue.ok"]);
    servers.shutdown().await;
}

#[tokio::test]
async fn answers_are_told_apart_by_their_ids_and_come_once() {
    let (_rogue, servers) = started(&["noisy"]);
    for (tool, answer) in
        [("wrong_id", "yours"), ("twice", "first"), ("string_id", "by text"), ("noise", "after noise")]
    {
        assert_eq!(call_text(&servers, tool).await, answer);
    }
    assert_eq!(call_text(&servers, "flood").await, "flooded");
    assert_eq!(call_text(&servers, "stderr").await, "said");
    assert_eq!(call_text(&servers, "ok").await, "ok", "nothing was left behind");
    servers.shutdown().await;
}

#[tokio::test]
async fn an_error_without_an_id_ends_the_call_with_its_reason() {
    let (_rogue, servers) = started(&[]);
    let error = call(&servers, "idless", json!({})).await.expect_err("an error");
    assert_eq!(error.to_string(), "Mcp error: -32700: Parse error");
    servers.shutdown().await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_ends_its_call_with_the_reason() {
    let (_rogue, servers) = started(&[]);
    let reasons = [
        ("deep", "recursion limit exceeded"),
        ("huge_number", "number out of range"),
        ("nan", "expected value"),
    ];
    for (tool, reason) in reasons {
        let error = call(&servers, tool, json!({})).await.expect_err("an error").to_string();
        let expected = format!("Mcp error: -32603: the answer cannot be read: {reason} at line 1 column ");
        assert!(error.starts_with(&expected), "{tool}: {error}");
    }
    assert_eq!(call_text(&servers, "ok").await, "ok", "the connection lives");
    servers.shutdown().await;
}

#[tokio::test]
async fn a_tool_that_cannot_be_read_loses_nothing_but_itself() {
    let (_rogue, servers) = started(&["deep_schema"]);
    servers.settled().await;
    assert_eq!(names(&servers), ["mcp__rogue.ok", "mcp__rogue.deep_result", "mcp__rogue.nan"]);
    servers.shutdown().await;
}

#[tokio::test]
async fn an_answer_over_the_limit_ends_its_call_and_the_connection_lives() {
    let (_rogue, servers) = started(&[]);
    let fits = call(&servers, "big", json!({"mb": 15})).await.expect("it fits");
    assert_eq!(text(&fits).len(), 15 << 20);
    let error = call(&servers, "big", json!({"mb": 50})).await.expect_err("it does not");
    assert!(
        matches!(&error, RequestError::Rpc { message, .. } if message.contains("may have 16777216 at most")),
        "{error}"
    );
    assert_eq!(call_text(&servers, "ok").await, "ok");
    servers.shutdown().await;
}

#[tokio::test]
async fn unknown_blocks_stay_and_known_ones_are_not_lost() {
    let (_rogue, servers) = started(&[]);
    servers.settled().await;
    let shown_of = async |name: &str| {
        let tool = find(&servers, name).expect("a tool");
        let (output, call) = invoke(&tool, "").await;
        shown(output.as_ref(), &call)
    };
    let blocks = shown_of("blocks").await;
    assert_eq!(blocks[1]["text"], "{\"type\":\"hologram\",\"x\":1}");
    assert_eq!(blocks[2]["image_url"], "data:application/octet-stream;base64,AA==");
    assert_eq!(blocks[3]["text"], "t");
    assert_eq!(shown_of("no_content").await.as_array().map(Vec::len), Some(1), "the header alone");
    let both = shown_of("both").await;
    assert_eq!(both[1]["image_url"], "data:image/png;base64,AA==", "an image is not lost to its double");
    assert_eq!(both.as_array().map(Vec::len), Some(2));
    let structured = shown_of("only_structured").await;
    assert!(structured.as_str().expect("a text").ends_with("Output:\n{\"n\":18446744073709551615}"));
    servers.shutdown().await;
}

#[tokio::test]
async fn a_server_that_knows_nothing_of_discovery_costs_no_ten_seconds() {
    let began = std::time::Instant::now();
    let (_rogue, servers) = started(&["silent_discover"]);
    assert_eq!(call_text(&servers, "ok").await, "ok");
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    servers.shutdown().await;
}

#[tokio::test]
async fn a_slow_server_of_the_newer_era_is_started_anew_and_waited_for() {
    let rogue = Rogue::new(&["modern", "slow"]);
    let servers = rogue.start();
    assert_eq!(call_text(&servers, "ok").await, "ok");
    let status = servers.status().remove(0);
    assert_eq!(status.facts.map(|facts| facts.protocol_version), Some("2026-07-28".to_owned()));
    assert_eq!(rogue.heard("started").len(), 2);
    servers.shutdown().await;
}

#[tokio::test]
async fn both_eras_are_spoken() {
    for (words, version) in [(&["modern"][..], "2026-07-28"), (&[], "2025-11-25")] {
        let (_rogue, servers) = started(words);
        servers.settled().await;
        let facts = servers.status().remove(0).facts.expect("it is ready");
        assert_eq!(facts.protocol_version, version);
        assert_eq!(facts.implementation, Some(("rogue".to_owned(), "1".to_owned())));
        assert_eq!(call_text(&servers, "ok").await, "ok");
        servers.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_gets_no_variable_that_is_not_its_own() {
    let (_rogue, servers) = started(&[]);
    let seen: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&call_text(&servers, "env").await).expect("JSON");
    // What a launcher of Python adds for itself does not matter.
    assert!(seen.contains_key("ROGUE_LOG"), "{seen:?}");
    for name in ["HOME", "CARGO_MANIFEST_DIR", "CARGO_PKG_NAME"] {
        assert!(std::env::var_os(name).is_some() && !seen.contains_key(name), "{name} of {seen:?}");
    }
    servers.shutdown().await;
}

#[tokio::test]
async fn a_tool_that_is_gone_says_so() {
    let (_rogue, servers) = started(&[]);
    servers.settled().await;
    let tool = find(&servers, "ok").expect("a tool");
    servers.shutdown().await;
    drop(servers);
    let (output, call) = invoke(&tool, "{}").await;
    assert_eq!(
        shown(output.as_ref(), &call)[1]["text"],
        "tool call error: tool call failed for `rogue/ok`\n\nCaused by:\n    the session has ended"
    );
    assert_eq!(ToolExecutor::exposure(tool.as_ref()), tenon_tools::ToolExposure::Deferred);
}
