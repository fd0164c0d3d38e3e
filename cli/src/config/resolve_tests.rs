use pretty_assertions::assert_eq;
use tenon_core::policy::{LoopGuard, Rate, ToolLimit};
use tenon_tools::{EnvironmentInherit, GranularApproval};

use super::*;
use crate::config::Provider;

fn loaded(text: &str) -> Loaded {
    Loaded { file: toml::from_str(text).expect("a configuration"), warnings: Vec::new() }
}

fn resolve_with(text: &str, flags: Flags, defaults: Defaults) -> Result<Config, String> {
    let home = Home { path: PathBuf::from("/home/u/.tenon"), user: Some(PathBuf::from("/home/u")) };
    Config::resolve(loaded(text), flags, defaults, &home).map_err(|error| error.to_string())
}

fn provider(text: &str) -> Result<Provider, String> {
    Provider::chosen(&loaded(text).file).map_err(|error| error.to_string())
}

fn resolved(text: &str) -> Config {
    resolve_with(text, Flags::default(), Defaults::EXEC).expect("resolved")
}

#[test]
fn without_anything_the_defaults_hold() {
    let config = resolved("");
    assert_eq!(config.model, DEFAULT_MODEL);
    let provider = provider("").expect("chosen");
    assert_eq!(provider.base_url, "https://api.openai.com/v1");
    assert_eq!(provider.env_key.as_deref(), Some("OPENAI_API_KEY"));
    assert_eq!((provider.request_max_retries, provider.stream_max_retries), (4, 5));
    assert_eq!(provider.stream_idle_timeout, Duration::from_secs(300));
    assert_eq!(config.approval, ApprovalPolicy::OnRequest);
    let protected = vec![PathBuf::from("/home/u/.tenon")];
    let workspace = WorkspaceWrite { protected, ..WorkspaceWrite::default() };
    assert_eq!(config.sandbox, SandboxPolicy::WorkspaceWrite(workspace));
    assert_eq!(config.truncation, None);
    assert!(config.allow_login_shell && !config.disable_on_external_context);
    assert_eq!(config.warnings, Vec::<String>::new());
    let replay = resolve_with("", Flags::default(), Defaults::REPLAY).expect("resolved");
    assert_eq!(replay.approval, ApprovalPolicy::Never);
}

#[test]
fn flags_go_over_the_file_and_the_file_over_defaults() {
    let text = "model = \"f\"\nsandbox_mode = \"read-only\"\napproval_policy = \"untrusted\"\n";
    let config = resolved(text);
    assert_eq!(config.model, "f");
    assert_eq!(config.sandbox, SandboxPolicy::ReadOnly);
    assert_eq!(config.approval, ApprovalPolicy::UnlessTrusted);
    let flags = Flags {
        model: Some("flag".to_owned()),
        sandbox: Some(SandboxMode::DangerFullAccess),
        approval: Some(ApprovalPolicy::Never),
        bypass: false,
        add_dirs: Vec::new(),
    };
    let config = resolve_with(text, flags, Defaults::EXEC).expect("resolved");
    assert_eq!(config.model, "flag");
    assert_eq!(config.sandbox, SandboxPolicy::DangerFullAccess);
    assert_eq!(config.approval, ApprovalPolicy::Never);
}

#[test]
fn every_key_arrives() {
    let text = r#"
        model_provider = "p"
        tool_output_token_limit = 500
        allow_login_shell = false
        background_terminal_max_timeout = 7000
        approval_policy = { granular = { sandbox_approval = true, rules = false, mcp_elicitations = true } }
        [memories]
        disable_on_external_context = true
        [sandbox_workspace_write]
        writable_roots = ["/a", "b", "~/c"]
        network_access = true
        exclude_tmpdir_env_var = true
        exclude_slash_tmp = true
        [shell_environment_policy]
        inherit = "core"
        ignore_default_excludes = false
        exclude = ["A*"]
        set = { X = "1" }
        include_only = ["PATH"]
        [model_providers.p]
        name = "P"
        base_url = "http://h:1/v1/"
        env_key = "P_KEY"
        wire_api = "responses"
        http_headers = { x-a = "1" }
        query_params = { v = "2" }
        request_max_retries = 100
        stream_max_retries = 101
        stream_idle_timeout_ms = 5
        "#;
    let config = resolved(text);
    assert_eq!(config.truncation, Some(TruncationPolicy::Tokens(500)));
    assert_eq!(config.max_poll, Some(Duration::from_secs(7)));
    assert!(!config.allow_login_shell && config.disable_on_external_context);
    assert_eq!(
        config.approval,
        ApprovalPolicy::Granular(GranularApproval {
            sandbox_approval: true,
            mcp_elicitations: true,
            ..GranularApproval::default()
        })
    );
    assert_eq!(
        config.sandbox,
        SandboxPolicy::WorkspaceWrite(WorkspaceWrite {
            writable_roots: ["/a", "/home/u/.tenon/b", "/home/u/c"].map(PathBuf::from).to_vec(),
            network_access: true,
            exclude_tmpdir_env_var: true,
            exclude_slash_tmp: true,
            protected: vec![PathBuf::from("/home/u/.tenon")],
        })
    );
    assert_eq!(
        config.environment,
        EnvironmentPolicy {
            inherit: EnvironmentInherit::Core,
            ignore_default_excludes: Some(false),
            exclude: vec!["A*".to_owned()],
            set: [("X".to_owned(), "1".to_owned())].into(),
            include_only: vec!["PATH".to_owned()],
        }
    );
    let expected = Provider {
        id: "p".to_owned(),
        name: "P".to_owned(),
        base_url: "http://h:1/v1".to_owned(),
        env_key: Some("P_KEY".to_owned()),
        http_headers: [("x-a".to_owned(), "1".to_owned())].into(),
        query_params: [("v".to_owned(), "2".to_owned())].into(),
        request_max_retries: 100,
        stream_max_retries: 100,
        stream_idle_timeout: Duration::from_millis(5),
    };
    assert_eq!(provider(text), Ok(expected));
}

#[test]
fn a_local_server_needs_only_an_address() {
    let text = "model_provider = \"l\"\n[model_providers.l]\nbase_url = \"http://127.0.0.1:8080/v1\"\n";
    let provider = provider(text).expect("chosen");
    assert_eq!(provider.name, "l");
    assert_eq!(provider.env_key, None);
    assert_eq!(provider.request_max_retries, 4);
}

#[test]
fn a_provider_that_is_not_there_is_named_with_those_that_are() {
    let text = "model_provider = \"nope\"\n[model_providers.p]\nbase_url = \"http://h\"\n";
    assert_eq!(
        provider(text),
        Err("model_provider: there is no [model_providers.nope]; known providers: p, openai".to_owned())
    );
    let text = "model_provider = \"p\"\n[model_providers.p]\nname = \"P\"\n";
    let message = "model_providers.p.base_url: is missing: the provider's address, such as \"http://127.0.0.1:8080/v1\"";
    assert_eq!(provider(text), Err(message.to_owned()));
}

#[test]
fn modes_of_offering_tools() {
    let rows = [
        ("", ToolMode::Direct),
        ("tool_mode = \"direct\"", ToolMode::Direct),
        ("tool_mode = \"code_mode\"", ToolMode::CodeMode),
        ("tool_mode = \"code_mode_only\"", ToolMode::CodeModeOnly),
        ("features.code_mode = true", ToolMode::CodeMode),
        ("features.code_mode = false", ToolMode::Direct),
        ("[features.code_mode]\nenabled = true", ToolMode::CodeMode),
        ("[features.code_mode]\n", ToolMode::Direct),
        ("[features]\ncode_mode = true\ncode_mode_only = true", ToolMode::CodeModeOnly),
        ("tool_mode = \"direct\"\nfeatures.code_mode = true", ToolMode::Direct),
    ];
    for (text, mode) in rows {
        assert_eq!(resolved(text).tool_mode, mode, "{text}");
    }
}

#[test]
fn servers_that_are_enabled_are_started() {
    let config =
        resolved("[mcp_servers.b]\ncommand = \"x\"\n[mcp_servers.a]\ncommand = \"y\"\nenabled = false\n");
    assert_eq!(config.warnings, Vec::<String>::new());
    assert_eq!(config.mcp_servers.keys().collect::<Vec<_>>(), ["b"]);
}

#[test]
fn one_more_folder_joins_the_writable_ones() {
    let flags =
        |sandbox| Flags { sandbox: Some(sandbox), add_dirs: vec![PathBuf::from("/x")], ..Flags::default() };
    let text = "[sandbox_workspace_write]\nwritable_roots = [\"/a\"]\n";
    let config = resolve_with(text, flags(SandboxMode::WorkspaceWrite), Defaults::EXEC).expect("resolved");
    let SandboxPolicy::WorkspaceWrite(write) = config.sandbox else { panic!("another mode") };
    assert_eq!(write.writable_roots, [PathBuf::from("/a"), PathBuf::from("/x")]);
    let config = resolve_with(text, flags(SandboxMode::ReadOnly), Defaults::EXEC).expect("resolved");
    assert_eq!(config.warnings, ["--add-dir means nothing under sandbox mode read-only"]);
}

#[test]
fn nothing_is_limited_and_answers_are_waited_for_unless_the_file_says_otherwise() {
    let config = resolved("");
    assert_eq!(
        (config.limits, config.approval_timeout, config.bypass),
        (LimitOptions::default(), None, false)
    );
    let text = "approval_timeout_sec = 60\n[limits]\ncalls_per_turn = 50\n\
                loop_guard = { note_after = 3, refuse_after = 6 }\n[limits.tools.exec_command]\n\
                calls_per_turn = 20\nrate = { calls = 10, per_sec = 30 }\n";
    let config = resolved(text);
    assert_eq!(config.approval_timeout, Some(Duration::from_secs(60)));
    let number = |number| std::num::NonZeroU32::new(number).expect("not zero");
    let rate = Some(Rate { calls: number(10), per: Duration::from_secs(30) });
    let expected = LimitOptions {
        loop_guard: Some(LoopGuard { note_after: number(3), refuse_after: number(6) }),
        calls_per_turn: Some(50),
        tools: [("exec_command".to_owned(), ToolLimit { calls_per_turn: Some(20), rate })].into(),
    };
    assert_eq!(config.limits, expected);
    for wrong in [
        "limits.loop_guard = { note_after = 3 }",
        "limits.loop_guard = { note_after = 0, refuse_after = 1 }",
        "limits.tools.a.rate = { calls = 1, per_sec = 0 }",
        "approval_timeout_sec = 0",
    ] {
        assert!(toml::from_str::<crate::config::file::ConfigFile>(wrong).is_err(), "{wrong}");
    }
}
