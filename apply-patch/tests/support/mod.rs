//! What the tests of this crate share.
#![allow(dead_code, unreachable_pub, missing_docs)]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tenon_apply_patch::{
    CommitError, Committed, Facts, Fs, Kind, RealFs, VerifyError, commit, parse_patch, plan,
};

/// A folder that goes when the test ends.
#[derive(Debug)]
pub struct Folder {
    _guard: tempfile::TempDir,
    pub root: PathBuf,
}

/// What lies in a folder: bytes and mode of a file, the text of a link, or a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thing {
    File(Vec<u8>, u32),
    Link(PathBuf),
    Directory,
}

pub type Tree = BTreeMap<String, Thing>;

impl Folder {
    pub fn new() -> Self {
        let guard = tempfile::tempdir().expect("a folder");
        let root = guard.path().canonicalize().expect("exists");
        Self { _guard: guard, root }
    }

    pub fn with(files: &[(&str, &[u8])]) -> Self {
        let folder = Self::new();
        for (path, bytes) in files {
            folder.write(path, bytes);
        }
        folder
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().expect("inside")).expect("made");
        std::fs::write(path, bytes).expect("written");
    }

    pub fn read(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.at(path)).expect(path)
    }

    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.read(path)).expect("UTF-8")
    }

    pub fn exists(&self, path: &str) -> bool {
        self.at(path).symlink_metadata().is_ok()
    }

    pub fn set_mode(&self, path: &str, mode: u32) {
        std::fs::set_permissions(self.at(path), PermissionsExt::from_mode(mode)).expect("set");
    }

    pub fn mode(&self, path: &str) -> u32 {
        self.at(path).metadata().expect("exists").permissions().mode() & 0o7777
    }

    pub fn link(&self, to: impl AsRef<Path>, path: &str) {
        std::os::unix::fs::symlink(to, self.at(path)).expect("linked");
    }

    pub fn hard_link(&self, to: &str, path: &str) {
        std::fs::hard_link(self.at(to), self.at(path)).expect("linked");
    }

    pub fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        collect(&self.root, &self.root, &mut tree);
        tree
    }
}

fn collect(root: &Path, directory: &Path, tree: &mut Tree) {
    for entry in std::fs::read_dir(directory).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.strip_prefix(root).expect("inside").to_string_lossy().into_owned();
        let metadata = path.symlink_metadata().expect("exists");
        let thing = if metadata.is_dir() {
            collect(root, &path, tree);
            Thing::Directory
        } else if metadata.is_symlink() {
            Thing::Link(path.read_link().expect("a link"))
        } else {
            Thing::File(std::fs::read(&path).expect("readable"), metadata.permissions().mode() & 0o7777)
        };
        tree.insert(name, thing);
    }
}

/// How an attempt at a patch ended.
#[derive(Debug)]
pub enum Outcome {
    Done(Committed),
    Refused(VerifyError),
    Failed(Box<CommitError>),
}

/// Parses `body` between the markers, plans it and commits it.
pub fn attempt(folder: &Folder, body: &str, fs: &dyn Fs) -> Outcome {
    attempt_in(&folder.root, body, fs)
}

pub fn attempt_in(root: &Path, body: &str, fs: &dyn Fs) -> Outcome {
    let patch = parse_patch(&format!("*** Begin Patch\n{body}\n*** End Patch")).expect("parses");
    let plan = match plan(&patch, root, fs) {
        Ok(plan) => plan,
        Err(error) => return Outcome::Refused(error),
    };
    match commit(&plan, fs, &mut ()) {
        Ok(done) => Outcome::Done(done),
        Err(error) => Outcome::Failed(error),
    }
}

pub fn apply(folder: &Folder, body: &str) -> Committed {
    match attempt(folder, body, &RealFs) {
        Outcome::Done(done) => done,
        other => panic!("{other:?}"),
    }
}

/// The text of a refusal, with the folder's path as `<cwd>`.
pub fn refusal(folder: &Folder, body: &str) -> String {
    match attempt(folder, body, &RealFs) {
        Outcome::Refused(error) => shown(folder, &error.to_string()),
        other => panic!("{other:?}"),
    }
}

pub fn failure(folder: &Folder, body: &str) -> Box<CommitError> {
    match attempt(folder, body, &RealFs) {
        Outcome::Failed(error) => error,
        other => panic!("{other:?}"),
    }
}

pub fn shown(folder: &Folder, text: &str) -> String {
    text.replace(&folder.root.to_string_lossy().into_owned(), "<cwd>")
}

/// A disk that fails, or is odd in another way: operations that change something are counted, and one
/// of them, or all from one on, fails.
#[derive(Debug, Default)]
pub struct OddFs {
    pub done: AtomicUsize,
    pub fails_at: Option<usize>,
    pub for_good: bool,
    /// It fails no more.
    pub mended: AtomicBool,
    /// Instead of failing, the process is killed.
    pub kills: bool,
    /// Permissions of the files that were made.
    pub modes: Mutex<Vec<u32>>,
    /// Names that differ in case only are one.
    pub blind_to_case: bool,
    /// No file can be made.
    pub closed_directories: bool,
    /// No file may be written.
    pub write_protected: bool,
    /// Files can be written and not replaced, as one that is mounted by itself.
    pub bars_renames: bool,
    /// How large files claim to be.
    pub claimed_len: Option<u64>,
}

impl OddFs {
    pub fn sound() -> Self {
        Self::default()
    }

    pub fn failing_at(at: usize) -> Self {
        Self { fails_at: Some(at), ..Self::sound() }
    }

    pub fn failing_from(at: usize) -> Self {
        Self { for_good: true, ..Self::failing_at(at) }
    }

    pub fn operations(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    fn path(&self, path: &Path) -> PathBuf {
        match path.file_name() {
            Some(name) if self.blind_to_case => path.with_file_name(name.to_ascii_lowercase()),
            _ => path.to_owned(),
        }
    }

    fn step(&self) -> io::Result<()> {
        let number = self.done.fetch_add(1, Ordering::Relaxed);
        let fails = self.fails_at.is_some_and(|at| number == at || self.for_good && number > at)
            && !self.mended.load(Ordering::Relaxed);
        if fails && self.kills {
            let me = rustix::process::getpid();
            rustix::process::kill_process(me, rustix::process::Signal::KILL).expect("killed");
        }
        if fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl Fs for OddFs {
    fn facts(&self, path: &Path) -> io::Result<Facts> {
        let mut facts = RealFs.facts(&self.path(path))?;
        if facts.kind == Kind::File {
            facts.len = self.claimed_len.unwrap_or(facts.len);
        }
        Ok(facts)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        RealFs.read_link(&self.path(path))
    }

    fn read(&self, path: &Path) -> io::Result<(Facts, Vec<u8>)> {
        RealFs.read(&self.path(path))
    }

    fn holds(&self, path: &Path, bytes: &[u8]) -> io::Result<bool> {
        RealFs.holds(&self.path(path), bytes)
    }

    fn may_write(&self, path: &Path) -> io::Result<()> {
        if self.write_protected {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        RealFs.may_write(&self.path(path))
    }

    fn create(&self, path: &Path, mode: u32) -> io::Result<File> {
        self.step()?;
        if self.closed_directories {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.modes.lock().expect("unbroken").push(mode);
        RealFs.create(&self.path(path), mode)
    }

    fn open_existing(&self, path: &Path) -> io::Result<File> {
        self.step()?;
        RealFs.open_existing(&self.path(path))
    }

    /// A write that fails has written half.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.step() {
            file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        RealFs.write(file, bytes)
    }

    fn set_len(&self, file: &File, len: u64) -> io::Result<()> {
        self.step()?;
        RealFs.set_len(file, len)
    }

    fn copy_attributes(&self, from: &Path, facts: &Facts, to: &File) -> io::Result<()> {
        self.step()?;
        RealFs.copy_attributes(&self.path(from), facts, to)
    }

    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        self.step()?;
        RealFs.set_mode(file, mode)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        if self.bars_renames {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        RealFs.rename(&self.path(from), &self.path(to))
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        RealFs.rename_new(&self.path(from), &self.path(to))
    }

    fn names(&self, folder: &Path, prefix: &str, limit: usize) -> io::Result<Vec<OsString>> {
        RealFs.names(&self.path(folder), prefix, limit)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        RealFs.remove(&self.path(path))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        RealFs.create_dir(&self.path(path))
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        RealFs.remove_dir(&self.path(path))
    }
}
