//! Local sockets of others.
//!
//! A command may use sockets that have names in the file system; but who listens on them outside does things for it that
//! it may not do itself: a container engine, a session bus, a terminal multiplexer. Neither Landlock (before ABI 9) nor
//! a read-only mount keeps it from connecting. So the sockets that are not the workspace's are covered by the null
//! device, where they can be seen when the command starts.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::Limits;

/// The sockets of this network namespace.
const TABLE: &str = "/proc/net/unix";

/// Doors to the whole machine, which may have been brought in from another network namespace.
const WELL_KNOWN: [&str; 5] = [
    "/run/docker.sock",
    "/run/podman/podman.sock",
    "/run/containerd/containerd.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
];

/// The flag of a socket that somebody listens on.
const LISTENS: u32 = 0x0001_0000;

/// The type of a socket that takes letters, without listening.
const DATAGRAM: u32 = 2;

/// Those that were there before the first command: in a temporary folder they are the host's, later ones may well be a
/// command's.
static BEFORE: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// The sockets that a command under these limits must not reach.
pub(super) fn to_be_covered(limits: &Limits) -> Vec<PathBuf> {
    let now = listed(&fs::read_to_string(TABLE).unwrap_or_default());
    let before = BEFORE.get_or_init(|| now.clone());
    let is_foreign = |path: &PathBuf| {
        let in_workspace = limits.workspace().iter().any(|folder| path.starts_with(folder));
        let in_a_root = limits.roots().iter().any(|root| path.starts_with(root.path()));
        !in_workspace && (!in_a_root || before.contains(path))
    };
    let mut covered: Vec<PathBuf> =
        now.iter().cloned().chain(WELL_KNOWN.map(PathBuf::from)).filter(is_foreign).collect();
    covered.retain(|path| path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket()));
    covered.sort();
    covered.dedup();
    covered
}

/// The paths in the table that somebody takes letters or calls at.
fn listed(table: &str) -> Vec<PathBuf> {
    let path = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let flags = u32::from_str_radix(fields.nth(3)?, 16).ok()?;
        let kind = u32::from_str_radix(fields.next()?, 16).ok()?;
        let path = fields.nth(2)?;
        // What follows the number of the inode is the path, blanks and all.
        let path = line.get(line.find(path)?..)?;
        ((flags & LISTENS != 0 || kind == DATAGRAM) && path.starts_with('/')).then(|| PathBuf::from(path))
    };
    table.lines().filter_map(path).collect()
}

#[cfg(test)]
#[path = "sockets_tests.rs"]
mod tests;
