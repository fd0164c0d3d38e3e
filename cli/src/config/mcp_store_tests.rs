use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use pretty_assertions::assert_eq;
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::*;

const SERVER: &str = "# mine\n[mcp_servers.s]\ncommand = 'x'\n";

fn home() -> (TempDir, PathBuf) {
    let home = TempDir::new().expect("a folder");
    let file = home.path().canonicalize().expect("it is there").join("config.toml");
    (home, file)
}

#[tokio::test]
async fn two_programs_at_the_same_time_lose_nothing() {
    let (_home, file) = home();
    fs::write(&file, SERVER).expect("written");
    let mut writers = JoinSet::new();
    for writer in 0..4 {
        // Each with a store of its own, as another program would have.
        let store = Arc::new(ConfigMcpStore::of(file.clone()));
        writers.spawn(async move {
            for tool in 0..6 {
                store.approve("s", &format!("t {writer}.{tool}")).await.expect("kept");
            }
        });
    }
    writers.join_all().await;
    let text = fs::read_to_string(&file).expect("read");
    assert!(text.starts_with(SERVER), "{text}");
    let table: toml::Table = text.parse().expect("TOML");
    let tools = table["mcp_servers"]["s"]["tools"].as_table().expect("a table");
    assert_eq!(tools.len(), 24);
    assert!(tools.values().all(|tool| tool["approval_mode"].as_str() == Some("approve")));
}

#[tokio::test]
async fn a_link_stays_and_so_do_the_permissions() {
    let ((_home, file), (_elsewhere, target)) = (home(), home());
    fs::write(&target, SERVER).expect("written");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).expect("set");
    symlink(&target, &file).expect("linked");
    ConfigMcpStore::of(file.clone()).approve("s", "t").await.expect("kept");
    assert!(fs::symlink_metadata(&file).expect("there").is_symlink());
    assert!(fs::read_to_string(&target).expect("read").ends_with("approval_mode = \"approve\"\n"));
    assert_eq!(fs::metadata(&target).expect("there").permissions().mode() & 0o777, 0o600);
}

/// Makes that a file cannot be written.
type Spoils = fn(&Path);

#[tokio::test]
async fn what_cannot_be_written_says_so_and_stays() {
    let rows: [(&str, Spoils, &str); 6] = [
        (
            SERVER,
            |file| fs::set_permissions(file, fs::Permissions::from_mode(0o444)).expect("set"),
            "FILE: it is marked read-only",
        ),
        (
            SERVER,
            |file| fs::create_dir(file.with_file_name("config.toml.lock")).expect("made"),
            "FILE: Is a directory (os error 21)",
        ),
        ("a = 1\nb = \n", |_| (), "FILE:2:5: string values must be quoted, expected literal string"),
        ("[mcp_servers.other]\n", |_| (), "FILE: it defines no MCP server `s`"),
        ("[mcp_servers.s]\ntools = 1\n", |_| (), "FILE: mcp_servers.s.tools holds a value and no table"),
        (
            "[mcp_servers.s.tools.t]\napproval_mode = 'prompt'\n",
            |_| (),
            "FILE: it wants the tool asked about each time (approval_mode = \"prompt\")",
        ),
    ];
    for (text, spoil, expected) in rows {
        let (_home, file) = home();
        fs::write(&file, text).expect("written");
        spoil(&file);
        let error = ConfigMcpStore::of(file.clone()).approve("s", "t").await.expect_err("not kept");
        assert_eq!(error.replace(file.to_str().expect("text"), "FILE"), expected);
        assert_eq!(fs::read_to_string(&file).expect("read"), text);
    }
}

/// A file that is longer than may be would not be read any more.
#[test]
fn no_file_is_made_too_long_to_be_read() {
    let (_home, file) = home();
    fs::write(&file, SERVER).expect("written");
    let whole = SERVER.len() + "\n[mcp_servers.s.tools.t]\napproval_mode = \"approve\"\n".len();
    let limit = u64::try_from(whole).expect("it fits");
    let error = keep(&file, limit - 1, "s", "t").expect_err("too long").to_string();
    assert_eq!(error, format!("{}: it would be larger than {} bytes", file.display(), limit - 1));
    keep(&file, limit, "s", "t").expect("kept");
    assert_eq!(fs::metadata(&file).expect("there").len(), limit);
}
