use std::sync::Arc;

use pretty_assertions::assert_eq;
use tenon_protocol::ToolName;
use tenon_tools::{
    CommandEffect, FileEffect, InputEffect, McpEffect, SandboxPolicy, StepContext, ToolPayload,
    WorkspaceWrite,
};

use super::*;

fn call(approval: ApprovalPolicy) -> ToolInvocation {
    let payload = ToolPayload::Function { arguments: "{}".to_owned() };
    let sandbox = SandboxPolicy::WorkspaceWrite(WorkspaceWrite {
        exclude_slash_tmp: true,
        ..WorkspaceWrite::default()
    });
    let step = Arc::new(StepContext { approval, sandbox, cwd: "/nowhere".into(), ..StepContext::default() });
    ToolInvocation { step, ..ToolInvocation::detached(ToolName::plain("t"), payload) }
}

fn command(script: &str) -> Effects {
    let command = CommandEffect {
        argv: ["bash", "-lc", script].map(str::to_owned).into(),
        cwd: "/".into(),
        ..CommandEffect::default()
    };
    Effects { command: Some(command), ..Effects::none() }
}

async fn decide(policy: &StandardPolicy, effects: &Effects) -> PolicyDecision {
    policy.decide(&call(ApprovalPolicy::UnlessTrusted), effects).await
}

#[tokio::test]
async fn of_several_effects_the_strictest_decision_counts() {
    let policy = StandardPolicy::new();
    let on_request = call(ApprovalPolicy::OnRequest);
    let mut both = command("make");
    assert_eq!(policy.decide(&on_request, &both).await, PolicyDecision::Allow);
    both.writes = vec![FileEffect { path: "/etc/passwd".into(), content: None }];
    assert!(matches!(policy.decide(&on_request, &both).await, PolicyDecision::Ask(_)));
    let never = call(ApprovalPolicy::Never);
    assert!(matches!(policy.decide(&never, &both).await, PolicyDecision::Deny { .. }));
}

#[tokio::test]
async fn feeding_a_session_is_decided_with_its_command() {
    let input = InputEffect { session_id: 1, bytes: 3 };
    let effects = Effects { input: Some(input), ..Effects::none() };
    assert!(!effects.is_none());
    assert_eq!(decide(&StandardPolicy::new(), &effects).await, PolicyDecision::Allow);
}

#[tokio::test]
async fn what_was_approved_for_the_session_is_not_asked_again() {
    let policy = StandardPolicy::new();
    let asked = call(ApprovalPolicy::UnlessTrusted);
    policy.remember(&asked, &command("make"), &ApprovalScope::Once).await.unwrap();
    assert!(matches!(decide(&policy, &command("make")).await, PolicyDecision::Ask(_)));
    policy.remember(&asked, &command("make"), &ApprovalScope::Session).await.unwrap();
    assert_eq!(decide(&policy, &command("make")).await, PolicyDecision::Allow);
    assert!(matches!(decide(&policy, &command("make x")).await, PolicyDecision::Ask(_)));
}

#[tokio::test]
async fn a_session_approval_does_not_lift_a_refusal() {
    let rules = ExecRules::read("prefix_rule(pattern=['make'], decision='forbidden')", "x".as_ref()).unwrap();
    let policy = StandardPolicy::new().with_rules(rules);
    let asked = call(ApprovalPolicy::UnlessTrusted);
    policy.remember(&asked, &command("make"), &ApprovalScope::Session).await.unwrap();
    assert!(matches!(decide(&policy, &command("make")).await, PolicyDecision::Deny { .. }));
}

#[tokio::test]
async fn an_approved_prefix_holds_at_once_and_in_the_next_session() {
    let home = tempfile::tempdir().unwrap();
    let policy = StandardPolicy::new().with_rules_of(home.path()).unwrap();
    let scope = |words: &[&str]| ApprovalScope::Prefix {
        prefix: words.iter().map(ToString::to_string).collect(),
        file: home.path().join("rules/default.rules"),
    };
    let asked = call(ApprovalPolicy::UnlessTrusted);
    policy.remember(&asked, &command("make test"), &scope(&["make"])).await.unwrap();
    assert_eq!(decide(&policy, &command("make clean")).await, PolicyDecision::AllowUnsandboxed);
    let next = StandardPolicy::new().with_rules_of(home.path()).unwrap();
    assert_eq!(decide(&next, &command("make clean")).await, PolicyDecision::AllowUnsandboxed);
    // A person may change the words, but not to a rule on everything.
    let error = policy.remember(&asked, &command("bash x"), &scope(&["bash", "-c"])).await.unwrap_err();
    let why = "a rule on `bash -c` would allow far more than this".to_owned();
    assert_eq!(error, NotRemembered::CallAlone(why));
}

#[tokio::test]
async fn no_decision_waits_for_the_file_of_rules() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(RULES_FOLDER);
    std::fs::create_dir(&folder).unwrap();
    let other_program = std::fs::File::create(folder.join("default.rules.lock")).unwrap();
    other_program.lock().unwrap();
    let policy = StandardPolicy::new().with_rules_of(home.path()).unwrap();
    let scope = ApprovalScope::Prefix { prefix: vec!["make".to_owned()], file: PathBuf::new() };
    let (asked, effects) = (call(ApprovalPolicy::UnlessTrusted), command("make"));
    let mut remembered = policy.remember(&asked, &effects, &scope);
    tokio::select! {
        biased;
        _ = &mut remembered => panic!("the file is locked"),
        () = std::future::ready(()) => {}
    }
    assert!(matches!(decide(&policy, &effects).await, PolicyDecision::Ask(_)));
    drop(other_program);
    remembered.await.unwrap();
    assert_eq!(decide(&policy, &effects).await, PolicyDecision::AllowUnsandboxed);
}

#[tokio::test]
async fn without_a_folder_no_prefix_is_offered_or_written() {
    let policy = StandardPolicy::new();
    let PolicyDecision::Ask(question) = decide(&policy, &command("make")).await else {
        panic!("no question")
    };
    assert_eq!(question.scopes, [ApprovalScope::Once, ApprovalScope::Session]);
    let scope = ApprovalScope::Prefix { prefix: vec!["make".to_owned()], file: PathBuf::new() };
    let asked = call(ApprovalPolicy::UnlessTrusted);
    let error = policy.remember(&asked, &command("make"), &scope).await.unwrap_err();
    assert_eq!(error, NotRemembered::CallAlone("there is no folder to write rules to".to_owned()));
}

/// Keeps tools in memory, or refuses to.
#[derive(Debug, Default)]
struct Store {
    kept: Mutex<Vec<String>>,
    refuses: bool,
}

#[async_trait]
impl McpApprovalStore for Store {
    fn file(&self) -> &Path {
        Path::new("/h/config.toml")
    }

    async fn approve(&self, server: &str, tool: &str) -> Result<(), String> {
        if self.refuses {
            return Err("the disk is full".to_owned());
        }
        self.kept.lock().unwrap().push(format!("{server}/{tool}"));
        Ok(())
    }
}

fn mcp(server: &str, tool: &str) -> Effects {
    let mcp = McpEffect { server: server.to_owned(), tool: tool.to_owned(), ..McpEffect::default() };
    Effects { mcp: Some(mcp), ..Effects::none() }
}

fn always(server: &str, tool: &str) -> ApprovalScope {
    ApprovalScope::McpTool { server: server.to_owned(), tool: tool.to_owned(), file: "/h/config.toml".into() }
}

#[tokio::test]
async fn dont_ask_again_is_offered_where_it_can_be_kept_and_the_mode_is_auto() {
    let scopes = async |policy: StandardPolicy| match decide(&policy, &mcp("s", "t")).await {
        PolicyDecision::Ask(question) => question.scopes,
        other => panic!("{other:?}"),
    };
    let prompt = || McpApprovalModes::default().with_default("s", McpApprovalMode::Prompt);
    let store = || Arc::new(Store::default());
    let both = [ApprovalScope::Once, ApprovalScope::Session];
    assert_eq!(scopes(StandardPolicy::new()).await, both);
    let offered = scopes(StandardPolicy::new().with_mcp_store(store())).await;
    assert_eq!(offered, [&both[..], &[always("s", "t")]].concat());
    let prompted = StandardPolicy::new().with_mcp_store(store()).with_mcp_modes(prompt());
    assert_eq!(scopes(prompted).await, [ApprovalScope::Once]);
}

/// It holds for the tool under whatever settings, as it will in the next session, and for no other tool.
#[tokio::test]
async fn a_tool_that_is_not_to_be_asked_about_again_is_kept_and_allowed_at_once() {
    let store = Arc::new(Store::default());
    let policy = StandardPolicy::new().with_mcp_store(Arc::clone(&store) as _);
    let asked = call(ApprovalPolicy::UnlessTrusted);
    policy.remember(&asked, &mcp("s", "t"), &always("s", "t")).await.unwrap();
    assert_eq!(*store.kept.lock().unwrap(), ["s/t"]);
    for settings in [ApprovalPolicy::UnlessTrusted, ApprovalPolicy::OnRequest, ApprovalPolicy::Never] {
        assert_eq!(policy.decide(&call(settings), &mcp("s", "t")).await, PolicyDecision::Allow);
    }
    for (server, tool) in [("s", "u"), ("other", "t")] {
        assert!(
            matches!(decide(&policy, &mcp(server, tool)).await, PolicyDecision::Ask(_)),
            "{server}/{tool}"
        );
    }
}

/// What cannot be kept is as good as a yes for the session: under the settings that it was given under.
#[tokio::test]
async fn a_tool_that_cannot_be_kept_is_allowed_for_the_session() {
    let refuses = Arc::new(Store { refuses: true, ..Store::default() });
    for (policy, why) in [
        (StandardPolicy::new().with_mcp_store(refuses), "the disk is full"),
        (StandardPolicy::new(), "there is no file to write it to"),
    ] {
        let asked = call(ApprovalPolicy::UnlessTrusted);
        let error = policy.remember(&asked, &mcp("s", "t"), &always("s", "t")).await.unwrap_err();
        assert_eq!(error.to_string(), format!("the approval counts for this session alone: {why}"));
        assert_eq!(decide(&policy, &mcp("s", "t")).await, PolicyDecision::Allow);
        let never = policy.decide(&call(ApprovalPolicy::Never), &mcp("s", "t")).await;
        assert!(matches!(never, PolicyDecision::Deny { .. }), "{never:?}");
    }
}
