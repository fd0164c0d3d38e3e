//! `tenon mcp login` from outside: an authorization server, a browser that comes back, and the tokens that stay.
#![allow(clippy::expect_used, clippy::panic, reason = "test code")]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use pretty_assertions::assert_eq;
use support::{Place, Running};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/oauth_fixture.py");

/// A server that wants a login, with the authorization server that it names.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The server, and a place where it is configured.
fn guarded(words: &[&str]) -> (Guarded, Place) {
    let mut child = Command::new("python3")
        .arg(FIXTURE)
        .args(words)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the server starts");
    let mut port = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut port).expect("a line");
    let place = Place::new();
    place.config(&format!("[mcp_servers.guarded]\nurl = \"http://127.0.0.1:{}/mcp\"\n", port.trim()));
    (Guarded(child), place)
}

/// A login that waits for the browser, and the address that the user is to open.
fn begin(place: &Place) -> (Running, String) {
    let mut login = Running::start(place.command(&["mcp", "login", "guarded"]));
    login.wait_for("Open this address to log in:");
    let url = login.wait_for("http://");
    (login, url.trim().to_owned())
}

/// Asks for an address on this machine: head and body of the answer.
fn get(url: &str) -> (String, String) {
    let (host, path) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("an address");
    let mut stream = TcpStream::connect(host).expect("somebody listens");
    // At once: whoever has read the first line may answer and go.
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("asked");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

/// Where the authorization server sends the browser.
fn sent_to(url: &str) -> String {
    let (head, body) = get(url);
    let location = head.lines().find_map(|line| line.strip_prefix("Location: "));
    location.unwrap_or_else(|| panic!("{head}\n{body}")).to_owned()
}

#[test]
fn a_login_waits_for_the_browser_and_keeps_what_it_brings() {
    let (_server, place) = guarded(&[]);
    let ran = place.run(&["mcp", "call", "guarded", "whoami"]);
    assert_eq!(ran.status, Some(1));
    assert_eq!(ran.stderr, "tenon: the server wants a login: run `tenon mcp login guarded`\n");
    let (login, url) = begin(&place);
    let back = sent_to(&url);
    let origin = back.split("/callback?").next().expect("the callback");
    let (icon, _) = get(&format!("{origin}/favicon.ico"));
    assert!(icon.starts_with("HTTP/1.1 404 "), "a browser asks for more than it was sent to: {icon}");
    let (page, words) = get(&back);
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    assert!(words.contains("You may close this page"), "{words}");
    let ran = login.finish();
    assert_eq!(
        (ran.status, ran.stdout.as_str(), ran.stderr.as_str()),
        (Some(0), "logged in at guarded\n", "")
    );
    let ran = place.run(&["mcp", "call", "guarded", "whoami"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), "you have access-0\n"), "{}", ran.stderr);
    let kept = std::fs::read_dir(place.home().join("mcp-credentials")).expect("the folder");
    for file in kept.map(|file| file.expect("a file")) {
        let mode = file.metadata().expect("there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.path().display());
    }
}

#[test]
fn a_login_that_the_user_denies_says_so_and_keeps_nothing() {
    let (_server, place) = guarded(&["denies"]);
    let (login, url) = begin(&place);
    get(&sent_to(&url));
    let ran = login.finish();
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    assert_eq!(ran.stderr, "tenon: the login was refused: access_denied: the user said no\n");
    let ran = place.run(&["mcp", "call", "guarded", "whoami"]);
    assert_eq!(ran.stderr, "tenon: the server wants a login: run `tenon mcp login guarded`\n");
}

#[test]
fn an_answer_to_another_login_is_not_taken() {
    let (_server, place) = guarded(&[]);
    let (login, url) = begin(&place);
    let back = sent_to(&url);
    let (address, _) = back.split_once("state=").expect("a state");
    get(&format!("{address}state=forged"));
    let ran = login.finish();
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.starts_with("tenon: "), "{}", ran.stderr);
    let ran = place.run(&["mcp", "call", "guarded", "whoami"]);
    assert_eq!(ran.status, Some(1), "{}", ran.stdout);
}
