use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::*;

fn load_text(text: &[u8], options: &[&str]) -> Result<Loaded, String> {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("config.toml");
    std::fs::write(&path, text).expect("written");
    let overrides: Vec<_> = options.iter().map(|o| ConfigOverride::parse(o).expect("an option")).collect();
    let home = folder.path().display().to_string();
    load(&path, &overrides)
        .map(|mut loaded| {
            loaded.warnings = loaded.warnings.iter().map(|w| w.replace(&home, "HOME")).collect();
            loaded
        })
        .map_err(|error| error.to_string().replace(&home, "HOME"))
}

fn error(text: &str) -> String {
    load_text(text.as_bytes(), &[]).expect_err("it is refused")
}

#[test]
fn no_file_is_an_empty_configuration() {
    let loaded = load(Path::new("/nonexistent/config.toml"), &[]).expect("loaded");
    assert_eq!(loaded.warnings, Vec::<String>::new());
    assert_eq!(loaded.file.model, None);
}

#[test]
fn a_broken_file_says_path_line_and_column() {
    let cases = [
        ("model = \n", "HOME/config.toml:1:9: string values must be quoted, expected literal string"),
        ("model = \"a\"\nmodel = \"b\"\n", "HOME/config.toml:2:1: duplicate key"),
        ("# é\nmodel = 7\n", "HOME/config.toml:2:9: invalid type: integer `7`, expected a string"),
        (
            "sandbox_mode = \"open\"",
            "HOME/config.toml:1:16: unknown variant `open`, expected one of `read-only`, `workspace-write`, `danger-full-access`",
        ),
        (
            "approval_policy = \"sometimes\"",
            "HOME/config.toml:1:19: unknown approval policy \"sometimes\", expected \"untrusted\", \"on-request\", \"never\" or { granular = { ... } }",
        ),
        (
            "approval_policy = 3",
            "HOME/config.toml:1:19: invalid type: integer `3`, expected \"untrusted\", \"on-request\", \"never\" or { granular = { ... } }",
        ),
        (
            "tool_mode = \"js\"",
            "HOME/config.toml:1:13: unknown variant `js`, expected one of `direct`, `code_mode`, `code_mode_only`",
        ),
        (
            "tool_output_token_limit = -1",
            "HOME/config.toml:1:27: invalid value: integer `-1`, expected a whole number from 0",
        ),
        (
            "\n[model_providers.x]\n  base_url = \"ftp://h\"\n",
            "HOME/config.toml:3:14: base_url \"ftp://h\" must begin with http:// or https://",
        ),
        (
            "[model_providers.x]\nbase_url = \"http://u:secret@h\"\n",
            "HOME/config.toml:2:12: base_url must not hold a user or a password; use env_key or http_headers",
        ),
        (
            "[model_providers.x]\nwire_api = \"chat\"\n",
            "HOME/config.toml:2:12: wire_api \"chat\" is not spoken; only \"responses\" is",
        ),
        (
            "[model_providers.x.http_headers]\n\"a b\" = \"v\"\n",
            "HOME/config.toml:2:1: \"a b\" is no name of an HTTP header: letters, digits and hyphens make one",
        ),
        ("[model_providers.x]\nstream_idle_timeout_ms = 0\n", "HOME/config.toml:2:26: must be at least 1"),
        (
            "[shell_environment_policy]\nset = { A = 1 }\n",
            "HOME/config.toml:2:13: invalid type: integer `1`, expected a string",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn a_secret_header_value_stands_in_no_error() {
    let text = "[model_providers.x.http_headers]\nauthorization = \"secret\\u0000\"\n";
    assert_eq!(
        error(text),
        "HOME/config.toml:2:17: the value of an HTTP header must be one line without control characters"
    );
}

#[test]
fn addresses_are_checked() {
    for url in [
        "http://",
        "https:///v1",
        "http://:80",
        "127.0.0.1:80",
        "http://h/v1?x=1",
        "http://h/v1#x",
        "http://a b",
    ] {
        assert!(
            load_text(format!("[model_providers.x]\nbase_url = \"{url}\"").as_bytes(), &[]).is_err(),
            "{url}"
        );
    }
    for url in ["http://127.0.0.1:8080/v1", "https://h", "http://[::1]:80/v1/"] {
        assert!(
            load_text(format!("[model_providers.x]\nbase_url = \"{url}\"").as_bytes(), &[]).is_ok(),
            "{url}"
        );
    }
}

#[test]
fn a_file_that_is_no_text_says_where() {
    assert_eq!(
        load_text(b"model = \"a\"\nx = \"\xff\"\n", &[]).expect_err("refused"),
        "HOME/config.toml:2:6: this is no UTF-8 text"
    );
}

#[test]
fn a_byte_order_mark_is_no_mistake() {
    let loaded = load_text("\u{feff}model = \"a\"\r\n".as_bytes(), &[]).expect("loaded");
    assert_eq!(loaded.file.model.as_deref(), Some("a"));
}

#[test]
fn a_folder_in_its_place_is_unreadable() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("config.toml");
    std::fs::create_dir(&path).expect("made");
    let message = load(&path, &[]).expect_err("refused").to_string();
    assert!(message.starts_with(&format!("cannot read {}: ", path.display())), "{message}");
    assert_eq!(message.lines().count(), 1);
}

#[test]
fn a_link_to_nothing_is_not_the_same_as_no_file() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("config.toml");
    std::os::unix::fs::symlink("gone.toml", &path).expect("linked");
    let message = load(&path, &[]).expect_err("refused").to_string();
    assert_eq!(
        message,
        format!("cannot read {}: it is a link to something that is not there", path.display())
    );
}

#[test]
fn a_named_pipe_is_refused_and_not_waited_for() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("config.toml");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).expect("made");
    let message = load(&path, &[]).expect_err("refused").to_string();
    assert_eq!(message, format!("cannot read {}: it is a named pipe, and no regular file", path.display()));
}

#[test]
fn no_type_of_ours_stands_in_an_error() {
    let cases = [
        (
            "tool_output_token_limit = -1\n",
            "1:27: invalid value: integer `-1`, expected a whole number from 0",
        ),
        (
            "tool_output_token_limit = \"x\"\n",
            "1:27: invalid type: string \"x\", expected a whole number from 0",
        ),
        ("model_providers = 1\n", "1:19: invalid type: integer `1`, expected a table"),
        ("sandbox_workspace_write = []\n", "1:27: invalid type: sequence, expected a table"),
        ("[model_providers]\nx = 1\n", "2:5: invalid type: integer `1`, expected a table"),
        (
            "[sandbox_workspace_write]\nwritable_roots = 1\n",
            "2:18: invalid type: integer `1`, expected a list",
        ),
        ("allow_login_shell = 1\n", "1:21: invalid type: integer `1`, expected true or false"),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), format!("HOME/config.toml:{expected}"), "{text}");
    }
}

#[test]
fn the_size_is_bounded() {
    let limit = usize::try_from(CONFIG_MAX_BYTES).expect("fits");
    let comment = |size: usize| format!("#{}", "x".repeat(size - 1));
    assert!(load_text(comment(limit).as_bytes(), &[]).is_ok());
    let message = load_text(comment(limit + 1).as_bytes(), &[]).expect_err("refused");
    assert_eq!(message, "HOME/config.toml is larger than 4194304 bytes: this is no configuration");
}

#[test]
fn unknown_keys_are_warnings_that_name_key_and_file() {
    let text = "colour = 1\n[features]\nx = true\ncode_mode = { enabled = true, y = 1 }\n[memories]\nold = 1\n[model_providers.p]\nspeed = 2\n";
    let loaded = load_text(text.as_bytes(), &["tui.theme=dark", "colour=2"]).expect("loaded");
    assert_eq!(
        loaded.warnings,
        [
            "HOME/config.toml: unknown key `colour` is ignored",
            "HOME/config.toml: unknown key `memories.old` is ignored",
            "HOME/config.toml: unknown key `model_providers.p.speed` is ignored",
            "HOME/config.toml: unknown key `features.x` is ignored",
            "HOME/config.toml: unknown key `features.code_mode.y` is ignored",
            "-c: unknown key `tui` is ignored",
        ]
    );
}

#[test]
fn keys_without_effect_are_warnings_that_say_why() {
    let text =
        "[mcp_servers.s]\nurl = \"http://h/\"\noauth_resource = \"r\"\nexperimental_environment = \"x\"\n";
    let loaded =
        load_text(text.as_bytes(), &["mcp_servers.t={url='http://i/',oauth_resource='r'}"]).expect("loaded");
    let why =
        "has no effect: a login asks for the resource that the server itself publishes, else for its url";
    let here = "HOME/config.toml: `mcp_servers.s.experimental_environment` has no effect: servers are started on this machine";
    assert_eq!(
        loaded.warnings,
        [
            format!("HOME/config.toml: `mcp_servers.s.oauth_resource` {why}"),
            here.to_owned(),
            format!("-c: `mcp_servers.t.oauth_resource` {why}"),
        ]
    );
}

#[test]
fn options_go_over_the_file_in_their_order() {
    let loaded = load_text(
        b"model = \"a\"\n[model_providers.p]\nname = \"P\"\nrequest_max_retries = 3\n",
        &[
            "model=b",
            "model=c",
            "model_providers.p.request_max_retries=0",
            "model_providers.q.base_url=http://h/v1",
        ],
    )
    .expect("loaded");
    assert_eq!(loaded.file.model.as_deref(), Some("c"));
    let p = &loaded.file.model_providers["p"];
    assert_eq!((p.name.as_deref(), p.request_max_retries), (Some("P"), Some(0)));
    assert_eq!(
        loaded.file.model_providers["q"].base_url.as_ref().map(|url| url.0.as_str()),
        Some("http://h/v1")
    );
}

#[test]
fn the_option_at_fault_is_named() {
    let refused = |options: &[&str]| load_text(b"model = \"a\"\n", options).expect_err("refused");
    assert_eq!(
        refused(&["model=b", "sandbox_mode=open"]),
        "-c sandbox_mode=open: unknown variant `open`, expected one of `read-only`, `workspace-write`, `danger-full-access`"
    );
    assert_eq!(refused(&["model.x=1"]), "-c model.x=1: model holds a value and no table");
}
