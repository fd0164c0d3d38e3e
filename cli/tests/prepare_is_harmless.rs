//! Nothing is written by `prepare`: every tool prepares its calls on a file system that takes no writes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::json;
use tenon_apply_patch::ApplyPatchTool;
use tenon_exec::{ExecConfig, ExecService};
use tenon_protocol::ToolName;
use tenon_tools::{FunctionCallError, StepContext, ToolExecutor, ToolInvocation, ToolPayload};

/// Set in the process that finds its folder mounted read-only.
const INSIDE: &str = "TENON_TEST_READ_ONLY_FOLDER";
const NAME: &str = "every_tool_prepares_on_a_read_only_file_system";
const PATCH: &str = "*** Begin Patch\n*** Add File: new/b.txt\n+b\n*** Update File: a.txt\n@@\n-a\n+x\n*** Delete File: \
                     c.txt\n*** End Patch\n";

#[test]
fn every_tool_prepares_on_a_read_only_file_system() {
    if let Ok(folder) = std::env::var(INSIDE) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(prepare_all(Path::new(&folder)));
        return;
    }
    let namespaces = Command::new("unshare").args(["--user", "--map-root-user", "--mount", "true"]).status();
    if !namespaces.is_ok_and(|status| status.success()) {
        eprintln!("not checked: this machine makes no mount namespaces");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "a\n").unwrap();
    std::fs::write(folder.path().join("c.txt"), "c\n").unwrap();
    std::fs::write(folder.path().join("p.png"), png()).unwrap();
    // In namespaces of its own the folder is mounted over itself, read-only, for root as well.
    let script =
        r#"mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" --exact "$3" --nocapture"#;
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .arg(NAME)
        .env(INSIDE, folder.path())
        .output()
        .expect("unshare, of util-linux");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}

async fn prepare_all(folder: &Path) {
    let refused = std::fs::write(folder.join("probe"), "x").unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ReadOnlyFilesystem);
    let exec = ExecService::new(ExecConfig::new(std::env::vars_os().collect::<BTreeMap<_, _>>()));
    let mut tools = exec.tools();
    tools.push(Arc::new(ApplyPatchTool::default()));
    tools.extend(tenon_core::core_tools());
    let calls = [
        ("exec_command", json!({"cmd": "echo x > made.txt"})),
        ("exec_command", json!({"cmd": format!("apply_patch <<'EOF'\n{PATCH}EOF\n")})),
        ("write_stdin", json!({"session_id": 1000})),
        ("update_plan", json!({"plan": [{"step": "look", "status": "pending"}]})),
        ("view_image", json!({"path": "p.png"})),
        ("apply_patch", json!(PATCH)),
    ];
    for (name, arguments) in calls {
        let payload = match arguments.as_str() {
            Some(input) => ToolPayload::Custom { input: input.to_owned() },
            None => ToolPayload::Function { arguments: arguments.to_string() },
        };
        let call = invocation(folder, name, payload);
        let tool = tools.iter().find(|tool| tool.name().name() == name).expect(name);
        match tool.prepare(&call).await {
            Ok(prepared) => {
                assert_eq!(prepared.effects().is_none(), !["exec_command", "apply_patch"].contains(&name));
            }
            Err(error) => {
                assert_eq!(name, "write_stdin", "{error}");
                assert_eq!(error, FunctionCallError::respond("write_stdin failed: Unknown process id 1000"));
            }
        }
        assert!(tool.name().namespace().is_none());
    }
    let mut left: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.txt", "c.txt", "p.png"]);
    // The same patch, run, is what the file system refuses.
    let call = invocation(folder, "apply_patch", ToolPayload::Custom { input: PATCH.to_owned() });
    let prepared = ApplyPatchTool::default().prepare(&call).await.expect("prepared");
    let failed = prepared.run(&call).await.err().expect("a read-only file system");
    assert!(failed.text().starts_with("Exit code: 1\n"), "{failed}");
    exec.shutdown().await;
}

fn invocation(folder: &Path, name: &str, payload: ToolPayload) -> ToolInvocation {
    let mut call = ToolInvocation::detached(ToolName::plain(name), payload);
    call.step = Arc::new(StepContext { cwd: folder.to_owned(), ..StepContext::default() });
    call.host.interceptors = Arc::new([Arc::new(ApplyPatchTool::default())]);
    call
}

/// One grey pixel.
fn png() -> Vec<u8> {
    let hex = "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000\
               000a49444154789c636800000082008177cd72b60000000049454e44ae426082";
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}
