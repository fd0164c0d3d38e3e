//! Where a folder's repository stands, read from its files by hand: no program is run, nothing is locked.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use tenon_protocol::GitInfo;

/// How much of a repository's file is read, in bytes.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// Where the repository around `folder` stands; none outside of one. What cannot be read is left out.
pub(super) fn git_info(folder: &Path) -> Option<GitInfo> {
    let git = folder.ancestors().find_map(git_folder)?;
    let common = common_folder(&git);
    let head = read(&git.join("HEAD")).unwrap_or_default();
    let (branch, commit_hash) = match head.trim().strip_prefix("ref:") {
        Some(name) => {
            let name = name.trim();
            (name.strip_prefix("refs/heads/").map(str::to_owned), resolve(&git, &common, name))
        }
        None => (None, as_hash(&head)),
    };
    let repository_url = read(&common.join("config")).and_then(|config| origin_url(&config));
    Some(GitInfo { commit_hash, branch: branch.filter(|name| name != ".invalid"), repository_url })
}

/// The repository's own folder: `.git`, or where a `.git` file points (work trees, submodules).
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let pointer = read(&git)?;
    let target = folder.join(pointer.trim().strip_prefix("gitdir:")?.trim());
    target.is_dir().then_some(target)
}

/// Where branches and configuration lie: for a work tree, in the repository it belongs to.
fn common_folder(git: &Path) -> PathBuf {
    match read(&git.join("commondir")) {
        Some(path) => git.join(path.trim()),
        None => git.to_owned(),
    }
}

/// The commit that a reference names, from its own file or the packed ones.
fn resolve(git: &Path, common: &Path, name: &str) -> Option<String> {
    let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if !plain {
        return None;
    }
    let loose =
        [git, common].iter().find_map(|folder| read(&folder.join(name)).and_then(|text| as_hash(&text)));
    loose.or_else(|| {
        let packed = read(&common.join("packed-refs"))?;
        packed.lines().find_map(|line| {
            let (hash, packed_name) = line.split_once(' ')?;
            if packed_name == name { as_hash(hash) } else { None }
        })
    })
}

/// A hash of SHA-1 or SHA-256.
fn as_hash(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then(|| text.to_owned())
}

/// The address of `origin`, without a name or password in it.
fn origin_url(config: &str) -> Option<String> {
    let mut in_origin = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            in_origin = line == "[remote \"origin\"]";
        } else if in_origin
            && let Some((key, value)) = line.split_once('=')
            && key.trim() == "url"
        {
            return Some(without_user(value.trim().trim_matches('"')));
        }
    }
    None
}

/// `https://user:secret@host/x` becomes `https://host/x`. The user of other addresses (`git@host:x`) is no secret.
fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return url.to_owned();
    }
    let (host, path) = rest.find('/').and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_FILE).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;
