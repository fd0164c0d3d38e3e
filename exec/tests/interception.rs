//! Commands that another tool takes over.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

mod support;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use serde_json::json;
use support::{Bench, ended, steady};
use tenon_protocol::CallId;
use tenon_tools::{
    ApplyPatchToolOutput, CommandInterceptor, Effects, FileEffect, FunctionCallError, PreparedCall,
    SandboxPolicy, ToolInvocation, ToolOutput,
};

/// Takes over what begins with `patch`, and remembers what it was asked.
#[derive(Default)]
struct Patcher {
    asked: Mutex<Vec<(Vec<String>, PathBuf)>>,
}

struct Patch(Effects);

#[async_trait]
impl CommandInterceptor for Patcher {
    async fn intercept(
        &self,
        argv: &[String],
        cwd: &Path,
        _: &ToolInvocation,
    ) -> Option<Result<Box<dyn PreparedCall>, FunctionCallError>> {
        self.asked.lock().unwrap().push((argv.to_vec(), cwd.to_owned()));
        let command = argv.last()?;
        if command == "patch wrong" {
            return Some(Err(FunctionCallError::respond("apply_patch verification failed: wrong")));
        }
        let writes = vec![FileEffect { path: cwd.join("file"), content: None }];
        command.starts_with("patch").then(|| Ok(Box::new(Patch(Effects { writes, ..Effects::none() })) as _))
    }
}

#[async_trait]
impl PreparedCall for Patch {
    fn effects(&self) -> &Effects {
        &self.0
    }

    async fn run(self: Box<Self>, _: &ToolInvocation) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
        Ok(Box::new(ApplyPatchToolOutput {
            text: "Success. Updated the following files:\nM file\n".to_owned(),
        }))
    }
}

fn bench() -> (Arc<Patcher>, Bench) {
    let patcher = Arc::new(Patcher::default());
    (patcher.clone(), Bench::new().intercepted_by(patcher))
}

#[tokio::test]
async fn the_answer_has_the_layout_of_a_command_without_a_process() {
    let (_, bench) = bench();
    let call = bench.call("c1", "exec_command", r#"{"cmd": "patch it"}"#);
    let output = call.run().await.expect("run");
    assert_eq!(
        support::text_of(&*output, &call.invocation),
        "Wall time: 0.0000 seconds\nOutput:\nSuccess. Updated the following files:\nM file\n"
    );
    // No hook hears of a command that never ran.
    let payload = &call.invocation.payload;
    assert_eq!(output.post_tool_use_response(&CallId::from("c1"), payload), None);
    assert!(bench.told.facts().is_empty());
}

#[tokio::test]
async fn policy_is_shown_the_patch_and_not_a_command() {
    let (_, mut bench) = bench();
    // What holds a command in a sandbox is not asked: no command runs.
    bench.step.sandbox = SandboxPolicy::ReadOnly;
    let call = bench.call("c1", "exec_command", r#"{"cmd": "patch it", "tty": true}"#);
    let prepared = call.tool.prepare(&call.invocation).await.expect("prepared");
    let writes = vec![FileEffect { path: bench.cwd().join("file"), content: None }];
    assert_eq!(prepared.effects(), &Effects { writes, ..Effects::none() });
}

#[tokio::test]
async fn its_refusal_is_the_answer() {
    let (_, bench) = bench();
    let answer = bench.exec(json!({"cmd": "patch wrong"})).await;
    assert_eq!(answer, "apply_patch verification failed: wrong");
}

#[tokio::test]
async fn other_commands_run_and_were_shown_to_it() {
    let (patcher, bench) = bench();
    std::fs::create_dir(bench.cwd().join("sub")).expect("made");
    let answer = bench.exec(json!({"cmd": "echo hi", "workdir": "sub"})).await;
    assert_eq!(steady(&answer), ended(0, 1, "hi\n"));
    let argv = ["/bin/bash", "-c", "echo hi"].map(str::to_owned).to_vec();
    assert_eq!(*patcher.asked.lock().unwrap(), [(argv, bench.cwd().join("sub"))]);
}

#[tokio::test]
async fn it_is_asked_after_permissions_are_checked() {
    let (patcher, bench) = bench();
    let answer = bench.exec(json!({"cmd": "patch it", "sandbox_permissions": "require_escalated"})).await;
    assert_eq!(
        answer,
        "approval policy is Never; reject command — you cannot ask for escalated permissions if the approval policy \
         is Never"
    );
    assert!(patcher.asked.lock().unwrap().is_empty());
}
