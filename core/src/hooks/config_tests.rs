use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

const PATH: &str = "/home/u/.tenon/hooks.json";

fn parse(hooks: &Value) -> HookConfig {
    HookConfig::parse(&json!({ "hooks": hooks }).to_string(), Path::new(PATH))
}

/// What is configured: event, command, seconds, order.
fn hooks(config: &HookConfig) -> Vec<(&'static str, &str, u64, usize)> {
    let all = config.hooks.iter();
    all.map(|hook| (hook.event.name(), hook.command.as_str(), hook.timeout.as_secs(), hook.display_order))
        .collect()
}

fn command(command: &str) -> Value {
    json!({"type": "command", "command": command})
}

#[test]
fn handlers_are_read_in_the_order_of_events_and_counted_through() {
    let config = parse(&json!({
        "Stop": [{"hooks": [command("stop")]}],
        "SessionStart": [{"matcher": "startup", "hooks": [command("start")]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [command("one"), command("one")]}, {"hooks": [command("two")]}],
        "UserPromptSubmit": [{"hooks": [command("prompt")]}],
        "PostToolUse": [{"hooks": [command("post")]}],
        "PermissionRequest": [{"hooks": [command("permit")]}],
    }));
    assert_eq!(config.warnings, Vec::<String>::new());
    assert_eq!(
        hooks(&config),
        [
            ("PreToolUse", "one", 600, 0),
            ("PreToolUse", "one", 600, 1),
            ("PreToolUse", "two", 600, 2),
            ("PermissionRequest", "permit", 600, 3),
            ("PostToolUse", "post", 600, 4),
            ("SessionStart", "start", 600, 5),
            ("UserPromptSubmit", "prompt", 600, 6),
            ("Stop", "stop", 600, 7),
        ]
    );
    assert!(config.hooks.iter().all(|hook| hook.source_path == Path::new(PATH)));
}

#[test]
fn members_of_a_handler() {
    let read = |members: Value| {
        let mut handler = command("c");
        handler.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
        let config = parse(&json!({"PreToolUse": [{"hooks": [handler, command("beside")]}]}));
        assert_eq!(config.hooks.last().expect("the one beside").command, "beside", "{members}");
        (config.hooks.first().cloned().filter(|hook| hook.command == "c"), config.warnings)
    };
    let seconds = [
        (json!({}), 600),
        (json!({"timeout": null}), 600),
        (json!({"timeout": 0}), 1),
        (json!({"timeout": 1}), 1),
        (json!({"timeout": 30}), 30),
        (json!({"timeoutSec": 7}), 7),
    ];
    for (members, expected) in seconds {
        let (hook, warnings) = read(members);
        assert_eq!((hook.expect("it fits").timeout.as_secs(), warnings), (expected, Vec::new()));
    }
    let contract = |extended, on_error| HookContract { extended, on_error };
    let contracts = [
        (json!({"extended": true}), contract(true, OnError::Allow), true),
        (json!({"extended": false}), contract(false, OnError::Allow), false),
        (json!({"on_error": "block"}), contract(false, OnError::Block), true),
        (json!({"onError": "block"}), contract(false, OnError::Block), true),
        (json!({"on_error": "allow", "extended": null}), contract(false, OnError::Allow), false),
        (json!({"on_error": "allow", "extended": true}), contract(true, OnError::Allow), true),
    ];
    for (members, expected, closed) in contracts {
        let (hook, warnings) = read(members);
        let found = hook.expect("it fits").contract;
        assert_eq!((found, found.is_closed(), warnings), (expected, closed, Vec::new()));
    }
    let fits = json!({"statusMessage": "checking", "async": false, "commandWindows": "x", "unknown": [1]});
    assert_eq!(read(fits).0.expect("it fits").status_message.as_deref(), Some("checking"));
    let unfit = [
        (json!({"timeout": 1.5}), "invalid type: floating point `1.5`, expected u64"),
        (json!({"timeout": -1}), "invalid value: integer `-1`, expected u64"),
        (json!({"timeout": "10"}), "invalid type: string \"10\", expected u64"),
        (json!({"timeout": 1, "timeoutSec": 2}), "duplicate field `timeout`"),
        (json!({"command": 1}), "invalid type: integer `1`, expected a string"),
        (json!({"async": "yes"}), "invalid type: string \"yes\", expected a boolean"),
        (json!({"extended": 1}), "invalid type: integer `1`, expected a boolean"),
        (json!({"on_error": "fail"}), "unknown variant `fail`, expected `allow` or `block`"),
        (json!({"type": "http"}), "there is no type \"http\""),
        (json!({"type": 1}), "invalid type: integer `1`, expected a string"),
    ];
    for (members, why) in unfit {
        let (hook, warnings) = read(members);
        assert!(hook.is_none());
        assert_eq!(warnings, [format!("skipping a PreToolUse hook in {PATH}: {why}")]);
    }
}

#[test]
fn what_is_not_supported_is_skipped_with_its_own_words_and_the_rest_runs() {
    let rows = [
        (command("  "), format!("skipping empty hook command in {PATH}")),
        (json!({"type": "command"}), format!("skipping empty hook command in {PATH}")),
        (
            json!({"type": "prompt", "prompt": "?"}),
            format!("skipping prompt hook in {PATH}: prompt hooks are not supported yet"),
        ),
        (
            json!({"type": "agent"}),
            format!("skipping agent hook in {PATH}: agent hooks are not supported yet"),
        ),
        (
            json!({"type": "command", "command": "c", "async": true}),
            format!("skipping async hook in {PATH}: async hooks are not supported yet"),
        ),
    ];
    for (handler, warning) in rows {
        let config = parse(&json!({"Stop": [{"hooks": [handler, command("beside")]}]}));
        assert_eq!(config.warnings, [warning]);
        assert_eq!(hooks(&config), [("Stop", "beside", 600, 0)]);
    }
}

#[test]
fn a_group_that_cannot_be_used_skips_itself_alone() {
    let beside = json!({"hooks": [command("beside")]});
    let rows = [
        (json!({"matcher": "(", "hooks": [command("c")]}), "invalid matcher \"(\" in "),
        (json!({"matcher": 1, "hooks": [command("c")]}), "skipping a group of PreToolUse hooks in "),
        (json!({"hooks": 1}), "skipping a group of PreToolUse hooks in "),
        (json!("c"), "skipping a group of PreToolUse hooks in "),
    ];
    for (group, start) in rows {
        let config = parse(&json!({ "PreToolUse": [group, beside] }));
        assert_eq!(config.warnings.len(), 1);
        let warning = &config.warnings[0];
        assert!(warning.starts_with(&format!("{start}{PATH}: ")), "{warning}");
        assert_eq!(hooks(&config), [("PreToolUse", "beside", 600, 0)]);
    }
    let config = parse(&json!({"PreToolUse": {}, "PostToolUse": [beside], "Stop": null}));
    assert_eq!(
        config.warnings,
        [format!("skipping hooks of PreToolUse in {PATH}: expected a list of groups")]
    );
    assert_eq!(hooks(&config), [("PostToolUse", "beside", 600, 0)]);
}

#[test]
fn matchers_of_prompts_and_stops_are_not_even_looked_at() {
    for matcher in [json!("("), json!("never"), json!(1)] {
        let group = json!([{"matcher": matcher, "hooks": [command("c")]}]);
        let config = parse(&json!({"UserPromptSubmit": group, "Stop": group}));
        assert_eq!(config.warnings, Vec::<String>::new());
        assert!(config.hooks.iter().all(|hook| matches!(hook.matcher, Matcher::All)));
        assert_eq!(config.hooks.len(), 2);
    }
}

#[test]
fn an_event_that_is_not_ours_is_told() {
    let config =
        parse(&json!({"PreTooluse": [{"hooks": [command("c")]}], "Stop": [{"hooks": [command("c")]}]}));
    assert_eq!(config.warnings, [format!("skipping hooks in {PATH}: there is no event \"PreTooluse\" here")]);
    assert_eq!(config.hooks.len(), 1);
}

#[test]
fn a_file_that_cannot_be_used_configures_nothing() {
    let rows = [
        ("", Some("EOF while parsing a value at line 1 column 0")),
        ("[]", Some("invalid type: sequence, expected a map at line 1 column 0")),
        ("{\"hooks\": []}", Some("`hooks` is no object")),
        ("{}", None),
        ("{\"hooks\": null, \"other\": 1}", None),
        ("\u{feff}{\"hooks\": {}}", None),
    ];
    for (text, why) in rows {
        let config = HookConfig::parse(text, Path::new(PATH));
        let expected: Vec<_> =
            why.iter().map(|why| format!("failed to parse hooks config {PATH}: {why}")).collect();
        assert_eq!(config.warnings, expected, "{text:?}");
        assert!(config.hooks.is_empty());
    }
}

#[test]
fn a_file_is_read_where_there_is_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("hooks.json");
    let missing = HookConfig::load(&file);
    assert_eq!((missing.hooks.len(), missing.warnings.len()), (0, 0));
    std::fs::write(&file, json!({"hooks": {"Stop": [{"hooks": [command("c")]}]}}).to_string())
        .expect("written");
    assert_eq!(hooks(&HookConfig::load(&file)), [("Stop", "c", 600, 0)]);
    let unreadable = HookConfig::load(folder.path());
    let start = format!("failed to read hooks config {}: ", folder.path().display());
    assert!(unreadable.warnings[0].starts_with(&start), "{:?}", unreadable.warnings);
    std::fs::write(&file, b"{\"hooks\": {}}\xff").expect("written");
    assert_eq!(HookConfig::load(&file).warnings.len(), 1);
}
