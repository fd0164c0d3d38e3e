//! Which shell runs a command, and how (runtime.md B4).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Where accounts are listed.
pub(crate) const PASSWORD_FILE: &str = "/etc/passwd";

/// The shell of last resort.
const LAST_RESORT: &str = "/bin/sh";

/// A kind of shell. All of them take `-c` and `-lc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellKind {
    /// `bash`.
    Bash,
    /// `zsh`.
    Zsh,
    /// `sh`, whatever stands behind it.
    Sh,
}

impl ShellKind {
    /// The kind that a path or a name says by its last component; none for any other program.
    pub fn of(path: &Path) -> Option<Self> {
        match path.file_name()?.to_str()? {
            "bash" => Some(Self::Bash),
            "zsh" => Some(Self::Zsh),
            "sh" => Some(Self::Sh),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Sh => "sh",
        }
    }

    /// Where to look when PATH has none.
    fn fixed_places(self) -> &'static [&'static str] {
        match self {
            Self::Bash => &["/bin/bash", "/usr/bin/bash"],
            Self::Zsh => &["/bin/zsh"],
            Self::Sh => &["/bin/sh"],
        }
    }
}

/// A shell that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    /// Its kind.
    pub kind: ShellKind,
    /// The program.
    pub path: PathBuf,
}

impl Shell {
    /// The argument vector that runs `command`: `-lc` for a login shell, else `-c` (runtime.md B4).
    pub fn argv(&self, command: &str, login: bool) -> Vec<String> {
        let flag = if login { "-lc" } else { "-c" };
        vec![self.path.to_string_lossy().into_owned(), flag.to_owned(), command.to_owned()]
    }
}

/// Finds shells: the account's own, and those a model asks for.
#[derive(Debug, Clone)]
pub(crate) struct ShellFinder {
    account: Option<PathBuf>,
    search_path: Option<std::ffi::OsString>,
}

impl ShellFinder {
    /// `account` is the shell of the user's entry in the password file, `search_path` the host's PATH.
    pub(crate) fn new(account: Option<PathBuf>, search_path: Option<&OsStr>) -> Self {
        Self { account, search_path: search_path.map(OsStr::to_owned) }
    }

    /// The user's shell: that of the account; where it is none we know, the first there is of bash, zsh and sh.
    pub(crate) fn user_shell(&self) -> Shell {
        let account = self.account.as_deref().and_then(ShellKind::of);
        let kinds = account.into_iter().chain([ShellKind::Bash, ShellKind::Zsh]);
        kinds.filter_map(|kind| self.find(kind)).next().unwrap_or_else(last_resort)
    }

    /// The shell for what a model asks for. Only the kind counts, never the path (runtime.md B4.3): a kind that is
    /// unknown or not there gives `/bin/sh`.
    pub(crate) fn requested(&self, shell: &str) -> Shell {
        ShellKind::of(Path::new(shell)).and_then(|kind| self.find(kind)).unwrap_or_else(last_resort)
    }

    fn find(&self, kind: ShellKind) -> Option<Shell> {
        let account = self.account.iter().filter(|path| ShellKind::of(path) == Some(kind)).cloned();
        let on_path = self.search_path.iter().flat_map(|path| std::env::split_paths(path));
        let on_path = on_path.filter(|folder| folder.is_absolute()).map(|folder| folder.join(kind.name()));
        let fixed = kind.fixed_places().iter().map(PathBuf::from);
        account.chain(on_path).chain(fixed).find(|path| is_executable(path)).map(|path| Shell { kind, path })
    }
}

fn last_resort() -> Shell {
    Shell { kind: ShellKind::Sh, path: PathBuf::from(LAST_RESORT) }
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// The login shell of `uid` in the text of a password file. Lines that are none are passed over; of two entries the
/// first counts.
pub(crate) fn account_shell(password_file: &[u8], uid: u32) -> Option<PathBuf> {
    password_file.split(|byte| *byte == b'\n').find_map(|line| {
        let mut fields = line.split(|byte| *byte == b':');
        let id = fields.nth(2)?;
        let shell = fields.nth(3)?;
        let matches = std::str::from_utf8(id).ok()?.parse() == Ok(uid);
        (matches && !shell.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(shell)))
    })
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
