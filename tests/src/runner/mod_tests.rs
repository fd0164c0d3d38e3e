use std::sync::Mutex;

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use crate::verdict::{Verdict, verdict};

/// A client as small as can be: it asks the model twice, with an output in between, and writes one file.
#[derive(Default)]
struct Small(Mutex<Option<Launch>>);

async fn post(address: &str, input: &Value) -> String {
    let body = json!({"input": input, "tools": [{"type": "function", "name": "f"}]}).to_string();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("POST /v1/responses HTTP/1.1\r\nhost: h\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[async_trait]
impl Client for Small {
    async fn run(&self, launch: Launch) -> anyhow::Result<Finished> {
        let config = std::fs::read_to_string(launch.cwd.join("config.toml"))?;
        let address = config.split("http://").nth(1).unwrap().split('/').next().unwrap();
        let call = json!({"type": "function_call", "call_id": "c1", "name": "f"});
        let first = post(address, &json!([{"type": "message", "role": "user"}])).await;
        assert!(first.contains(&format!("\"item\":{call}")), "{first}");
        let cwd = launch.args[4].to_str().unwrap().to_owned();
        let output = json!({"type": "function_call_output", "call_id": "c1", "output": format!("in {cwd}")});
        post(address, &json!([{"type": "message", "role": "user"}, call, output])).await;
        std::fs::write(format!("{cwd}/made"), format!("by {cwd}"))?;
        *self.0.lock().unwrap() = Some(launch);
        Ok(Finished {
            exit: Exit::Code(0),
            stdout: b"{\"type\":\"turn.started\"}\n".into(),
            stderr: b"e".into(),
        })
    }
}

#[tokio::test]
async fn a_scenario_is_played_from_its_file_to_its_verdict() {
    let scenario: Scenario = serde_json::from_value(json!({
        "name": "s",
        "turns": [[{"type": "function_call", "call_id": "c1", "name": "f"}]],
        "files": {"before": "x"},
        "expected": {
            "outputs": [[{"type": "function_call_output", "call_id": "c1", "output": "in <cwd>"}]],
            "files": {"before": "x", "made": "by <cwd>"},
            "exit": 0,
            "events": [{"type": "turn.started"}],
            "surface": {"f": {"type": "function", "name": "f"}},
        },
    }))
    .unwrap();
    let client = Small::default();
    let seen = play(&scenario, &client).await.unwrap();
    assert_eq!(verdict(&scenario, &seen).unwrap(), Verdict::Agrees);
    assert_eq!(seen.stderr, "e");
    let launch = client.0.lock().unwrap().take().unwrap();
    assert_eq!(launch.args[..4], ["exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "-C"]);
    assert_eq!(launch.args[5..], ["go"]);
    assert_eq!(
        launch.environment[&OsString::from("TENON_HOME")],
        launch.environment[&OsString::from("HOME")]
    );
    assert_eq!(launch.limit, LIMIT);
}

#[test]
fn of_standard_error_the_end_is_kept() {
    assert_eq!(tail(&[b'a'; STDERR_TAIL + 1]).len(), STDERR_TAIL);
    assert_eq!(tail(b"short"), "short");
}
