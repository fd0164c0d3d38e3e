//! What the model asks for in the session: calls of every kind, each with an effect that can be counted.
//!
//! An effect is a line in a file of the folder `effects`, named by the call: two lines are one too many. A patch takes
//! `big.txt` from one version to the next; whatever happens, one of them is there whole.

use std::path::Path;

use serde_json::{Value, json};

/// Lines of `big.txt`: more than is written at once.
const BIG_LINES: usize = 6000;

/// The calls with an effect of their own, in the order in which they come.
pub const COUNTED: [&str; 9] = ["c1", "c2", "m1", "c3", "m2", "c4", "n1", "n2", "c5"];

/// The calls that are the model's own, in the order in which they come.
pub const DIRECT: [&str; 10] = ["c1", "c2", "m1", "p1", "c3", "m2", "p2", "c4", "e1", "c5"];

/// What `big.txt` holds after this many patches.
pub fn big(version: usize) -> String {
    let lines: String = (0..BIG_LINES).map(|line| format!("line {line:06} of a long file\n")).collect();
    format!("version {version}\n{lines}end of version {version}\n")
}

/// How many versions there are.
pub const VERSIONS: usize = 4;

/// What the model says, answer by answer. `effects` is the folder of the counters.
pub fn answers(effects: &Path) -> Vec<Vec<Value>> {
    let count = |id: &str| format!("echo x >> {}/{id}", effects.display());
    vec![
        vec![exec("c1", &count("c1")), exec("c2", &count("c2")), bump("m1")],
        vec![patch("p1", &patch_text(0, "*** Add File: added.txt\n+added\n*** Delete File: gone.txt\n"))],
        vec![background("c3", &format!("{}; exec sleep 1000", count("c3"))), bump("m2")],
        vec![patch("p2", &patch_text(1, "")), exec("c4", &format!("{}; sleep 0.05", count("c4")))],
        vec![custom("e1", "exec", &script(&count("n1")))],
        vec![exec("c5", &count("c5"))],
    ]
}

/// A script that calls one tool of each kind.
fn script(command: &str) -> String {
    let patch = patch_text(2, "");
    format!(
        "await tools.exec_command({{cmd: {}}});\nawait tools.mcp__counter__bump({{counter: \"n2\"}});\n\
         await tools.apply_patch({});\ntext(\"all done\");",
        json!(command),
        json!(patch)
    )
}

/// From one version of `big.txt` to the next, and what else is patched.
fn patch_text(from: usize, more: &str) -> String {
    let to = from + 1;
    let last = BIG_LINES - 1;
    format!(
        "*** Begin Patch\n*** Update File: big.txt\n@@\n-version {from}\n+version {to}\n line 000000 of a long file\n@@\n \
         line {last:06} of a long file\n-end of version {from}\n+end of version {to}\n{more}*** End Patch\n"
    )
}

fn exec(id: &str, command: &str) -> Value {
    function(id, "exec_command", &json!({"cmd": command, "login": false}))
}

/// A command that outlives its call.
fn background(id: &str, command: &str) -> Value {
    function(id, "exec_command", &json!({"cmd": command, "login": false, "yield_time_ms": 250}))
}

fn bump(id: &str) -> Value {
    let mut call = function(id, "bump", &json!({"counter": id}));
    call["namespace"] = json!("mcp__counter");
    call
}

fn function(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"type": "function_call", "name": name, "call_id": id, "arguments": arguments.to_string()})
}

fn patch(id: &str, text: &str) -> Value {
    custom(id, "apply_patch", text)
}

fn custom(id: &str, name: &str, input: &str) -> Value {
    json!({"type": "custom_tool_call", "name": name, "call_id": id, "input": input})
}
