//! `tenon exec --interactive`: the person at the terminal is asked. A real terminal: a PTY of which the program is the
//! session's leader.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Place, Server, message, shell};

/// The longest that a test waits for something to appear.
const LONG: Duration = Duration::from_secs(60);

/// The program on a terminal, and everything that appeared on it.
struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    typed: Box<dyn std::io::Write + Send>,
    screen: Arc<(Mutex<String>, Condvar)>,
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    fn start(place: &Place, args: &[&str]) -> Self {
        let size = PtySize { rows: 50, cols: 200, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a terminal");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tenon"));
        command.args(args);
        command.env_clear();
        let environment = place.command(&[]);
        for (name, value) in environment.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        command.env("NO_COLOR", "1");
        command.cwd(place.work());
        let child = pair.slave.spawn_command(command).expect("the program starts");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let screen: Arc<(Mutex<String>, Condvar)> = Arc::default();
        let shown = Arc::clone(&screen);
        // Ends with the terminal.
        thread::spawn(move || {
            let mut piece = [0; 1024];
            while let Ok(read) = reader.read(&mut piece) {
                if read == 0 {
                    break;
                }
                shown.0.lock().expect("no panic").push_str(&String::from_utf8_lossy(&piece[..read]));
                shown.1.notify_all();
            }
        });
        let typed = pair.master.take_writer().expect("a writer");
        Self { child, typed, screen, _master: pair.master }
    }

    /// Waits until `text` has appeared, and gives everything that has.
    fn wait_for(&self, text: &str) -> String {
        let screen = self.screen.0.lock().expect("no panic");
        let waited = self.screen.1.wait_timeout_while(screen, LONG, |screen| !screen.contains(text));
        let (screen, timeout) = waited.expect("no panic");
        assert!(!timeout.timed_out(), "{text:?} has not appeared: {screen}");
        screen.clone()
    }

    fn type_line(&mut self, line: &str) {
        self.typed.write_all(format!("{line}\n").as_bytes()).expect("typed");
    }

    /// The exit status.
    fn end(mut self) -> u32 {
        self.child.wait().expect("it ends").exit_code()
    }
}

const ASKED: &str = "exec_command asks for approval:";
const UNTRUSTED: [&str; 8] =
    ["exec", "--interactive", "-a", "untrusted", "-s", "danger-full-access", "-c", "allow_login_shell=false"];

/// What the model read of its call.
fn output(request: &Value) -> String {
    let items = request["input"].as_array().into_iter().flatten();
    let mut output = items
        .filter(|item| item["type"] == "function_call_output")
        .filter_map(|item| item["output"].as_str());
    output.next_back().expect("an output").to_owned()
}

/// Starts a session that runs `touch made` and asks; gives the terminal with the question on it.
fn asked(place: &Place, server: &Server) -> Terminal {
    place.config(&server.config());
    let terminal = Terminal::start(place, &[&UNTRUSTED[..], &["go"]].concat());
    terminal.wait_for("  q  no, and end the turn");
    terminal
}

fn server() -> Server {
    Server::start(vec![vec![shell("c1", "touch made")], vec![message("all done")]])
}

#[test]
fn a_person_is_shown_what_would_be_done_and_says_yes() {
    let (place, server) = (Place::new(), server());
    let mut terminal = asked(&place, &server);
    let screen = terminal.wait_for("> ").replace('\r', "");
    assert!(screen.contains(ASKED), "{screen}");
    assert!(screen.contains("-c 'touch made'\n"), "{screen}");
    assert!(screen.contains(&format!("  in {}\n", place.work().display())), "{screen}");
    let rules = place.home().join("rules/default.rules");
    for offered in [
        "  y  yes; ends with this call\n".to_owned(),
        "  s  yes, and to exactly the same from now on; ends with this session\n".to_owned(),
        format!(
            "  p  yes, and to every command that begins with `touch made`, without a sandbox; ends when the rule is \
             taken out of {}\n",
            rules.display()
        ),
    ] {
        assert!(screen.contains(&offered), "{offered}: {screen}");
    }
    assert!(!place.work().join("made").exists(), "nothing has happened yet");
    terminal.type_line("what");
    terminal.type_line("y");
    terminal.wait_for("all done");
    assert_eq!(terminal.end(), 0);
    assert!(place.work().join("made").exists());
}

#[test]
fn a_no_reaches_the_model_with_its_words() {
    for (typed, expected) in [
        ("n", "exec command rejected by user"),
        ("n use the other folder", "exec command rejected: use the other folder"),
        // The end of input.
        ("\u{4}", "exec command rejected by user"),
    ] {
        let (place, server) = (Place::new(), server());
        let mut terminal = asked(&place, &server);
        terminal.type_line(typed);
        terminal.wait_for("all done");
        assert_eq!(terminal.end(), 0);
        assert!(!place.work().join("made").exists());
        assert_eq!(output(&server.requests()[1]), expected);
    }
}

#[test]
fn a_prefix_is_edited_and_written() {
    let (place, server) = (Place::new(), server());
    let mut terminal = asked(&place, &server);
    terminal.type_line("p");
    terminal.wait_for("begins with (enter takes it, other words replace it): touch made");
    terminal.type_line("touch");
    terminal.wait_for("all done");
    assert_eq!(terminal.end(), 0);
    let rules = std::fs::read_to_string(place.home().join("rules/default.rules")).expect("written");
    assert_eq!(rules, "prefix_rule(pattern=[\"touch\"], decision=\"allow\")\n");
    assert!(place.work().join("made").exists());
}

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/mcp_fixture.py");

/// A call of a tool that says nothing of itself, and whose name needs quotes in TOML.
fn create(id: &str) -> Value {
    let arguments = json!({"title": "lunch", "start": "now"}).to_string();
    json!({"type": "function_call", "name": "calendar_create_event", "namespace": "mcp__fixture", "call_id": id,
           "arguments": arguments})
}

/// A configuration with the fixture server.
fn with_fixture(server: &Server) -> String {
    format!("{}[mcp_servers.fixture] # mine\ncommand = \"python3\"\nargs = [{FIXTURE:?}]\n", server.config())
}

/// What the model read of its calls, all in one text.
fn outputs(request: &Value) -> String {
    let items = request["input"].as_array().into_iter().flatten();
    items
        .filter(|item| item["type"] == "function_call_output")
        .map(|item| item["output"].to_string())
        .collect()
}

const ATTENDED: [&str; 5] = ["exec", "--interactive", "-s", "danger-full-access", "go"];

/// Refused without a person; asked about once, and never again: not in this session, and not in the next start.
#[test]
fn a_tool_that_is_not_to_be_asked_about_again_is_written_and_not_asked_about_by_the_next_start() {
    let place = Place::new();
    let done = || vec![message("all done")];
    let calls = |id: &str| vec![create(id)];
    let server =
        Server::start(vec![calls("c0"), done(), calls("c1"), calls("c2"), done(), calls("c3"), done()]);
    let config = with_fixture(&server);
    place.config(&config);
    let unattended = || place.run(&["exec", "--json", "-s", "danger-full-access", "go"]);
    assert_eq!(unattended().status, Some(0));
    let refused = "tool \\\"calendar.create-event\\\" of the MCP server fixture was not run: it needs approval, and nobody \
                   can be asked in this run";
    assert!(outputs(&server.requests()[1]).contains(refused), "{}", outputs(&server.requests()[1]));

    let mut terminal = Terminal::start(&place, &ATTENDED);
    let screen = terminal.wait_for("  q  no, and end the turn").replace('\r', "");
    let file = place.home().join("config.toml");
    for shown in [
        "reason: Allow the fixture MCP server to run tool \"calendar.create-event\"?\n".to_owned(),
        "  s  yes, and to this tool from now on, whatever its arguments; ends with this session\n".to_owned(),
        format!(
            "  a  yes, and don't ask again about calendar.create-event of the MCP server fixture, in later sessions \
             either; ends when the tool's approval_mode is taken out of {}\n",
            file.display()
        ),
    ] {
        assert!(screen.contains(&shown), "{shown}: {screen}");
    }
    terminal.type_line("a");
    let screen = terminal.wait_for("all done");
    assert_eq!(terminal.end(), 0);
    assert_eq!(screen.matches("asks for approval:").count(), 1, "{screen}");
    assert_eq!(outputs(&server.requests()[4]).matches("created lunch").count(), 2);
    let added = "\n[mcp_servers.fixture.tools.\"calendar.create-event\"]\napproval_mode = \"approve\"\n";
    assert_eq!(std::fs::read_to_string(&file).expect("read"), format!("{config}{added}"));

    assert_eq!(unattended().status, Some(0));
    assert!(outputs(&server.requests()[6]).contains("created lunch"), "{}", outputs(&server.requests()[6]));
}

#[test]
fn a_tool_that_cannot_be_written_is_not_asked_about_again_in_this_session() {
    let place = Place::new();
    let server = Server::start(vec![vec![create("c1")], vec![create("c2")], vec![message("all done")]]);
    let config = with_fixture(&server);
    place.config(&config);
    let file = place.home().join("config.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).expect("set");
    let mut terminal = Terminal::start(&place, &ATTENDED);
    terminal.wait_for("  q  no, and end the turn");
    terminal.type_line("a");
    let screen = terminal.wait_for("all done");
    assert_eq!(terminal.end(), 0);
    let warning = format!(
        "warning: the approval counts for this session alone: {}: it is marked read-only",
        file.canonicalize().expect("there").display()
    );
    assert!(screen.contains(&warning), "{screen}");
    assert_eq!(screen.matches("asks for approval:").count(), 1, "{screen}");
    assert_eq!(outputs(&server.requests()[2]).matches("created lunch").count(), 2);
    assert_eq!(std::fs::read_to_string(&file).expect("read"), config);
}

#[test]
fn a_second_run_is_asked_about_as_one() {
    let (place, server) =
        (Place::new(), Server::start(vec![vec![shell("c1", "echo x >> made")], vec![message("all done")]]));
    place.config(&server.config());
    let confined = [
        "exec",
        "--interactive",
        "-a",
        "untrusted",
        "-s",
        "read-only",
        "-c",
        "allow_login_shell=false",
        "go",
    ];
    let mut terminal = Terminal::start(&place, &confined);
    terminal.wait_for("  q  no, and end the turn");
    terminal.type_line("y");
    let screen = terminal.wait_for("reason: command failed; retry without sandbox?").replace('\r', "");
    assert!(screen.contains(ASKED), "{screen}");
    let screen = terminal.wait_for("a yes runs it a second time, from its beginning, without the sandbox.");
    assert!(screen.contains("It has run already, in the sandbox, and failed with exit code 1."), "{screen}");
    assert!(!place.work().join("made").exists());
    terminal.type_line("y");
    terminal.wait_for("all done");
    assert_eq!(terminal.end(), 0);
    assert_eq!(std::fs::read_to_string(place.work().join("made")).expect("made"), "x\n");
    let told = output(&server.requests()[1]);
    assert!(
        told.contains("\nRun again without the sandbox, in which a first run failed (exit code 1)\n"),
        "{told}"
    );
}

#[test]
fn q_ends_the_turn() {
    let (place, server) = (Place::new(), server());
    let mut terminal = asked(&place, &server);
    terminal.type_line("q");
    assert_eq!(terminal.end(), 130);
    assert!(!place.work().join("made").exists());
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn an_interrupt_withdraws_the_question() {
    let (place, server) = (Place::new(), server());
    let mut terminal = asked(&place, &server);
    terminal.typed.write_all(b"\x03").expect("typed");
    assert_eq!(terminal.end(), 130);
    assert!(!place.work().join("made").exists());
}

#[test]
fn without_a_terminal_it_is_refused() {
    let place = Place::new();
    let ran = place.run(&["exec", "--interactive", "go"]);
    let expected = "tenon: --interactive asks at the terminal, and standard input is none: run it from a terminal, with \
                    the prompt as the last argument\n";
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(2), expected));
    let help = place.run(&["exec", "--help"]).stdout;
    assert!(help.contains("--interactive"), "{help}");
    assert!(help.contains("Ask at the terminal for what needs approval; without, it is refused"), "{help}");
    assert_eq!(place.run(&["replay", "--interactive", "x"]).status, Some(2));
}

#[test]
fn unattended_what_needs_approval_is_refused_with_the_reason() {
    let (place, server) = (Place::new(), server());
    place.config(&server.config());
    let rules = place.home().join("rules");
    std::fs::create_dir(&rules).expect("made");
    let rule =
        "prefix_rule(pattern=[\"touch\"], decision=\"prompt\", justification=\"files are asked about\")\n";
    std::fs::write(rules.join("my.rules"), rule).expect("written");
    let ran =
        place.run(&["exec", "--json", "-s", "danger-full-access", "-c", "allow_login_shell=false", "go"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let told = output(&server.requests()[1]);
    let reason = "-c 'touch made'` requires approval: files are asked about (it needs approval, and nobody can be asked \
                  in this run)";
    assert!(told.starts_with("exec command rejected: `") && told.ends_with(reason), "{told}");
    assert!(!place.work().join("made").exists());
}

#[test]
fn a_broken_rule_file_is_told_before_anything_runs() {
    let place = Place::new();
    place.config(
        "model_provider = \"local\"\n[model_providers.local]\nbase_url = \"http://127.0.0.1:9/v1\"\n",
    );
    std::fs::create_dir(place.home().join("rules")).expect("made");
    std::fs::write(place.home().join("rules/my.rules"), "\nprefix_rule(pattern=[])\n").expect("written");
    let ran = place.run(&["exec", "-s", "danger-full-access", "go"]);
    let file = place.home().join("rules/my.rules");
    let expected = format!("tenon: {}:2:21: an empty pattern would match every command\n", file.display());
    assert_eq!((ran.status, ran.stderr), (Some(2), expected));
}
