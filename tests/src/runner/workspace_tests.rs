use pretty_assertions::assert_eq;
use serde_json::Value;

use super::*;

fn scenario(members: Value) -> Scenario {
    let mut whole = json!({"name": "s", "turns": [], "expected": {"outputs": [], "files": {}, "exit": 0}});
    let Value::Object(members) = members else { panic!("an object of members") };
    whole.as_object_mut().unwrap().extend(members);
    serde_json::from_value(whole).unwrap()
}

#[test]
fn files_hooks_and_configuration_lie_where_they_belong() {
    let scenario = scenario(json!({
        "files": {"a/b.txt": "é\n"}, "files_hex": {"c": "00ff0a"}, "hooks": {"Stop": []},
        "config": "tool_output_token_limit = 5\n", "mode": "code_mode",
    }));
    let workspace = Workspace::new(&scenario, "http://127.0.0.1:1/v1").unwrap();
    let cwd = workspace.cwd().unwrap();
    assert_eq!(std::fs::read_to_string(cwd.join("a/b.txt")).unwrap(), "é\n");
    assert_eq!(std::fs::read(cwd.join("c")).unwrap(), [0, 255, 10]);
    assert_eq!(
        std::fs::read_to_string(workspace.home().join("hooks.json")).unwrap(),
        r#"{"hooks":{"Stop":[]}}"#
    );
    assert_eq!(
        std::fs::read_to_string(workspace.home().join("config.toml")).unwrap(),
        "model = \"gpt-6.2-sol\"\nmodel_provider = \"mock\"\ntool_mode = \"code_mode_only\"\n\
         tool_output_token_limit = 5\n\n[model_providers.mock]\nname = \"mock\"\n\
         base_url = \"http://127.0.0.1:1/v1\"\nwire_api = \"responses\"\nrequest_max_retries = 0\n\
         stream_max_retries = 0\n"
    );
}

#[test]
fn the_fixture_server_gets_its_own_table() {
    let scenario = scenario(json!({"mcp": true, "mcp_extra": "tool_timeout_sec=1\n"}));
    let text = config(&scenario, "http://h/v1");
    let expected = format!(
        "\n[mcp_servers.fixture]\ncommand = \"python3\"\nargs = [\"{MCP_FIXTURE}\"]\ntool_timeout_sec=1\n\n[model"
    );
    assert!(text.contains(&expected), "{text}");
    assert!(Path::new(MCP_FIXTURE).is_file());
}

#[test]
fn wrong_digits_are_an_error_that_names_the_file() {
    for (digits, cause) in [("0", "an odd number"), ("zz", "invalid digit")] {
        let error = Workspace::new(&scenario(json!({"files_hex": {"c": digits}})), "x").unwrap_err();
        let text = format!("{error:#}");
        assert!(text.starts_with("files_hex \"c\": ") && text.contains(cause), "{text}");
    }
}

#[test]
fn the_folders_go_with_the_workspace() {
    let workspace = Workspace::new(&scenario(json!({})), "x").unwrap();
    let (home, cwd) = (workspace.home().to_owned(), workspace.cwd().unwrap());
    drop(workspace);
    assert!(!home.exists() && !cwd.exists());
}
