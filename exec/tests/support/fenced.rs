//! Commands under a sandbox mode: a workspace, and a folder beside it that is none of theirs.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tenon_exec::ExecConfig;
use tenon_tools::{SandboxPolicy, WorkspaceWrite};

use super::Bench;

/// A user that owns nothing and may do nothing.
const NOBODY: u32 = 65534;

pub(crate) struct Fenced {
    pub(crate) bench: Bench,
    /// `../outside` as commands know it.
    pub(crate) outside: PathBuf,
}

/// Commands in a workspace that is all they may write. None, and a word why, where the kernel cannot hold them.
pub(crate) async fn fenced() -> Option<Fenced> {
    Fenced::with(|_, _| {}).await
}

impl Fenced {
    async fn with(change: impl FnOnce(&mut ExecConfig, &Path)) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        for name in ["ws", "outside", "temporary"] {
            fs::create_dir(path.join(name)).unwrap();
        }
        let mut bench = Bench::with(|config| change(config, &path));
        bench.folder = folder;
        bench.step.cwd = path.join("ws");
        let mut fenced = Self { bench, outside: path.join("outside") };
        fenced.step(|_| {});
        match fenced.bench.service.check_sandbox(&fenced.bench.step.sandbox, fenced.cwd()).await {
            Ok(()) => Some(fenced),
            Err(error) => {
                let said = writeln!(std::io::stderr(), "SKIPPED: {error}");
                said.unwrap();
                None
            }
        }
    }

    /// With a `$TMPDIR` of the host that is neither in the workspace nor outside.
    pub(crate) async fn with_tmpdir() -> Option<Self> {
        let change = |config: &mut ExecConfig, path: &Path| {
            config.environment.insert("TMPDIR".into(), path.join("temporary").into());
        };
        Self::with(change).await
    }

    /// With the workspace as the user's home, and login shells.
    pub(crate) async fn with_home() -> Option<Self> {
        let change = |config: &mut ExecConfig, path: &Path| {
            config.environment.insert("HOME".into(), path.join("ws").into());
        };
        let mut fenced = Self::with(change).await?;
        fenced.bench.step.allow_login_shell = true;
        Some(fenced)
    }

    pub(crate) fn cwd(&self) -> &Path {
        self.bench.cwd()
    }

    /// Sets the mode: the workspace alone, but for what `change` adds.
    pub(crate) fn step(&mut self, change: impl FnOnce(&mut WorkspaceWrite)) {
        let mut workspace = WorkspaceWrite {
            exclude_slash_tmp: true,
            exclude_tmpdir_env_var: true,
            ..WorkspaceWrite::default()
        };
        change(&mut workspace);
        self.bench.step.sandbox = SandboxPolicy::WorkspaceWrite(workspace);
    }

    pub(crate) async fn run(&self, command: &str) -> String {
        self.bench.exec(json!({"cmd": command, "yield_time_ms": 30000})).await
    }

    /// # Panics
    /// When it fails.
    pub(crate) async fn allowed(&self, command: &str) {
        let answer = self.run(command).await;
        assert!(answer.contains("Process exited with code 0\n"), "{command}: {answer}");
    }

    /// # Panics
    /// When it succeeds, or fails for another reason than the fences.
    pub(crate) async fn refused(&self, command: &str) {
        let answer = self.run(command).await;
        let words = [
            "Read-only file system",
            "Permission denied",
            "Operation not permitted",
            "Device or resource busy",
            "Invalid cross-device link",
        ];
        let refused = words.iter().any(|word| answer.contains(word));
        assert!(refused && !answer.contains("Process exited with code 0\n"), "{command}: {answer}");
    }

    /// Runs a command in the workspace without a sandbox.
    ///
    /// # Panics
    /// When it fails.
    pub(crate) fn outdoors(&self, command: &str) {
        let output = Command::new("bash").args(["-ec", command]).current_dir(self.cwd()).output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
    }
}

/// A process that is no command's.
pub(crate) struct Victim(Child);

impl Victim {
    pub(crate) fn start() -> Self {
        let mut command = Command::new("sleep");
        command.arg("300").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Runs the tests of this program once more, all but `this`, as a user without privileges.
///
/// # Panics
/// When one fails.
pub(crate) fn as_nobody(this: &str) {
    let folder = tempfile::tempdir().unwrap();
    let everybody = fs::Permissions::from_mode(0o777);
    fs::set_permissions(folder.path(), everybody.clone()).unwrap();
    // Where the program lies, he may not enter.
    let program = folder.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, everybody).unwrap();
    let output = Command::new(&program)
        .args(["--skip", this])
        .current_dir(folder.path())
        .env("TMPDIR", folder.path())
        .env("HOME", folder.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("test result: ok"), "{said}");
}
