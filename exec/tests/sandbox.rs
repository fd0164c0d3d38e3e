//! What commands may do under a sandbox mode, tried with real processes: each way out is refused, and what lies next to
//! it works.
//!
//! Where the kernel cannot hold a command, these tests say so and end. `this_machine_holds_commands` fails on one that
//! should be able to.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde_json::json;
use support::fenced::{Fenced, Victim, fenced};
use support::output_of;
use tenon_tools::{ApprovalPolicy, Confinement, SandboxPolicy};

/// Runs Python, which can make any system call.
fn python(script: &str) -> String {
    format!("python3 -c '{script}'")
}

/// A Python script that makes a system call and exits with its error number.
fn system_call(arguments: &str) -> String {
    python(&format!(
        "import ctypes, sys; libc = ctypes.CDLL(None, use_errno=True); libc.syscall.restype = ctypes.c_long\n\
         print(libc.syscall({arguments})); sys.exit(ctypes.get_errno())"
    ))
}

const EPERM: i32 = 1;
const ENOSYS: i32 = 38;

#[tokio::test]
async fn this_machine_holds_commands() {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers =
        release.split(|part: char| !part.is_ascii_digit()).map_while(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap(), numbers.next().unwrap());
    let namespaces = fs::read_to_string("/proc/sys/user/max_user_namespaces").unwrap();
    let is_root = rustix::process::geteuid().is_root();
    if version >= (6, 12) && (is_root || namespaces.trim() != "0") {
        assert!(fenced().await.is_some());
    }
}

#[tokio::test]
async fn a_workspace_is_written_and_the_rest_is_read() {
    let Some(fenced) = fenced().await else { return };
    fs::write(fenced.outside.join("read"), "text").unwrap();
    for allowed in [
        "echo a > a && mkdir -p d/e && mv a d/e/b && ln d/e/b c && ln -s c l && rm -r d && chmod 600 c && touch -t 202001010000 c",
        "mkfifo f && (echo through > f & cat f)",
        "cat /etc/passwd > copy && ls / /usr > list",
        "cat ../outside/read",
        "echo x > /dev/null && head -c 4 /dev/urandom > /dev/null && head -c 1 /dev/zero | cat > zero",
        "echo to error > /dev/stderr; echo to output > /dev/stdout",
        "cat <<< here; cat < <(echo process)",
        "printf a | tr a b | grep b",
        "sleep 30 & kill $! && wait $! ; test $? = 143",
    ] {
        fenced.allowed(allowed).await;
    }
}

#[tokio::test]
async fn writing_outside_is_refused_whatever_is_done_to_a_file() {
    let Some(fenced) = fenced().await else { return };
    let file = fenced.outside.join("file");
    fs::write(&file, "kept").unwrap();
    let before = fs::metadata(&file).unwrap();
    for refused in [
        "echo x > ../outside/file",
        "echo x >> ../outside/file",
        ": > ../outside/file",
        "truncate -s 0 ../outside/file",
        "echo x > ../outside/new",
        "rm ../outside/file",
        "mv ../outside/file here",
        "mv ../outside/file ../outside/other",
        "mkdir ../outside/folder",
        "mkfifo ../outside/pipe",
        "ln -s x ../outside/link",
        "chmod 777 ../outside/file",
        "touch -t 202001010000 ../outside/file",
        "setfattr -n user.x -v 1 ../outside/file || python3 -c 'import os; os.setxattr(\"../outside/file\", \"user.x\", b\"1\")'",
        "chown $(id -u) ../outside/file",
    ] {
        fenced.refused(refused).await;
    }
    let after = fs::metadata(&file).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
    assert_eq!(
        (after.permissions(), after.modified().unwrap()),
        (before.permissions(), before.modified().unwrap())
    );
    assert_eq!(fs::read_dir(&fenced.outside).unwrap().count(), 1);
}

#[tokio::test]
async fn links_do_not_lead_out() {
    let Some(fenced) = fenced().await else { return };
    fs::write(fenced.outside.join("file"), "kept").unwrap();
    symlink("../outside", fenced.cwd().join("folder")).unwrap();
    symlink("../outside/file", fenced.cwd().join("link")).unwrap();
    for refused in [
        "echo x > link",
        "echo x > folder/new",
        "ln -s /etc own && echo x > own/new",
        // A hard link is another name for a file: made inside, it would be a way to one outside.
        "ln ../outside/file hard",
        "python3 -c 'import os; os.link(\"../outside/file\", \"hard\")'",
        "echo mine > mine; ln mine ../outside/mine",
        "mv mine ../outside/moved",
    ] {
        fenced.refused(refused).await;
    }
    fenced.allowed("ln mine also && echo more >> also && ln -s ../ws/mine inner && echo x >> inner").await;
    assert_eq!(fs::read_to_string(fenced.outside.join("file")).unwrap(), "kept");
    assert_eq!(fs::read_dir(&fenced.outside).unwrap().count(), 1);
}

#[tokio::test]
async fn proc_does_not_lead_out() {
    let Some(fenced) = fenced().await else { return };
    let outside = fenced.outside.display();
    let host = std::process::id();
    for refused in [
        format!("echo x > /proc/self/root{outside}/new"),
        "echo x > /proc/self/cwd/../outside/new".to_owned(),
        format!("echo x > /proc/{host}/root{outside}/new"),
        format!("echo x > /proc/{host}/cwd/new"),
        format!("cat /proc/{host}/fd/2"),
        format!("cat /proc/{host}/environ"),
        format!("dd if=/dev/zero of=/proc/{host}/mem bs=1 count=1"),
        "echo 1 > /proc/sys/vm/drop_caches".to_owned(),
        "echo x > /proc/sys/kernel/core_pattern".to_owned(),
    ] {
        fenced.refused(&refused).await;
    }
    fenced.allowed("cat /proc/self/status /proc/cpuinfo > /dev/null && echo x > /proc/self/cwd/inside").await;
    assert_eq!(fs::read_dir(&fenced.outside).unwrap().count(), 0);
}

#[tokio::test]
async fn temporary_folders_are_what_the_mode_says() {
    let Some(mut fenced) = fenced().await else { return };
    let temporary = format!("/tmp/tenon-test-{}", std::process::id());
    fenced.refused(&format!("echo x > {temporary}")).await;
    fenced.step(|workspace| workspace.exclude_slash_tmp = false);
    fenced.allowed(&format!("echo x > {temporary} && rm {temporary}")).await;
}

#[tokio::test]
async fn shared_memory_is_the_commands_own() {
    let Some(mut fenced) = fenced().await else { return };
    let hosts = tempfile::Builder::new().prefix("tenon-test").tempfile_in("/dev/shm").unwrap();
    let (hosts, own) = (hosts.path().display(), format!("/dev/shm/tenon-own-{}", std::process::id()));
    // Semaphores and memory by name, shared with a child; then left behind.
    let python = python(
        "import multiprocessing as m, os, sys\n\
         from multiprocessing.shared_memory import SharedMemory\n\
         memory, lock = SharedMemory(create=True, size=8), m.Lock()\n\
         pid = os.fork()\n\
         if pid == 0:\n    other = SharedMemory(memory.name)\n    with lock: other.buf[0] = 7\n    os._exit(0)\n\
         os.waitpid(pid, 0); print(memory.buf[0]); memory.unlink()",
    );
    let answer = fenced.run(&python).await;
    assert!(answer.contains("exited with code 0\n") && output_of(&answer).starts_with("7\n"), "{answer}");
    fenced
        .allowed(&format!("ls -A /dev/shm > list && test ! -s list && echo x > {own} && test -s {own}"))
        .await;
    assert!(!Path::new(&own).exists(), "nothing of it is seen outside");
    // Nor by the next command, and the host's cannot be reached by another name.
    fenced.allowed(&format!("test ! -e {own} && test ! -e {hosts}")).await;
    for refused in
        [format!("echo x > /proc/{}/root{hosts}", std::process::id()), "mknod /dev/shm/null c 1 3".to_owned()]
    {
        fenced.refused(&refused).await;
    }
    let size = fenced.run("stat -f -c '%S %b' /dev/shm").await;
    let numbers: Vec<u64> =
        output_of(&size).split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert_eq!(numbers[0] * numbers[1], 1024 * 1024 * 1024, "it is bounded");
    fenced.bench.step.sandbox = SandboxPolicy::ReadOnly;
    fenced.refused(&format!("echo x > {own}")).await;
    fenced.allowed(&format!("test -e {hosts}")).await;
}

#[tokio::test]
async fn the_hosts_temporary_folder_is_writable_and_a_command_cannot_name_another() {
    let Some(mut fenced) = Fenced::with_tmpdir().await else { return };
    fenced.refused("echo x > $TMPDIR/file").await;
    fenced.step(|workspace| workspace.exclude_tmpdir_env_var = false);
    fenced.allowed("echo x > $TMPDIR/file && mktemp").await;
    fenced.refused("export TMPDIR=../outside; echo x > $TMPDIR/file").await;
}

#[tokio::test]
async fn roots_that_are_added_are_writable() {
    let Some(mut fenced) = fenced().await else { return };
    let outside = fenced.outside.clone();
    fenced
        .step(|workspace| workspace.writable_roots = vec![outside.clone(), PathBuf::from("/nowhere/at/all")]);
    fenced.allowed("echo x > ../outside/file && mv ../outside/file . && chmod 700 ../outside").await;
}

#[tokio::test]
async fn a_command_cannot_make_a_root_of_a_link() {
    let Some(mut fenced) = fenced().await else { return };
    let cache = fenced.cwd().join("cache");
    fenced.step(|workspace| workspace.writable_roots = vec![cache]);
    fenced.allowed("ln -s ../outside cache").await;
    fenced.refused("echo x > cache/file").await;
    fenced.refused("echo x > ../outside/file").await;
    fenced.allowed("rm cache && mkdir cache && echo x > cache/file").await;
}

#[tokio::test]
async fn a_repository_is_read_and_not_changed() {
    let Some(fenced) = fenced().await else { return };
    fenced.outdoors("git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one");
    fenced.outdoors("mkdir .tenon .agents && echo {} > .tenon/hooks.json");
    fenced.allowed("git status --short && git log --oneline && git diff && echo a > a").await;
    for refused in [
        "echo '[core]' >> .git/config",
        "git config core.fsmonitor true",
        "echo x > .git/hooks/pre-commit",
        "git commit --allow-empty -m two",
        "rm -rf .git",
        "mv .git moved",
        "chmod 777 .git/config",
        "ln .git/config config && echo x >> config",
        "echo x > .tenon/hooks.json",
        "rm -r .tenon",
        "mv .agents x",
        "echo x > $PWD/../ws/.git/config",
        "cd .git && echo x > config",
    ] {
        fenced.refused(refused).await;
    }
    fenced.outdoors(
        "git log --oneline | grep -c one && git fsck && ! grep -q '^x' .git/config && test ! -e moved",
    );
}

#[tokio::test]
async fn a_pointer_and_a_link_to_a_repository_are_held_as_well() {
    let Some(mut fenced) = fenced().await else { return };
    fenced.outdoors(
        "git init -q main && git -C main -c user.name=a -c user.email=a@b commit -q --allow-empty -m one",
    );
    fenced.outdoors("git -C main worktree add -q ../tree && mkdir linked && ln -s ../main/.git linked/.git");
    let ws = fenced.cwd().to_owned();
    for (folder, refused) in [
        ("tree", "echo x > .git"),
        ("tree", "rm .git"),
        ("tree", "mv .git other"),
        ("tree", "git config a.b c"),
        ("tree", "echo x > ../main/.git/config"),
        ("tree", "echo x > ../main/.git/worktrees/tree/HEAD"),
        ("tree", "mv ../main ../moved"),
        ("linked", "echo x >> .git/config"),
        ("linked", "rm .git"),
        ("linked", "ln -sfn .. .git"),
        ("linked", "mv ../main/.git ../main/x"),
        ("linked", "echo x >> ../main/.git/config"),
    ] {
        fenced.bench.step.cwd = ws.join(folder);
        // The whole is writable too, so that nothing but its own protection holds the repository.
        fenced.step(|workspace| workspace.writable_roots = vec![ws.clone()]);
        fenced.refused(refused).await;
        fenced.allowed("git status > /dev/null && echo x > file && echo x > ../main/file").await;
    }
    assert!(ws.join("linked/.git").is_symlink() && ws.join("main/.git/HEAD").exists());
}

#[tokio::test]
async fn a_workspace_cannot_be_moved_to_reach_it_by_another_name() {
    let Some(mut fenced) = fenced().await else { return };
    let ws = fenced.cwd().to_owned();
    fs::create_dir_all(ws.join("a/b/inner/.git")).unwrap();
    fenced.bench.step.cwd = ws.join("a/b/inner");
    fenced.step(|workspace| workspace.writable_roots = vec![ws.clone()]);
    for held in ["a/b/inner/.git", "a/b/inner", "a/b", "a"] {
        let rename = format!("import os; os.rename(\"{0}/{held}\", \"{0}/moved\")", ws.display());
        fenced.refused(&python(&rename)).await;
        assert!(ws.join(held).exists() && !ws.join("moved").exists(), "{held}");
    }
    fenced.allowed(&format!("mkdir -p {0}/c/d && mv {0}/c {0}/e && rm -r {0}/e", ws.display())).await;
}

#[tokio::test]
async fn a_repository_can_be_begun_where_there_is_none() {
    let Some(fenced) = fenced().await else { return };
    fenced.allowed("git init -q . && git config a.b c").await;
    // From the next command on it is there, and held.
    fenced.refused("git config a.b d").await;
}

#[tokio::test]
async fn the_network_is_shut_unless_the_mode_opens_it() {
    let Some(mut fenced) = fenced().await else { return };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let dial = format!("exec 3<> /dev/tcp/127.0.0.1/{port}");
    let ip4 = python("import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)");
    let ip6 = python("import socket; socket.socket(socket.AF_INET6)");
    let listen = python("import socket; socket.create_server((\"127.0.0.1\", 0))");
    let netlink = python("import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)");
    let packet = python("import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)");
    for refused in [&dial, &ip4, &ip6, &listen, &netlink, &packet] {
        fenced.refused(refused).await;
    }
    assert!(fenced.run("env").await.contains("TENON_SANDBOX_NETWORK_DISABLED=1"));
    fenced.step(|workspace| workspace.network_access = true);
    for allowed in [&dial, &ip4, &listen] {
        fenced.allowed(allowed).await;
    }
    assert!(!fenced.run("env").await.contains("TENON_SANDBOX_NETWORK_DISABLED"));
}

#[tokio::test]
async fn local_sockets_reach_the_command_itself_and_not_the_host() {
    let Some(fenced) = fenced().await else { return };
    let name = format!("tenon-test-{}", std::process::id());
    let address = {
        use std::os::linux::net::SocketAddrExt;
        std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap()
    };
    let _host = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    let connect = |name: &str| {
        python(&format!("import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"\\0{name}\")"))
    };
    fenced.refused(&connect(&name)).await;
    let pair = "a = socket.socket(socket.AF_UNIX); a.bind(NAME); a.listen(); b = socket.socket(socket.AF_UNIX); \
                b.connect(NAME); socket.socketpair()";
    for own in ["\"\\0own\"", "\"socket\""] {
        fenced.allowed(&python(&format!("import socket; {}", pair.replace("NAME", own)))).await;
    }
}

#[tokio::test]
async fn sockets_of_others_are_covered_wherever_they_lie() {
    let Some(mut fenced) = fenced().await else { return };
    let bind = |path: PathBuf| std::os::unix::net::UnixListener::bind(path).unwrap();
    let (_outside, _inside) = (bind(fenced.outside.join("socket")), bind(fenced.cwd().join("socket")));
    let connect = |path: &str| {
        python(&format!("import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"{path}\")"))
    };
    fenced.allowed(&connect("socket")).await;
    let answer = fenced.run(&connect("../outside/socket")).await;
    assert!(answer.contains("Connection refused"), "{answer}");
    // As a part of the workspace it can be reached.
    let outside = fenced.outside.clone();
    fenced.step(|workspace| workspace.writable_roots = vec![outside]);
    fenced.allowed(&connect("../outside/socket")).await;
}

#[tokio::test]
async fn sockets_in_temporary_folders_are_the_hosts_if_they_were_there_first() {
    if !support::alone::alone("sockets_in_temporary_folders_are_the_hosts_if_they_were_there_first") {
        return;
    }
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let path = |name: &str| folder.path().canonicalize().unwrap().join(name);
    let _first = std::os::unix::net::UnixListener::bind(path("first")).unwrap();
    let Some(mut fenced) = fenced().await else { return };
    fenced.step(|workspace| workspace.exclude_slash_tmp = false);
    let connect = |name: &str| {
        let path = path(name);
        python(&format!("import socket; socket.socket(socket.AF_UNIX).connect(\"{}\")", path.display()))
    };
    let answer = fenced.run(&connect("first")).await;
    assert!(answer.contains("Connection refused"), "{answer}");
    let _second = std::os::unix::net::UnixListener::bind(path("second")).unwrap();
    fenced.allowed(&connect("second")).await;
}

#[tokio::test]
async fn calls_that_get_round_the_fences_are_refused() {
    let Some(fenced) = fenced().await else { return };
    // Numbers of x86-64; elsewhere other calls would be made.
    if cfg!(not(target_arch = "x86_64")) {
        return;
    }
    for (call, arguments) in [
        ("ptrace", "101, 0, 0, 0, 0"),
        ("process_vm_readv", "310, 1, 0, 0, 0, 0, 0"),
        ("mount", "165, b\"/etc\", b\"/mnt\", 0, 4096, 0"),
        ("umount2", "166, b\"/proc\", 0"),
        ("pivot_root", "155, b\".\", b\".\""),
        ("open_tree", "428, -100, b\"/\", 1"),
        ("move_mount", "429, -100, b\".\", -100, b\".\", 0"),
        ("fsopen", "430, b\"tmpfs\", 0"),
        ("fsmount", "432, 0, 0, 0"),
        ("mount_setattr", "442, -100, b\"/\", 0x8000, b\"\\0\" * 32, 32"),
        ("open_tree_attr", "467, -100, b\"/\", 1, 0, 0"),
        ("unshare(NEWUSER)", "272, 0x10000000"),
        ("unshare(NEWNS)", "272, 0x00020000"),
        ("unshare(NEWNET and more)", "272, 0x40000000 | 0x400"),
        ("clone(NEWUSER)", "56, 0x10000000 | 17, 0, 0, 0, 0"),
        ("setns", "308, 0, 0"),
        ("io_uring_setup", "425, 8, b\"\\0\" * 120"),
        ("io_uring_enter", "426, 0, 0, 0, 0, 0, 0"),
        ("bpf", "321, 0, 0, 0"),
        ("perf_event_open", "298, 0, 0, -1, -1, 0"),
        ("keyctl", "250, 0, -3, 0"),
        ("add_key", "248, b\"user\", b\"x\", b\"y\", 1, -3"),
        ("userfaultfd", "323, 1"),
        ("pidfd_getfd", "438, 0, 0, 0"),
        ("open_by_handle_at", "304, 0, 0, 0"),
        ("init_module", "175, 0, 0, b\"\""),
    ] {
        let answer = fenced.run(&system_call(arguments)).await;
        assert!(answer.contains(&format!("exited with code {EPERM}\n")), "{call}: {answer}");
    }
    for (call, arguments) in [("clone3", "435, 0, 0"), ("ptrace of x32", "0x40000000 | 521, 0, 0, 0, 0")] {
        let answer = fenced.run(&system_call(arguments)).await;
        assert!(answer.contains(&format!("exited with code {ENOSYS}\n")), "{call}: {answer}");
    }
    // Threads, processes and descriptor tables of their own are no namespaces.
    fenced.allowed(&system_call("272, 0x400")).await;
    fenced
        .allowed(&python("import threading; t = threading.Thread(target=print); t.start(); t.join()"))
        .await;
}

#[tokio::test]
async fn nobody_outside_can_be_signalled_or_traced() {
    let Some(fenced) = fenced().await else { return };
    let mut victim = Victim::start();
    fenced.refused(&format!("kill -9 {}", victim.id())).await;
    fenced.refused(&format!("kill -9 {}", std::process::id())).await;
    fenced.refused(&format!("cat /proc/{}/environ", victim.id())).await;
    assert!(victim.is_alive());
}

#[tokio::test]
async fn no_program_gives_privileges() {
    let Some(fenced) = fenced().await else { return };
    let status = fenced.run("cat /proc/self/status").await;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).expect("a field");
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(field("NoNewPrivs:"), "1");
    assert_eq!(field("Seccomp:"), "2");
    assert_eq!(field("CapInh:"), "0000000000000000");
    // CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, NET_BIND_SERVICE for a superuser; nothing for others.
    let kept = if rustix::process::geteuid().is_root() { "00000000000004fb" } else { "0000000000000000" };
    assert_eq!((field("CapPrm:"), field("CapEff:")), (kept.to_owned(), kept.to_owned()));
    // A setuid program runs as whoever called it.
    let user = rustix::process::geteuid().as_raw().to_string();
    let setuid = "cp /usr/bin/id own-id && chmod u+s own-id && ./own-id -u";
    assert_eq!(output_of(&fenced.run(setuid).await).trim(), user);
}

#[tokio::test]
async fn a_command_sees_no_descriptor_of_the_host() {
    let Some(fenced) = fenced().await else { return };
    // One that any program the host starts would inherit.
    let folder = fs::File::open(&fenced.outside).unwrap();
    rustix::io::fcntl_setfd(&folder, rustix::io::FdFlags::empty()).unwrap();
    let listed = fenced.run("ls /proc/self/fd | tr '\\n' ' '").await;
    // The three streams, and what ls itself opens.
    assert_eq!(output_of(&listed), "0 1 2 3 ");
}

#[tokio::test]
async fn read_only_writes_nothing_and_reads_everything() {
    let Some(mut fenced) = fenced().await else { return };
    fenced.bench.step.sandbox = SandboxPolicy::ReadOnly;
    fs::write(fenced.cwd().join("file"), "kept").unwrap();
    let temporary = format!("echo x > /tmp/tenon-test-{}", std::process::id());
    for refused in ["echo x > file", "echo x > new", "rm file", "chmod 777 file", temporary.as_str()] {
        fenced.refused(refused).await;
    }
    fenced.refused(&python("import socket; socket.socket(socket.AF_INET)")).await;
    fenced.allowed("cat file > /dev/null && ls /").await;
    assert_eq!(fs::read_to_string(fenced.cwd().join("file")).unwrap(), "kept");
}

#[tokio::test]
async fn a_terminal_and_a_session_are_held_as_well() {
    let Some(fenced) = fenced().await else { return };
    let on_terminal = "echo x > ../outside/new; echo typed > /dev/tty; echo said > /dev/stdout; \
                       echo y > ws-file && stty size";
    let answer = fenced.bench.exec(json!({"cmd": on_terminal, "tty": true})).await;
    for part in ["Read-only file system", "typed\r\n", "said\r\n", "24 80\r\n"] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    let later = "read line; echo x > ../outside/$line";
    let answer = fenced.bench.exec(json!({"cmd": later, "tty": true, "yield_time_ms": 250})).await;
    assert!(answer.contains("Process running with session ID 1000"), "{answer}");
    let answer =
        fenced.bench.write(json!({"session_id": 1000, "chars": "new\n", "yield_time_ms": 5000})).await;
    assert!(answer.contains("Read-only file system") && answer.contains("exited with code 1"), "{answer}");
    assert_eq!(fs::read_dir(&fenced.outside).unwrap().count(), 0);
}

#[tokio::test]
async fn a_command_makes_its_own_terminals_and_does_not_see_the_users() {
    let Some(fenced) = fenced().await else { return };
    let own =
        "import os, pty; a, b = pty.openpty(); os.write(b, b\"typed\"); print(os.ttyname(b), os.read(a, 9))";
    let answer = fenced.run(&python(own)).await;
    assert_eq!(output_of(&answer), "/dev/pts/0 b\'typed\'\n", "{answer}");
    assert_eq!(output_of(&fenced.run("ls /dev/pts").await), "ptmx\n");
    // One that has a terminal sees the others, and cannot write to them.
    let others = "for t in /dev/pts/[0-9]*; do [ $t = $(tty) ] || ! echo x > $t || echo written; done; echo own > $(tty)";
    let mut shell = fenced.bench.call(
        "c2",
        "exec_command",
        &json!({"cmd": "sleep 300", "tty": true, "yield_time_ms": 250}).to_string(),
    );
    shell.invocation.step = std::sync::Arc::new(fenced.bench.step.clone());
    shell.text().await;
    let answer = fenced.bench.exec(json!({"cmd": others, "tty": true})).await;
    assert!(
        answer.contains("Permission denied") && answer.contains("own") && !answer.contains("written"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_login_shell_is_held_while_it_is_asked_for_its_environment() {
    let Some(fenced) = Fenced::with_home().await else { return };
    // A command may write the profile, when the home folder is its workspace.
    fs::write(fenced.cwd().join(".bash_profile"), "echo x > ../outside/new; export FROM_PROFILE=yes")
        .unwrap();
    let answer = fenced.bench.exec(json!({"cmd": "echo $FROM_PROFILE", "login": true})).await;
    assert_eq!(output_of(&answer), "yes\n", "{answer}");
    assert_eq!(fs::read_dir(&fenced.outside).unwrap().count(), 0);
}

#[tokio::test]
async fn a_command_can_be_ended_and_leaves_nothing() {
    let Some(fenced) = fenced().await else { return };
    let tree = "trap '' TERM; (trap '' TERM; sleep 300) & (setsid sh -c 'sleep 0.1') & echo ready; sleep 300";
    let call = fenced.bench.call("c9", "exec_command", &json!({"cmd": tree}).to_string());
    let cancellation = call.cancellation();
    let running = tokio::spawn(async move { call.text().await });
    fenced.bench.told.printed("ready").await;
    let pid = fenced.bench.told.pid().await;
    cancellation.cancel();
    let answer = running.await.unwrap();
    assert!(answer.contains("aborted by user") && answer.contains("ready"), "{answer}");
    assert_eq!(support::session_of(pid), [].into());
}

#[tokio::test(flavor = "multi_thread")]
async fn random_cancels_leave_no_process() {
    let Some(fenced) = fenced().await else { return };
    let tree =
        "trap '' TERM; (trap '' TERM; sleep 300 & sleep 300) & (sleep 300 | cat) & setsid sleep 300 & wait";
    let mut calls = tokio::task::JoinSet::new();
    for round in 0..40_u64 {
        let call = fenced.bench.call("c1", "exec_command", &json!({"cmd": tree}).to_string());
        let cancellation = call.cancellation();
        // Times are only there to hit different places; nothing is expected of them.
        let after = std::time::Duration::from_millis(round * 31 % 60);
        calls.spawn(async move {
            let cancel = async {
                tokio::time::sleep(after).await;
                cancellation.cancel();
            };
            tokio::join!(call.text(), cancel).0
        });
    }
    while let Some(answer) = calls.join_next().await {
        let answer = answer.unwrap();
        assert!(answer.contains("aborted by user"), "{answer}");
    }
    for fact in fenced.bench.told.facts() {
        let tenon_protocol::CallFact::Process { pid, .. } = fact else { panic!("{fact:?}") };
        assert_eq!(support::session_of(i32::try_from(pid).unwrap()), [].into());
    }
}

#[tokio::test]
async fn a_denial_is_told_with_its_path() {
    let Some(fenced) = fenced().await else { return };
    let told = |path: &str| {
        format!("\n[denied by the sandbox, as it seems: {path} (sandbox mode workspace-write)]\n")
    };
    let answer = fenced.run("echo x > ../outside/file").await;
    assert!(answer.ends_with(&told("../outside/file")), "{answer}");
    let answer = fenced.run("touch /etc/tenon-test").await;
    assert!(answer.ends_with(&told("/etc/tenon-test")), "{answer}");
    // Neither a success that speaks of it nor another failure is one.
    for other in ["echo permission denied", "echo no; false"] {
        let answer = fenced.run(other).await;
        assert!(!answer.contains("[denied"), "{answer}");
    }
}

#[tokio::test]
async fn without_a_sandbox_there_is_no_denial_and_no_fence() {
    let Some(mut fenced) = fenced().await else { return };
    fenced.bench.step.sandbox = SandboxPolicy::DangerFullAccess;
    fenced.allowed("echo x > ../outside/file").await;
    let answer = fenced.run("echo permission denied; false").await;
    assert!(!answer.contains("[denied"), "{answer}");
    assert!(!fenced.run("env").await.contains("TENON_SANDBOX"));
}

#[tokio::test]
async fn a_call_that_was_let_out_is_not_held() {
    let Some(fenced) = fenced().await else { return };
    let mut call =
        fenced.bench.call("c1", "exec_command", &json!({"cmd": "echo x > ../outside/file; env"}).to_string());
    call.invocation.confinement = Confinement::Unsandboxed;
    let answer = call.text().await;
    assert!(answer.contains("Process exited with code 0\n") && !answer.contains("TENON_SANDBOX"), "{answer}");
    // The next one is held again.
    fenced.refused("echo x > ../outside/file").await;
}

#[tokio::test]
async fn asking_for_more_is_not_having_it() {
    let Some(mut fenced) = fenced().await else { return };
    fenced.bench.step.approval = ApprovalPolicy::OnRequest;
    let asks = json!({"cmd": "echo x > ../outside/file", "sandbox_permissions": "require_escalated"});
    let answer = fenced.bench.exec(asks).await;
    assert!(answer.contains("Read-only file system"), "{answer}");
}

#[tokio::test]
async fn a_folder_that_is_the_whole_machine_is_writable_but_for_what_is_protected() {
    let Some(mut fenced) = fenced().await else { return };
    fenced.step(|workspace| workspace.writable_roots = vec![PathBuf::from("/")]);
    fenced.outdoors("git init -q .");
    fenced.allowed("echo x > ../outside/file").await;
    fenced.refused("echo x > .git/config").await;
}

/// Another user has no mount namespace without a user namespace: the other half of the tests' ways.
#[test]
fn all_of_this_holds_for_a_user_without_privileges() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    support::fenced::as_nobody("all_of_this_holds_for_a_user_without_privileges");
}
