use pretty_assertions::assert_eq;

use super::*;

fn file(text: &str) -> McpServerFile {
    toml::from_str(text).expect("a table")
}

fn refused(name: &str, text: &str) -> String {
    file(text).check(name).expect_err("it is refused").to_string()
}

fn environment(variables: &[(&str, &str)]) -> Environment {
    Environment(variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
}

#[test]
fn what_contradicts_itself_is_refused() {
    let cases = [
        (
            "a b",
            "command = \"x\"",
            "mcp_servers.a b: a server's name is made of letters, digits, `_` and `-`",
        ),
        ("s", "", "mcp_servers.s: a server needs a command or a url"),
        (
            "s",
            "command = \"x\"\nurl = \"http://h\"",
            "mcp_servers.s.url: a server has either a command or a url",
        ),
        ("s", "command = \"x\"\nhttp_headers = {}", "mcp_servers.s.http_headers: is for servers with a url"),
        ("s", "url = \"http://h\"\nargs = []", "mcp_servers.s.args: is for servers with a command"),
        ("s", "url = \"ftp://h\"", "mcp_servers.s.url: must begin with http:// or https://"),
        (
            "s",
            "url = \"http://h\"\nbearer_token = \"secret\"",
            "mcp_servers.s.bearer_token: a token does not belong in a file; name a variable in bearer_token_env_var",
        ),
        (
            "s",
            "command = \"x\"\nstartup_timeout_sec = 1\nstartup_timeout_ms = 1",
            "mcp_servers.s.startup_timeout_ms: startup_timeout_sec says it already",
        ),
    ];
    for (name, text, expected) in cases {
        assert_eq!(refused(name, text), expected);
    }
    assert!(toml::from_str::<McpServerFile>("command = \"x\"\ntool_timeout_sec = 0").is_err());
}

#[test]
fn a_program_gets_the_inherited_and_the_named_variables_alone() {
    let table = file(
        "command = \"x\"\nargs = [\"-a\"]\nenv_vars = [\"MINE\", {name = \"FAR\", source = \"remote\"}, {name = \"NEAR\"}]\n\
         env = {SET = \"1\", HOME = \"/set\"}",
    );
    let host = environment(&[
        ("HOME", "/h"),
        ("PATH", "/bin"),
        ("API_KEY", "k"),
        ("MINE", "m"),
        ("FAR", "f"),
        ("NEAR", "n"),
    ]);
    let McpServer::Usable(config) = table.settle("s", &host) else { panic!("it is usable") };
    let TransportConfig::Stdio(stdio) = config.transport else { panic!("it is a program") };
    let expected = [("HOME", "/set"), ("MINE", "m"), ("NEAR", "n"), ("PATH", "/bin"), ("SET", "1")];
    let expected: BTreeMap<OsString, OsString> =
        expected.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    assert_eq!(stdio.environment, expected);
    assert_eq!(stdio.args, ["-a"]);
}

#[test]
fn keys_say_what_a_server_may_do() {
    let table = file(
        "url = \"http://h/mcp\"\nrequired = true\nstartup_timeout_ms = 1500\ntool_timeout_sec = 2.5\n\
         enabled_tools = [\"a\", \"b\"]\ndisabled_tools = [\"b\"]\nsupports_parallel_tool_calls = true\n\
         default_tools_approval_mode = \"prompt\"\ntools.a.approval_mode = \"approve\"\nscopes = [\"x\"]",
    );
    let McpServer::Usable(config) = table.settle("s", &environment(&[])) else { panic!("it is usable") };
    assert_eq!((config.required, config.parallel), (true, true));
    assert_eq!(config.startup_timeout, Duration::from_millis(1500));
    assert_eq!(config.tool_timeout, Duration::from_millis(2500));
    assert_eq!([config.offers("a"), config.offers("b"), config.offers("c")], [true, false, false]);
    let modes = approval_modes(&BTreeMap::from([("s".to_owned(), table)]));
    assert_eq!(modes.mode("s", "a"), McpApprovalMode::Approve);
    assert_eq!(modes.mode("s", "b"), McpApprovalMode::Prompt);
    assert_eq!(modes.mode("other", "a"), McpApprovalMode::Auto);
}

#[test]
fn defaults_are_those_of_the_reference() {
    let McpServer::Usable(config) = file("command = \"x\"").settle("s", &environment(&[])) else {
        panic!("it is usable")
    };
    assert_eq!(config.startup_timeout, Duration::from_secs(30));
    assert_eq!(config.tool_timeout, Duration::from_secs(120));
    assert!(config.offers("t") && !config.parallel && !config.required);
}

#[test]
fn a_token_that_is_not_there_is_the_fault_of_its_server_alone() {
    let table = file("url = \"http://h\"\nbearer_token_env_var = \"TOKEN\"");
    let broken = McpServer::Broken {
        name: "s".to_owned(),
        required: false,
        why: "the environment variable TOKEN is not set, or is empty".to_owned(),
    };
    assert_eq!(table.settle("s", &environment(&[("TOKEN", " ")])), broken);
    assert_eq!(table.settle("s", &environment(&[])), broken);
    let McpServer::Usable(config) = table.settle("s", &environment(&[("TOKEN", "t")])) else {
        panic!("it is usable")
    };
    assert!(!format!("{config:?}").contains("\"t\""), "a token is not shown");
    let TransportConfig::Http(http) = config.transport else { panic!("it is over HTTP") };
    assert_eq!(http.bearer.as_ref().map(Secret::reveal), Some("t"));
}
