use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_tools::{FileEffect, McpEffect, ToolCallSource};

use super::*;
use crate::approver::testing::request;

fn file(path: &str) -> FileEffect {
    FileEffect { path: path.into(), content: None }
}

const END: &str = "  n  no; words behind it are for the model\n  q  no, and end the turn\n";

#[test]
fn a_command_with_everything() {
    let command = CommandEffect {
        argv: ["bash", "-lc", "echo \u{1b}[2J; sh x"].map(str::to_owned).into(),
        cwd: "/work".into(),
        tty: true,
        sandbox_permissions: SandboxPermissions::RequireEscalated,
        ..CommandEffect::default()
    };
    let effects = Effects { command: Some(command), reads: vec![file("/work/x")], ..Effects::none() };
    let prefix =
        ApprovalScope::Prefix { prefix: vec!["git".to_owned(), "a b".to_owned()], file: "/r".into() };
    let asked = ApprovalRequest {
        reason: Some("it dials".to_owned()),
        scopes: vec![ApprovalScope::Once, ApprovalScope::Session, prefix],
        changed: true,
        source: ToolCallSource::CodeMode { cell_id: "1".to_owned(), runtime_tool_call_id: "2".to_owned() },
        ..request(effects)
    };
    let expected = "\ntool, called by a script, asks for approval:\n  $ bash -lc 'echo ^[[2J; sh x'\n  in /work, on a \
                    terminal, without a sandbox\n  runs /work/x\nreason: it dials\nIt was approved before, and what it \
                    would do has changed since.\n  y  yes; ends with this call\n  s  yes, and to exactly the same from \
                    now on; ends with this session\n  p  yes, and to every command that begins with `git 'a b'`, \
                    without a sandbox; ends when the rule is taken out of /r\n";
    assert_eq!(text(&asked), format!("{expected}{END}"));
}

#[test]
fn a_patch_a_tool_and_something_else() {
    let patch = Effects { writes: vec![file("/a")], ..Effects::none() };
    let asked = ApprovalRequest { diff: Some("-x\n+y\n".to_owned()), ..request(patch) };
    let head = "\ntool asks for approval:\n";
    let once = "  y  yes; ends with this call\n";
    assert_eq!(text(&asked), format!("{head}  writes /a\n  | -x\n  | +y\n{once}{END}"));
    let mcp = McpEffect { server: "s".to_owned(), tool: "t".to_owned(), ..McpEffect::default() };
    let always =
        ApprovalScope::McpTool { server: "s".to_owned(), tool: "t\nu".to_owned(), file: "/c".into() };
    let asked = ApprovalRequest {
        arguments: Some(json!({"a": 1})),
        scopes: vec![ApprovalScope::Once, ApprovalScope::Session, always],
        ..request(Effects { mcp: Some(mcp), ..Effects::none() })
    };
    let shown = "  calls t of the MCP server s\n  | {\n  |   \"a\": 1\n  | }\n";
    let session = "  s  yes, and to this tool from now on, whatever its arguments; ends with this session\n";
    let always = "  a  yes, and don't ask again about t\n  | u of the MCP server s, in later sessions either; ends when \
                  the tool's approval_mode is taken out of /c\n";
    assert_eq!(text(&asked), format!("{head}{shown}{once}{session}{always}{END}"));
    let asked = request(Effects { other: Some("rings a bell".to_owned()), ..Effects::none() });
    assert_eq!(text(&asked), format!("{head}  rings a bell\n{once}{END}"));
}

#[test]
fn the_bound_of_lines_is_exact() {
    let shown = |lines: usize| {
        let diff = Some("+\n".repeat(lines));
        text(&ApprovalRequest { diff, ..request(Effects::none()) })
            .lines()
            .filter(|line| line.starts_with("  |"))
            .count()
    };
    assert_eq!(shown(MAX_LINES), MAX_LINES);
    assert_eq!(shown(MAX_LINES + 1), MAX_LINES + 1);
    let diff = Some("+\n".repeat(MAX_LINES + 3));
    assert!(text(&ApprovalRequest { diff, ..request(Effects::none()) }).contains("  | ... 3 more lines\n"));
}

/// What a model says cannot look like a line of the question.
#[test]
fn every_further_line_stands_behind_a_bar() {
    let command = CommandEffect {
        argv: ["sh", "-c", "a\n  in /safe\tb"].map(str::to_owned).into(),
        cwd: "/work".into(),
        sandbox_permissions: SandboxPermissions::RequireEscalated,
        ..CommandEffect::default()
    };
    let effects = Effects { command: Some(command), ..Effects::none() };
    for end in ["\n", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{2029}"] {
        let reason = Some(format!("it dials{end}  in /safe, sandboxed{end}  y  yes, and more\u{1b}[1A\u{8}"));
        let asked = text(&ApprovalRequest { reason, ..request(effects.clone()) });
        let head =
            "\ntool asks for approval:\n  $ sh -c 'a\n  |   in /safe\tb'\n  in /work, without a sandbox\n";
        let reason = "reason: it dials\n  |   in /safe, sandboxed\n  |   y  yes, and more^[[1A^H\n";
        assert_eq!(asked, format!("{head}{reason}  y  yes; ends with this call\n{END}"), "{end:?}");
    }
}

#[test]
fn a_second_run() {
    let command =
        CommandEffect { argv: vec!["make".to_owned()], cwd: "/work".into(), ..CommandEffect::default() };
    let first_run = Some(FirstRun { exit_code: 2, denial: "[denied: /etc/x]".to_owned() });
    let reason = Some("command failed; retry without sandbox?".to_owned());
    let effects = Effects { command: Some(command), ..Effects::none() };
    let asked = ApprovalRequest { first_run, reason, ..request(effects) };
    let expected = "\ntool asks for approval:\n  $ make\n  in /work\nreason: command failed; retry without sandbox?\nIt has \
                    run already, in the sandbox, and failed with exit code 2. What it did until then stands; a yes runs it \
                    a second time, from its beginning, without the sandbox.\n  | [denied: /etc/x]\n  y  yes; ends with this \
                    call\n";
    assert_eq!(text(&asked), format!("{expected}{END}"));
}
