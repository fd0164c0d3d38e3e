//! The user's hooks under the program: when they run, what they are told, and what of a filtered output is left.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Place, Ran, Server, lines, message, shell};

const BYPASS: &str = "--dangerously-bypass-approvals-and-sandbox";

fn hooks(place: &Place, hooks: &Value) {
    std::fs::write(place.home().join("hooks.json"), json!({ "hooks": hooks }).to_string()).expect("written");
}

/// Hooks that write down what they are told of every event.
fn recording(place: &Place) {
    let events = ["PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit", "Stop"];
    let file = place.home().join("told");
    let command = format!("cat >> '{0}'; echo >> '{0}'", file.display());
    let all =
        events.map(|event| (event.to_owned(), json!([{"hooks": [{"type": "command", "command": command}]}])));
    hooks(place, &Value::Object(all.into_iter().collect()));
}

/// What hooks were told since the last time.
fn told(place: &Place) -> Vec<Value> {
    let file = place.home().join("told");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let _ = std::fs::remove_file(file);
    text.lines().map(|line| serde_json::from_str(line).expect("one document a line")).collect()
}

fn names(documents: &[Value]) -> Vec<&str> {
    documents.iter().filter_map(|document| document["hook_event_name"].as_str()).collect()
}

/// The order of a session's first turn with one command, and of a later one without.
const FIRST: [&str; 5] = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
const LATER: [&str; 3] = ["SessionStart", "UserPromptSubmit", "Stop"];

/// What all documents of one run have in common.
fn check_common(documents: &[Value], id: &str, rollout: &Path, mode: &str) {
    for document in documents {
        assert_eq!(document["session_id"], id);
        assert_eq!(document["transcript_path"], json!(rollout));
        assert_eq!(document["permission_mode"], mode, "{document}");
        assert_eq!(document.get("turn_id").is_none(), document["hook_event_name"] == "SessionStart");
    }
}

#[test]
fn exec_and_resume_run_every_hook_and_tell_how_the_session_began() {
    let place = Place::new();
    recording(&place);
    let answers = vec![
        vec![shell("c1", "echo hi")],
        vec![message("one")],
        vec![message("two")],
        vec![message("three")],
    ];
    let server = Server::start(answers);
    place.config(&server.config());
    let first = place.run(&["exec", "--json", BYPASS, "first"]);
    assert_eq!((first.status, first.stderr.as_str()), (Some(0), ""));
    let id = first.events()[0]["thread_id"].as_str().expect("an id").to_owned();
    let [rollout] = place.rollouts().try_into().expect("one rollout");
    let documents = told(&place);
    assert_eq!(names(&documents), FIRST);
    check_common(&documents, &id, &rollout, "bypassPermissions");
    assert_eq!(documents[0]["source"], "startup");
    assert_eq!(documents[1]["prompt"], "first");
    assert_eq!(
        (&documents[4]["stop_hook_active"], &documents[4]["last_assistant_message"]),
        (&json!(false), &json!("one"))
    );
    for (arguments, prompt, answer) in [
        (vec!["exec", "--json", BYPASS, "resume", "--last", "second"], "second", "two"),
        (vec!["exec", "--json", "-s", "danger-full-access", "resume", &id, "third"], "third", "three"),
    ] {
        let ran = place.run(&arguments);
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
        let documents = told(&place);
        assert_eq!(names(&documents), LATER);
        let mode = if arguments.contains(&BYPASS) { "bypassPermissions" } else { "default" };
        check_common(&documents, &id, &rollout, mode);
        assert_eq!(documents[0]["source"], "resume");
        assert_eq!(
            (&documents[1]["prompt"], &documents[2]["last_assistant_message"]),
            (&json!(prompt), &json!(answer))
        );
    }
}

#[test]
fn replay_runs_hooks_only_when_it_is_asked_to() {
    let place = Place::new();
    recording(&place);
    let file = place.file("x.jsonl", lines(&[vec![shell("c1", "echo hi")], vec![message("one")]]));
    assert_eq!(place.replay(&file, &[]).status, Some(0));
    assert_eq!(told(&place), Vec::<Value>::new());
    let ran = place.replay(&file, &["--with-config"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let documents = told(&place);
    assert_eq!(names(&documents), FIRST);
    assert_eq!(documents[0]["source"], "startup");
    let id = ran.events()[0]["thread_id"].as_str().expect("an id").to_owned();
    let rollout = place.rollouts().pop().expect("the newest");
    check_common(&documents, &id, &rollout, "bypassPermissions");
}

#[test]
fn a_matcher_of_session_start_picks_how_the_session_began() {
    let place = Place::new();
    let says = |matcher: &str| json!({"matcher": matcher, "hooks": [{"type": "command", "command": format!("echo {matcher}")}]});
    hooks(&place, &json!({"SessionStart": [says("startup"), says("resume"), says("clear")]}));
    let server = Server::start(vec![vec![message("one")], vec![message("two")]]);
    place.config(&server.config());
    assert_eq!(place.run(&["exec", BYPASS, "first"]).status, Some(0));
    assert_eq!(place.run(&["exec", BYPASS, "resume", "--last", "second"]).status, Some(0));
    let developer = |request: &Value| -> Vec<Value> {
        let items = request["input"].as_array().into_iter().flatten();
        items
            .filter(|item| item["role"] == "developer")
            .map(|item| item["content"][0]["text"].clone())
            .collect()
    };
    let requests = server.requests();
    assert_eq!(developer(&requests[0]), ["startup"]);
    assert_eq!(developer(&requests[1]), ["startup", "resume"]);
}

#[test]
fn a_prompt_and_a_session_that_a_hook_refuses_fail_without_a_request() {
    for event in ["UserPromptSubmit", "SessionStart"] {
        let place = Place::new();
        let answer = match event {
            "SessionStart" => json!({"continue": false, "stopReason": "not now"}),
            _ => json!({"decision": "block", "reason": "not now"}),
        };
        let command = format!("echo '{answer}'");
        hooks(&place, &json!({event: [{"hooks": [{"type": "command", "command": command}]}]}));
        let server = Server::start(vec![vec![message("one")]]);
        place.config(&server.config());
        let ran = place.run(&["exec", "--json", BYPASS, "the secret prompt"]);
        assert_eq!((ran.status, server.requests().len()), (Some(1), 0), "{event}");
        let last = ran.events().pop().expect("a line");
        assert_eq!(last, json!({"type": "turn.failed", "error": {"message": "not now"}}), "{event}");
        assert_eq!(ran.stderr, "tenon: the prompt was refused: not now\n");
        let [rollout] = place.rollouts().try_into().expect("one rollout");
        let text = std::fs::read_to_string(rollout).expect("read");
        assert!(!text.contains("the secret prompt"), "{text}");
    }
}

#[test]
fn a_stop_hook_sends_the_model_on_once_and_is_told_that_it_did() {
    let place = Place::new();
    let command = "grep -q '\"stop_hook_active\":true' || { echo 'run the tests' >&2; exit 2; }";
    hooks(&place, &json!({"Stop": [{"hooks": [{"type": "command", "command": command}]}]}));
    let server = Server::start(vec![vec![message("one")], vec![message("two")]]);
    place.config(&server.config());
    let ran = place.run(&["exec", "--json", BYPASS, "go"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let requests = server.requests();
    let sent_on = requests[1]["input"].as_array().and_then(|input| input.last()).expect("an item");
    let hook = format!("stop:0:{}", place.home().join("hooks.json").display());
    let text = format!("<hook_prompt hook_run_id=\"{hook}\">run the tests</hook_prompt>");
    assert_eq!((&sent_on["role"], &sent_on["content"][0]["text"]), (&json!("user"), &json!(text)));
}

/// What is in every file below a folder.
fn everything(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                return everything(&path);
            }
            let content = std::fs::read(&path).unwrap_or_default();
            vec![(path, content)]
        })
        .collect()
}

fn holds(content: &[u8], secret: &str) -> bool {
    content.windows(secret.len()).any(|window| window == secret.as_bytes())
}

/// One run with calls that bring a secret up by every way there is, with every log there is.
fn run_with_secret(place: &Place, secret: &str) -> (Ran, Server) {
    // More than is kept for the model, so that nothing of what was cut lies somewhere either.
    let long: String = (0..20_000).map(|n| format!("{n} {secret}\n")).collect();
    place.file("secret.txt", secret);
    place.file("long.txt", long);
    place.file("patched.txt", format!("one\n{secret}\nthree\n"));
    let function = |id: &str, name: &str, arguments: Value| json!({"type": "function_call", "name": name, "call_id": id, "arguments": arguments.to_string()});
    let patch = |id: &str, text: &str| json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": id, "input": text});
    let slow = json!({"cmd": "cat secret.txt; sleep 0.6; cat secret.txt; exit 3", "yield_time_ms": 250});
    let background = json!({"cmd": "cat secret.txt; sleep 60", "yield_time_ms": 250});
    let server = Server::start(vec![
        vec![
            shell("a", "cat secret.txt"),
            shell("b", "cat long.txt"),
            shell("c", "cat secret.txt >&2; kill -9 $$"),
            // The error shows the lines that are there.
            patch("d", "*** Begin Patch\n*** Update File: patched.txt\n@@\n-other\n+x\n*** End Patch\n"),
            function("e", "view_image", json!({"path": "secret.txt"})),
            function("f", "exec_command", slow),
            function("g", "exec_command", background),
        ],
        vec![message("done")],
    ]);
    place.config(&server.config());
    let mut command = place.command(&["exec", "--json", BYPASS, "go"]);
    command.env("RUST_LOG", "trace");
    (Ran::from(command.output().expect("it starts")), server)
}

#[test]
fn what_a_filter_has_taken_out_is_in_no_file_no_log_no_event_and_no_request() {
    const SECRET: &str = "EXAMPLE-0123456789abcdef";
    let filter = "python3 -c \"import json, sys\n\
        response = json.dumps(json.load(sys.stdin)['tool_response'])\n\
        hidden = json.loads(response.replace('EXAMPLE-0123456789abcdef', '[hidden]'))\n\
        print(json.dumps({'hookSpecificOutput': {'hookEventName': 'PostToolUse', 'updatedToolOutput': hidden}}))\"";
    let place = Place::new();
    let handler = json!({"type": "command", "command": filter, "extended": true});
    hooks(&place, &json!({"PostToolUse": [{"hooks": [handler]}]}));
    let (ran, server) = run_with_secret(&place, SECRET);
    assert_eq!(ran.status, Some(0), "{}", ran.stdout);
    assert!(ran.stderr.len() > 1000, "the logs are there");
    let requests = json!(server.requests()).to_string();
    assert!(requests.contains("[hidden]") && ran.stdout.contains("[hidden]"), "{requests}");
    for (what, text) in [("requests", &requests), ("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
        assert!(!text.contains(SECRET), "{what}");
    }
    for (path, content) in everything(&place.home()) {
        let is_the_hook = path.ends_with("hooks.json");
        assert!(is_the_hook || !holds(&content, SECRET), "{}", path.display());
    }
    // Without the filter it is in all of them but the logs: the test looks in the right places.
    let place = Place::new();
    let (ran, server) = run_with_secret(&place, SECRET);
    assert!(json!(server.requests()).to_string().contains(SECRET) && ran.stdout.contains(SECRET));
    assert!(everything(&place.home()).iter().any(|(_, content)| holds(content, SECRET)));
}
