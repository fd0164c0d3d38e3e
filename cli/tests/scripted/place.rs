//! A home, a working folder and the folder of the effects, for one session that is broken off.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::script;

/// The server that counts, put into each place: a long run does not depend on the sources.
const COUNTER_SERVER: &str = include_str!("counter_server.py");

pub struct Place {
    root: PathBuf,
    /// Where it is ours: then it goes with us.
    owned: Option<TempDir>,
}

impl Place {
    pub fn new() -> Self {
        let owned = tempfile::Builder::new().prefix("broken-off").tempdir().expect("a folder");
        // Without links, as the program tells it.
        let root = owned.path().canonicalize().expect("it is there");
        let place = Self { root, owned: Some(owned) };
        for folder in ["home", "work", "tmp", "effects"] {
            std::fs::create_dir(place.folder(folder)).expect("made");
        }
        std::fs::write(place.work().join("big.txt"), script::big(0)).expect("written");
        std::fs::write(place.work().join("gone.txt"), "gone\n").expect("written");
        std::fs::write(place.server(), COUNTER_SERVER).expect("written");
        place
    }

    /// A place that another process has made.
    pub fn at(root: PathBuf) -> Self {
        Self { root, owned: None }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn work(&self) -> PathBuf {
        self.folder("work")
    }

    pub fn effects(&self) -> PathBuf {
        self.folder("effects")
    }

    pub fn home(&self) -> PathBuf {
        self.folder("home")
    }

    pub fn server(&self) -> PathBuf {
        self.folder("counter_server.py")
    }

    pub fn temporary(&self) -> PathBuf {
        self.folder("tmp")
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The program, with a model at this address and the server that counts.
    pub fn command(&self, base_url: &str, args: &[&str]) -> Command {
        let config = format!(
            "model = \"gpt-5.5\"\nmodel_provider = \"mock\"\ntool_mode = \"code_mode\"\n\
             [mcp_servers.counter]\ncommand = \"python3\"\nargs = [{:?}, {:?}]\nstartup_timeout_sec = 60\n\
             [model_providers.mock]\nname = \"mock\"\nbase_url = \"{base_url}\"\nwire_api = \"responses\"\n\
             request_max_retries = 0\nstream_max_retries = 0\n",
            self.server(),
            self.effects(),
        );
        std::fs::write(self.folder("home").join("config.toml"), config).expect("written");
        // Another program can be named: one that was built with optimisations, or is not to change while this runs.
        let program = std::env::var_os("TENON_CLIENT").unwrap_or_else(|| env!("CARGO_BIN_EXE_tenon").into());
        let mut command = Command::new(program);
        command
            .args(["exec", "--json", "--dangerously-bypass-approvals-and-sandbox"])
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root())
            .env("TENON_HOME", self.folder("home"))
            .env("TMPDIR", self.temporary())
            .current_dir(self.work());
        self.listen_to(&mut command);
        command
    }

    /// Lets a program write into this place.
    pub fn listen_to(&self, command: &mut Command) {
        command.stdin(Stdio::null()).stdout(self.file_of("stdout")).stderr(self.file_of("stderr"));
    }

    fn file_of(&self, name: &str) -> File {
        File::create(self.folder(name)).expect("created")
    }

    /// What the program that ran last has written to standard output.
    pub fn stdout(&self) -> String {
        std::fs::read_to_string(self.folder("stdout")).unwrap_or_default()
    }

    /// What the program that ran last has written to standard error.
    pub fn stderr(&self) -> String {
        std::fs::read_to_string(self.folder("stderr")).unwrap_or_default()
    }

    /// The session's file, once it is there.
    pub fn rollout(&self) -> Option<PathBuf> {
        fn first_file(folder: &Path) -> Option<PathBuf> {
            std::fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
                let path = entry.path();
                if path.is_dir() { first_file(&path) } else { Some(path) }
            })
        }
        first_file(&self.folder("home").join("sessions"))
    }

    /// The bytes of the session's file.
    pub fn rollout_bytes(&self) -> u64 {
        self.rollout().and_then(|path| path.metadata().ok()).map_or(0, |metadata| metadata.len())
    }

    /// The lines of the session's file that can be read.
    pub fn rollout_lines(&self) -> Vec<Value> {
        let bytes = self.rollout().and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The items of the conversation in the session's file.
    pub fn recorded_items(&self) -> Vec<Value> {
        let items = self.rollout_lines().into_iter().filter(|line| line["type"] == "response_item");
        items.map(|line| line["payload"].clone()).collect()
    }

    /// How often the effect of this name was had.
    pub fn count(&self, effect: &str) -> usize {
        std::fs::read_to_string(self.effects().join(effect)).unwrap_or_default().lines().count()
    }

    /// How many effects there were.
    pub fn effects_so_far(&self) -> usize {
        script::COUNTED.iter().map(|effect| self.count(effect)).sum()
    }

    /// Keeps the folder for somebody to look at.
    pub fn keep(self) -> PathBuf {
        self.owned.map_or(self.root, TempDir::keep)
    }
}
