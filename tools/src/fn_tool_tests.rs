use std::sync::Mutex;

use pretty_assertions::assert_eq;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tenon_protocol::FunctionCallOutputPayload;

use super::*;
use crate::{EventSink, FileEffect, FunctionToolOutput, HookIdentity, Host, ToolPayload};

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct Add {
    /// The first number.
    left: i64,
    /// The second number.
    right: Option<i64>,
}

fn add() -> FnTool<Add> {
    FnTool::new("add", "Adds two numbers.", |args: Add, _call: ToolInvocation| async move {
        json!(args.left + args.right.unwrap_or(0))
    })
}

fn call(tool: &dyn ToolExecutor, arguments: &str) -> ToolInvocation {
    ToolInvocation::detached(tool.name().clone(), ToolPayload::Function { arguments: arguments.to_owned() })
}

async fn run(tool: &dyn ToolExecutor, arguments: &str) -> Result<Box<dyn ToolOutput>, FunctionCallError> {
    let call = call(tool, arguments);
    tool.prepare(&call).await?.run(&call).await
}

async fn model_text(tool: &dyn ToolExecutor, arguments: &str) -> String {
    let payload = ToolPayload::Function { arguments: arguments.to_owned() };
    let output = run(tool, arguments).await.expect("an output");
    match output.to_response_item(&"c".into(), &payload) {
        tenon_protocol::ResponseInputItem::FunctionCallOutput { output, .. } => output.to_string(),
        other => panic!("{other:?}"),
    }
}

async fn refusal(tool: &dyn ToolExecutor, arguments: &str) -> String {
    match tool.prepare(&call(tool, arguments)).await {
        Err(FunctionCallError::RespondToModel(text)) => text,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("{arguments} was taken"),
    }
}

#[tokio::test]
async fn a_function_is_a_tool() {
    let tool = add();
    assert_eq!(tool.name(), &ToolName::new(Some("functions"), "add"));
    assert_eq!(
        serde_json::to_string(&tool.spec()).unwrap(),
        r#"{"type":"function","name":"add","description":"Adds two numbers.","strict":false,"parameters":{"type":"object","properties":{"left":{"type":"integer","description":"The first number."},"right":{"type":"integer","description":"The second number."}},"required":["left"],"additionalProperties":false}}"#
    );
    assert_eq!(tool.hook_identity(), Some(HookIdentity::function(tool.name())));
    assert_eq!((ToolExecutor::exposure(&tool), ToolExecutor::parallel(&tool)), (ToolExposure::Direct, false));
    assert_eq!(model_text(&tool, r#"{"left":2,"right":3}"#).await, "5");
    assert_eq!(model_text(&tool, r#"{"left":2,"right":null,"unknown":{}}"#).await, "2");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_with_member_place_and_wish() {
    let tool = add();
    let table = [
        (r#"{"left":"2"}"#, "`left`: invalid type: string \"2\", expected i64 at line 1 column 11"),
        (r#"{"left":2.5}"#, "`left`: invalid type: floating point `2.5`, expected i64 at line 1 column 11"),
        (r#"{"right":1}"#, "missing field `left` at line 1 column 11"),
        (r#"{"left":1,"left":2}"#, "duplicate field `left` at line 1 column 16"),
        ("", "missing field `left` at line 1 column 2"),
        ("[1,2]", "expected a JSON object, got an array"),
        ("null", "expected a JSON object, got null"),
        ("{left:1}", "key must be a string at line 1 column 2"),
    ];
    for (arguments, expected) in table {
        assert_eq!(
            refusal(&tool, arguments).await,
            format!("failed to parse function arguments: {expected}")
        );
    }
}

#[tokio::test]
async fn blank_arguments_are_none_for_a_tool_that_takes_none() {
    let tool = FnTool::new("now", "Tells the time.", |_: NoArguments, _call| async { "noon" });
    for arguments in ["", " \n", "{}", r#"{"zone":1}"#] {
        assert_eq!(model_text(&tool, arguments).await, "noon");
    }
    assert_eq!(
        refusal(&tool, "5").await,
        "failed to parse function arguments: expected a JSON object, got a number"
    );
}

#[tokio::test]
async fn unknown_members_are_refused_only_where_the_struct_denies_them() {
    #[derive(Deserialize, schemars::JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        #[allow(dead_code)]
        path: String,
    }
    let tool = FnTool::new("strict", "", |_: Strict, _call| async {});
    assert_eq!(
        refusal(&tool, r#"{"path":"x","mode":1}"#).await,
        "failed to parse function arguments: unknown field `mode`, expected `path` at line 1 column 18"
    );
}

#[tokio::test]
async fn another_payload_is_refused() {
    let tool = add();
    let call = ToolInvocation::detached(tool.name().clone(), ToolPayload::Custom { input: "{}".to_owned() });
    assert!(!tool.accepts(&call.payload));
    let refused = tool.prepare(&call).await.err().expect("a refusal");
    assert_eq!(refused.text(), "add handler received unsupported payload");
}

#[tokio::test]
async fn everything_that_can_be_answered() {
    #[derive(Serialize)]
    struct Answer {
        sum: i32,
    }
    type AnyError = Box<dyn std::error::Error + Send + Sync>;
    let none = |_: NoArguments, _: ToolInvocation| async {};
    let text = |_: NoArguments, _: ToolInvocation| async { "text".to_owned() };
    let typed = |_: NoArguments, _: ToolInvocation| async { Json(Answer { sum: 3 }) };
    let items = |_: NoArguments, _: ToolInvocation| async { FunctionToolOutput::default() };
    let boxed =
        |_: NoArguments, _: ToolInvocation| async { Box::new(crate::PlanToolOutput) as Box<dyn ToolOutput> };
    let parsed = |_: NoArguments, _: ToolInvocation| async {
        let number: i32 = "12".parse()?;
        Ok::<_, AnyError>(Value::from(number))
    };
    assert_eq!(model_text(&FnTool::new("t", "", none), "").await, "");
    assert_eq!(model_text(&FnTool::new("t", "", text), "").await, "text");
    assert_eq!(model_text(&FnTool::new("t", "", typed), "").await, r#"{"sum":3}"#);
    assert_eq!(model_text(&FnTool::new("t", "", items), "").await, "[]");
    assert_eq!(model_text(&FnTool::new("t", "", boxed), "").await, "Plan updated");
    assert_eq!(model_text(&FnTool::new("t", "", parsed), "").await, "12");
}

#[tokio::test]
async fn errors_keep_their_kind() {
    type AnyError = Box<dyn std::error::Error + Send + Sync>;
    let text = |_: NoArguments, _: ToolInvocation| async { Err::<(), _>("no") };
    let own = |_: NoArguments, _: ToolInvocation| async {
        Err::<(), _>(FunctionCallError::Fatal("broken".to_owned()))
    };
    let any = |_: NoArguments, _: ToolInvocation| async {
        "x".parse::<i32>()?;
        Ok::<_, AnyError>(())
    };
    let boxed = |_: NoArguments, _: ToolInvocation| async {
        Err::<(), AnyError>(FunctionCallError::Fatal("inside".to_owned()).into())
    };
    assert_eq!(run(&FnTool::new("t", "", text), "").await.err(), Some("no".into()));
    assert_eq!(
        run(&FnTool::new("t", "", own), "").await.err(),
        Some(FunctionCallError::Fatal("broken".into()))
    );
    assert_eq!(run(&FnTool::new("t", "", any), "").await.err(), Some("invalid digit found in string".into()));
    assert_eq!(
        run(&FnTool::new("t", "", boxed), "").await.err(),
        Some(FunctionCallError::Fatal("inside".into()))
    );
}

#[tokio::test]
async fn effects_are_told_before_the_call_runs() {
    #[derive(Deserialize, schemars::JsonSchema)]
    struct Write {
        path: std::path::PathBuf,
    }
    let ran = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&ran);
    let tool = FnTool::new("write", "", move |args: Write, call: ToolInvocation| {
        let seen = Arc::clone(&seen);
        async move { seen.lock().unwrap().push((args.path, call.call_id)) }
    })
    .effects(|args| Effects {
        writes: vec![FileEffect { path: args.path.clone(), content: None }],
        ..Effects::none()
    });
    let call = call(&tool, r#"{"path":"/tmp/x"}"#);
    let prepared = tool.prepare(&call).await.unwrap();
    assert_eq!(prepared.effects().writes, [FileEffect { path: "/tmp/x".into(), content: None }]);
    assert!(ran.lock().unwrap().is_empty());
    prepared.run(&call).await.unwrap();
    assert_eq!(*ran.lock().unwrap(), [("/tmp/x".into(), call.call_id)]);
    assert!(add().prepare(&self::call(&add(), r#"{"left":1}"#)).await.unwrap().effects().is_none());
}

#[tokio::test]
async fn external_context_changes_nothing_else() {
    let plain = add();
    let external = add().external_context();
    let payload = ToolPayload::Function { arguments: r#"{"left":4}"#.to_owned() };
    let id = tenon_protocol::CallId::from("c");
    let (a, b) =
        (run(&plain, r#"{"left":4}"#).await.unwrap(), run(&external, r#"{"left":4}"#).await.unwrap());
    assert_eq!((a.contains_external_context(), b.contains_external_context()), (false, true));
    assert_eq!(a.log_preview(), b.log_preview());
    assert_eq!(a.success_for_logging(), b.success_for_logging());
    assert_eq!(a.to_response_item(&id, &payload), b.to_response_item(&id, &payload));
    assert_eq!(a.post_tool_use_id(&id), b.post_tool_use_id(&id));
    assert_eq!(a.post_tool_use_input(&payload), b.post_tool_use_input(&payload));
    assert_eq!(a.post_tool_use_response(&id, &payload), b.post_tool_use_response(&id, &payload));
    assert_eq!(a.code_mode_result(&payload), b.code_mode_result(&payload));
}

#[test]
fn builders_set_what_they_say() {
    let schema = JsonSchema::number("");
    let tool = add()
        .parallel()
        .exposure(ToolExposure::Deferred)
        .in_namespace("math", "Numbers.")
        .output_schema(schema.clone());
    assert_eq!((tool.parallel, tool.exposure), (true, ToolExposure::Deferred));
    assert_eq!(tool.name(), &ToolName::new(Some("math"), "add"));
    let ToolSpec::Namespace(namespace) = tool.spec() else { panic!("{:?}", tool.spec()) };
    assert_eq!((namespace.name.as_str(), namespace.description.as_str()), ("math", "Numbers."));
    let [crate::NamespaceTool::Function(function)] = namespace.tools.as_slice() else {
        panic!("{namespace:?}")
    };
    assert_eq!(function.output_schema.as_deref(), Some(&schema));
    let found = tool.search_info().unwrap();
    assert_eq!(
        found.text,
        "mathadd mathadd math Numbers. add add Adds two numbers. left The first number. right The second number."
    );
}

#[derive(Default)]
struct Warnings(Mutex<Vec<String>>);

impl EventSink for Warnings {
    fn emit(&self, event: Event) {
        if let Event::Warning { message } = event {
            self.0.lock().unwrap().push(message);
        }
    }
}

#[tokio::test]
async fn a_lenient_tool_repairs_and_says_so() {
    let warnings = Arc::new(Warnings::default());
    let host = Host { events: warnings.clone(), ..Host::detached() };
    let tool = add().lenient();
    let lenient_call = ToolInvocation { host, ..call(&tool, r#"{"left":"2","right":3}"#) };
    let output = tool.prepare(&lenient_call).await.unwrap().run(&lenient_call).await.unwrap();
    assert_eq!(output.code_mode_result(&lenient_call.payload), json!(5));
    assert_eq!(*warnings.0.lock().unwrap(), ["add: `left` came as a string, read as a number"]);

    let wrong = ToolInvocation {
        payload: ToolPayload::Function { arguments: r#"{"left":"2.5"}"#.into() },
        ..lenient_call
    };
    let refused = tool.prepare(&wrong).await.err().expect("a refusal");
    assert_eq!(
        refused.text(),
        "failed to parse function arguments: `left`: invalid type: string \"2.5\", expected i64 at line 1 column 13"
    );
    assert_eq!(warnings.0.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_tool_is_exact_unless_it_is_lenient() {
    assert_eq!(
        refusal(&add(), r#""{\"left\":1}""#).await,
        "failed to parse function arguments: expected a JSON object, got a string"
    );
    assert_eq!(model_text(&add().lenient(), r#""{\"left\":1}""#).await, "1");
    assert_eq!(
        model_text(&add().lenient(), r#"{"left":1}"#).await,
        FunctionCallOutputPayload::text("1").to_string()
    );
}
