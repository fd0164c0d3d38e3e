use pretty_assertions::assert_eq;
use tenon_tools::PrimitiveType;

use super::*;
use crate::surface::testing::{Tool, names};

#[test]
fn exposures() {
    let rows = [
        (ToolExposure::Direct, Some(false)),
        (ToolExposure::Deferred, Some(true)),
        (ToolExposure::DirectModelOnly, None),
        (ToolExposure::DeferredModelOnly, None),
        (ToolExposure::CodeModeOnly, Some(false)),
        (ToolExposure::Hidden, None),
    ];
    for (exposure, deferred) in rows {
        let run = Tool::function("run").exposed(exposure).arc();
        let nested = Catalogue::default().nested(&[Arc::clone(&run), Tool::search().arc()]);
        assert_eq!(nested.first().map(|tool| tool.deferred), deferred, "{exposure:?}");
        let nested = Catalogue::default().nested(&[run]);
        let without_search = deferred.map(|_| false);
        assert_eq!(nested.first().map(|tool| tool.deferred), without_search, "{exposure:?}");
    }
}

#[test]
fn what_scripts_never_call() {
    let empty = ToolSpec::Namespace(tenon_tools::NamespaceSpec {
        name: "empty".to_owned(),
        description: String::new(),
        tools: Vec::new(),
    });
    let tools = [
        Tool::function("exec").arc(),
        Tool::function("wait").arc(),
        Tool::search().exposed(ToolExposure::Direct).arc(),
        Tool::in_namespace("empty", "x").with_spec(empty).arc(),
        Tool::in_namespace("shell", "exec").arc(),
    ];
    assert_eq!(names(&Catalogue::default().nested(&tools)), ["shell__exec"]);
}

#[test]
fn the_first_of_two_with_one_name_has_it_and_all_are_sorted() {
    let tools = [
        Tool::function("z").arc(),
        Tool::in_namespace("mcp__a-b", "x").described("first").arc(),
        Tool::in_namespace("mcp__a_b", "x").described("second").arc(),
        Tool::function("a").arc(),
        Tool::function("mcp__b").arc(),
    ];
    let nested = Catalogue::default().nested(&tools);
    assert_eq!(names(&nested), ["a", "mcp__a_b__x", "mcp__b", "z"]);
    assert_eq!(
        (nested[1].name.to_string().as_str(), nested[1].description.as_str()),
        ("mcp__a-b.x", "first")
    );
}

#[test]
fn what_a_script_knows_of_a_tool() {
    let spec = ToolSpec::function(
        "run",
        "Runs it.",
        JsonSchema::object([("cmd", JsonSchema::string(""))], &["cmd"]),
    )
    .with_output_schema(JsonSchema::of_type(PrimitiveType::String));
    let patch = ToolSpec::lark("patch", "Patches it.", "start: /x/");
    let tools = [Tool::of("run", spec).arc(), Tool::of("patch", patch).arc()];
    let nested = Catalogue::default().nested(&tools);
    let [patch, run] = nested.as_slice() else { panic!("{nested:?}") };
    assert_eq!((patch.kind, run.kind), (NestedKind::Freeform, NestedKind::Function));
    assert_eq!(
        run.augmented,
        "Runs it.\n\nexec tool declaration:\n```ts\n\
         declare const tools: { run(args: { cmd: string; }): Promise<string>; };\n```"
    );
    assert_eq!(
        patch.augmented,
        "Patches it.\n\nexec tool declaration:\n```ts\n\
         declare const tools: { patch(input: string): Promise<unknown>; };\n```"
    );
    assert_eq!(run.name, ToolName::plain("run").with_default_namespace());
}

#[test]
fn a_tool_that_changes_is_described_anew() {
    let mut catalogue = Catalogue::default();
    let words = |nested: Vec<NestedTool>| nested.into_iter().map(|tool| tool.description).collect::<Vec<_>>();
    let first = [Tool::function("a").described("one").arc(), Tool::function("b").described("same").arc()];
    assert_eq!(words(catalogue.nested(&first)), ["one", "same"]);
    let second = [Tool::function("a").described("two").arc(), Tool::function("b").described("same").arc()];
    assert_eq!(words(catalogue.nested(&second)), ["two", "same"]);
    let late = Tool::function("a").described("two").exposed(ToolExposure::Deferred);
    let deferred = [late.arc(), Tool::search().arc()];
    let nested = catalogue.nested(&deferred);
    assert_eq!((nested.len(), nested[0].deferred), (1, true));
    assert_eq!(catalogue.known.len(), 1, "what is gone is forgotten");
}
