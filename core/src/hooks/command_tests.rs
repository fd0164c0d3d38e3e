use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::super::testing::{PLAIN, before, exits, hooks};
use super::*;
use crate::hooks::HookConfig;

fn hook(matcher: &Value, environment: &[(&str, &str)]) -> CommandHook {
    let hooks = json!([{"type": "command", "command": "check  'a'\n  more", "timeout": 3}]);
    let file = json!({"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": hooks}]}}).to_string();
    let config = HookConfig::parse(&file, Path::new("/h/hooks.json")).hooks.remove(0);
    let environment = environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
    CommandHook::new(config, tenon_tools::Host::detached().commands.clone(), Arc::new(environment))
}

#[test]
fn a_hook_runs_in_the_users_login_shell_with_all_of_the_hosts_environment() {
    for (shell, expected) in [(Some("/bin/zsh"), "/bin/zsh"), (Some(""), "/bin/sh"), (None, "/bin/sh")] {
        let environment: Vec<_> =
            shell.map(|shell| ("SHELL", shell)).into_iter().chain([("KEY", "k")]).collect();
        let request = hook(&json!(null), &environment).request(Path::new("/w"), b"{}".to_vec());
        assert_eq!(request.argv, [expected, "-lc", "check  'a'\n  more"]);
        assert_eq!(
            (request.cwd, request.stdin, request.timeout),
            ("/w".into(), b"{}".to_vec(), Duration::from_secs(3))
        );
        assert_eq!(request.environment.get(OsStr::new("KEY")), Some(&"k".into()));
        assert_eq!(request.max_output_bytes, HOOK_OUTPUT_MAX_BYTES);
    }
}

#[test]
fn a_hook_is_named_by_its_command_on_one_bounded_line() {
    assert_eq!(hook(&json!(null), &[]).name(), "`check 'a' more`");
    let mut long = hook(&json!(null), &[]);
    long.config.command = "ü".repeat(81);
    assert_eq!(long.name(), format!("`{}…`", "ü".repeat(80)));
    long.config.command = "ü".repeat(80);
    assert_eq!(long.name(), format!("`{}`", "ü".repeat(80)));
}

#[test]
fn a_hook_hears_of_its_event_and_of_what_its_matcher_finds() {
    let hook = hook(&json!("Write|Edit"), &[]);
    let patch = Subject::Tool("apply_patch", &["Write", "Edit"]);
    assert!(hook.wants(HookEventName::PreToolUse, patch));
    assert!(!hook.wants(HookEventName::PostToolUse, patch));
    assert!(!hook.wants(HookEventName::PreToolUse, Subject::Tool("Bash", &[])));
    assert!(!hook.wants(HookEventName::PreToolUse, Subject::Source("startup")));
}

#[tokio::test]
async fn a_hook_reads_one_document() {
    let hooks = hooks(HookEventName::PreToolUse, vec![(PLAIN, exits(0, "", ""))]);
    hooks.chain.pre_tool_use(&before(), &[]).await;
    let requests = hooks.requests.lock().expect("no panic");
    let document: Value = serde_json::from_slice(&requests[0].stdin).expect("one document");
    assert_eq!(document, Value::Object(input::pre_tool_use(&before(), false)));
    assert_eq!(requests[0].cwd, Path::new("/w"));
}

#[tokio::test]
async fn without_anybody_who_runs_commands_a_hook_fails() {
    let ran = hook(&json!(null), &[]).pre_tool_use(&before()).await;
    assert_eq!(ran.failure.as_deref(), Some("commands cannot be run here"));
}

#[tokio::test]
async fn what_is_dropped_of_a_flood_is_told() {
    let flood =
        Ok(CommandOutcome { exit_code: Some(0), stdout: Vec::new(), stderr: Vec::new(), dropped_bytes: 7 });
    let hooks = hooks(HookEventName::PreToolUse, vec![(PLAIN, flood)]);
    hooks.chain.pre_tool_use(&before(), &[]).await;
    let told = "PreToolUse hook `0`: it printed more than is kept; 7 bytes were dropped";
    assert_eq!(hooks.heard.warnings(), [told]);
}
