use std::path::Path;

use clap::CommandFactory;
use clap::error::ErrorKind;
use pretty_assertions::assert_eq;

use super::*;

fn parse_words(line: &[&str]) -> Result<Request, clap::Error> {
    let args: Vec<OsString> =
        std::iter::once("tenon").chain(line.iter().copied()).map(OsString::from).collect();
    parse(&args)
}

fn exec(line: &[&str]) -> ExecRequest {
    match parse_words(line).expect("the line parses") {
        Request::Exec(exec) => exec,
        other => panic!("not exec: {other:?}"),
    }
}

fn typed(text: &str) -> PromptSource {
    PromptSource::Typed(text.to_owned())
}

fn refusal(line: &[&str]) -> (ErrorKind, String) {
    let error = parse_words(line).expect_err("the line is refused");
    (error.kind(), error.to_string())
}

#[test]
fn the_command_line_of_the_scenarios() {
    let request = exec(&["exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "-C", "/w", "go"]);
    assert!(request.session.json);
    assert_eq!(request.session.cd, Some(PathBuf::from("/w")));
    assert_eq!(request.prompt, typed("go"));
    assert_eq!(request.start, Start::Fresh);
    let flags = request.session.flags(Path::new("/c"));
    assert_eq!(flags.sandbox, Some(SandboxMode::DangerFullAccess));
    assert_eq!(flags.approval, Some(ApprovalPolicy::Never));
}

#[test]
fn a_dash_and_no_prompt_both_mean_standard_input() {
    assert_eq!(exec(&["exec", "-"]).prompt, PromptSource::Stdin { asked: true });
    assert_eq!(exec(&["exec"]).prompt, PromptSource::Stdin { asked: false });
    assert_eq!(exec(&["exec", "--", "-v"]).prompt, typed("-v"));
}

#[test]
fn every_option_has_its_long_and_short_form() {
    let request = exec(&[
        "exec",
        "-m",
        "m1",
        "-c",
        "a=1",
        "--config",
        "b.c=two",
        "-s",
        "read-only",
        "-a",
        "untrusted",
        "--add-dir",
        "x",
        "--add-dir",
        "/y",
        "-o",
        "out.txt",
        "go",
    ]);
    let flags = request.session.flags(Path::new("/c"));
    assert_eq!(flags.model.as_deref(), Some("m1"));
    assert_eq!(flags.sandbox, Some(SandboxMode::ReadOnly));
    assert_eq!(flags.approval, Some(ApprovalPolicy::UnlessTrusted));
    assert_eq!(flags.add_dirs, [PathBuf::from("/c/x"), PathBuf::from("/y")]);
    let options: Vec<&str> = request.session.config.overrides.iter().map(|o| o.option.as_str()).collect();
    assert_eq!(options, ["a=1", "b.c=two"]);
    assert_eq!(request.session.output_last_message, Some(PathBuf::from("out.txt")));
    let long = exec(&[
        "exec",
        "--model",
        "m",
        "--cd",
        "/d",
        "--sandbox",
        "workspace-write",
        "--ask-for-approval",
        "on-request",
        "--output-last-message",
        "f",
        "go",
    ]);
    let flags = long.session.flags(Path::new("/"));
    assert_eq!(flags.sandbox, Some(SandboxMode::WorkspaceWrite));
    assert_eq!(flags.approval, Some(ApprovalPolicy::OnRequest));
}

#[test]
fn the_old_approval_word_still_means_on_request() {
    let request = exec(&["exec", "-a", "on-failure", "go"]);
    assert_eq!(request.session.ask_for_approval, Some(ApprovalFlag::OnRequest));
}

#[test]
fn resume_takes_options_on_either_side() {
    let request = exec(&[
        "exec", "--json", "-c", "a=1", "-m", "first", "resume", "-c", "b=2", "-m", "second", "ID", "go",
    ]);
    assert_eq!(request.start, Start::Resume("ID".to_owned()));
    assert_eq!(request.prompt, typed("go"));
    assert!(request.session.json);
    assert_eq!(request.session.model.as_deref(), Some("second"));
    let options: Vec<&str> = request.session.config.overrides.iter().map(|o| o.option.as_str()).collect();
    assert_eq!(options, ["a=1", "b=2"]);
}

#[test]
fn resume_last_takes_the_first_word_as_prompt() {
    let request = exec(&["exec", "resume", "--last", "go on"]);
    assert_eq!(request.start, Start::ResumeLast);
    assert_eq!(request.prompt, typed("go on"));
    let piped = exec(&["exec", "resume", "--last", "-"]);
    assert_eq!((piped.start, piped.prompt), (Start::ResumeLast, PromptSource::Stdin { asked: true }));
    let id_only = exec(&["exec", "resume", "ID"]);
    assert_eq!(
        (id_only.start, id_only.prompt),
        (Start::Resume("ID".to_owned()), PromptSource::Stdin { asked: false })
    );
}

#[test]
fn what_contradicts_itself_is_refused_wherever_it_stands() {
    let bypass = "--dangerously-bypass-approvals-and-sandbox";
    for line in [
        vec!["exec", bypass, "-s", "read-only", "go"],
        vec!["exec", bypass, "resume", "-a", "never", "--last"],
        vec!["exec", "-s", "read-only", "resume", bypass, "--last"],
        vec!["replay", bypass, "-s", "read-only", "f"],
        vec!["exec", "resume", "--last", "ID", "go"],
        vec!["exec", "go", "resume", "ID"],
    ] {
        assert_eq!(refusal(&line).0, ErrorKind::ArgumentConflict, "{line:?}");
    }
    assert_eq!(refusal(&["exec", "resume"]).0, ErrorKind::MissingRequiredArgument);
}

#[test]
fn mistakes_are_named() {
    assert_eq!(refusal(&["exec", "--nope", "go"]).0, ErrorKind::UnknownArgument);
    assert_eq!(refusal(&["replay"]).0, ErrorKind::MissingRequiredArgument);
    assert_eq!(refusal(&["run"]).0, ErrorKind::InvalidSubcommand);
    let (kind, text) = refusal(&["exec", "-s", "open", "go"]);
    assert_eq!(kind, ErrorKind::InvalidValue);
    assert!(text.contains("read-only, workspace-write, danger-full-access"), "{text}");
    let (kind, text) = refusal(&["exec", "-c", "novalue", "go"]);
    assert_eq!(kind, ErrorKind::ValueValidation);
    assert!(text.contains("expected key=value"), "{text}");
}

#[test]
fn help_is_no_failure_and_names_what_works() {
    let error = parse_words(&["--help"]).expect_err("help comes as an error");
    assert_eq!(error.kind(), ErrorKind::DisplayHelp);
    let text = error.to_string();
    for command in ["exec", "replay", "apply-patch", "tools", "mcp"] {
        assert!(text.contains(&format!("\n  {command} ")), "{text}");
    }
}

#[test]
fn mcp_needs_to_know_what_for() {
    assert!(matches!(parse_words(&["mcp", "list"]), Ok(Request::Mcp(McpAction::List { json: false, .. }))));
    let Ok(Request::Mcp(McpAction::Call { server, tool, arguments, json: true, config })) =
        parse_words(&["mcp", "call", "s", "t", "--json", "-c", "model=x"])
    else {
        panic!("not a call")
    };
    assert_eq!((server.as_str(), tool.as_str(), arguments.as_str()), ("s", "t", "{}"));
    assert_eq!(config.overrides.len(), 1);
    for line in [&["mcp"][..], &["mcp", "tools"], &["mcp", "call", "s"], &["mcp", "login"], &["mcp", "other"]]
    {
        assert!(parse_words(line).is_err(), "{line:?}");
    }
}

#[test]
fn a_patch_may_begin_with_a_hyphen() {
    let Ok(Request::ApplyPatch(patch)) = parse_words(&["apply-patch", "--- a"]) else {
        panic!("not apply-patch")
    };
    assert_eq!(patch.patch, Some(OsString::from("--- a")));
}

#[test]
fn replay_has_the_options_of_exec() {
    let line = ["replay", "-s", "danger-full-access", "--with-config", "--json", "demo.jsonl"];
    let Ok(Request::Replay(replay)) = parse_words(&line) else { panic!("not replay") };
    assert!(replay.with_config && replay.session.json);
    assert_eq!(replay.file, PathBuf::from("demo.jsonl"));
    assert_eq!(replay.session.sandbox, Some(SandboxFlag::DangerFullAccess));
}

#[test]
fn the_declaration_is_consistent() {
    Cli::command().debug_assert();
}
