use pretty_assertions::assert_eq;
use tenon_tools::ToolExposure;

use super::*;
use crate::surface::testing::{Tool, names};

fn layer(direct: DirectTools) -> (CodeModeLayer, NestedTools) {
    let nested = NestedTools::default();
    (CodeModeLayer::new(direct, nested.clone()), nested)
}

/// The names of what the model is shown of these tools: those that are direct, as the layer leaves them.
fn shown(layer: &CodeModeLayer, tools: &[Arc<dyn ToolExecutor>]) -> Vec<ToolSpec> {
    let direct = tools
        .iter()
        .filter(|tool| matches!(tool.exposure(), ToolExposure::Direct | ToolExposure::DirectModelOnly));
    layer.apply(direct.map(|tool| tool.spec()).collect(), tools)
}

fn spec_names(specs: &[ToolSpec]) -> Vec<&str> {
    specs.iter().map(ToolSpec::name).collect()
}

#[test]
fn what_the_model_is_shown_by_mode_and_exposure() {
    let rows = [
        (ToolExposure::Direct, true, false),
        (ToolExposure::Deferred, false, false),
        (ToolExposure::DirectModelOnly, true, true),
        (ToolExposure::DeferredModelOnly, false, false),
        (ToolExposure::CodeModeOnly, false, false),
        (ToolExposure::Hidden, false, false),
    ];
    for (exposure, in_code_mode, in_code_mode_only) in rows {
        let tools = [Tool::function("run").exposed(exposure).arc()];
        for (direct, is_shown) in
            [(DirectTools::Shown, in_code_mode), (DirectTools::Hidden, in_code_mode_only)]
        {
            let specs = shown(&layer(direct).0, &tools);
            let expected: &[&str] = if is_shown { &["exec", "wait", "run"] } else { &["exec", "wait"] };
            assert_eq!(spec_names(&specs), expected, "{exposure:?} {direct:?}");
        }
    }
}

#[test]
fn others_of_these_names_go_and_ours_come_first() {
    let tools = [
        Tool::function("a").exposed(ToolExposure::DirectModelOnly).arc(),
        Tool::function("wait").described("another's").arc(),
        Tool::function("exec").described("another's").exposed(ToolExposure::DirectModelOnly).arc(),
        Tool::in_namespace("shell", "exec").exposed(ToolExposure::DirectModelOnly).arc(),
    ];
    for direct in [DirectTools::Shown, DirectTools::Hidden] {
        let specs = shown(&layer(direct).0, &tools);
        assert_eq!(spec_names(&specs), ["exec", "wait", "a", "shell"], "{direct:?}");
        assert!(matches!(&specs[0], ToolSpec::Custom(exec) if exec.description.contains("`tools`")));
        assert!(matches!(&specs[1], ToolSpec::Function(wait) if wait.description.contains("`exec` cell")));
    }
}

#[test]
fn direct_tools_get_their_declaration() {
    let tools = [
        Tool::function("run").described("Runs it.").arc(),
        Tool::in_namespace("mcp__a-b", "x").described("First.").arc(),
        Tool::in_namespace("mcp__a_b", "x").described("Second.").arc(),
        Tool::function("ask").described("Asks.").exposed(ToolExposure::DirectModelOnly).arc(),
    ];
    let specs = shown(&layer(DirectTools::Shown).0, &tools);
    let declared = |words: &str, name: &str| {
        format!(
            "{words}\n\nexec tool declaration:\n```ts\ndeclare const tools: {{ {name}(args: {{}}): Promise<unknown>; }};\n```"
        )
    };
    let words = |spec: &ToolSpec| match spec {
        ToolSpec::Function(function) => function.description.clone(),
        ToolSpec::Namespace(namespace) => match &namespace.tools[0] {
            NamespaceTool::Function(function) => function.description.clone(),
            NamespaceTool::Custom(custom) => custom.description.clone(),
        },
        ToolSpec::Custom(_) | ToolSpec::ToolSearch(_) | ToolSpec::WebSearch(_) => panic!("{spec:?}"),
    };
    assert_eq!(words(&specs[2]), declared("Runs it.", "run"));
    assert_eq!(words(&specs[3]), declared("First.", "mcp__a_b__x"));
    assert_eq!(words(&specs[4]), "Second.", "scripts cannot call it: the name is taken");
    assert_eq!(words(&specs[5]), "Asks.");
}

#[test]
fn what_scripts_cannot_call_stays_even_where_direct_tools_are_hidden() {
    let tools = [
        Tool::in_namespace("mcp__a-b", "x").arc(),
        Tool::in_namespace("mcp__a_b", "x").arc(),
        Tool::search().arc(),
        Tool::function("late").exposed(ToolExposure::Deferred).arc(),
    ];
    let (layer, nested) = layer(DirectTools::Hidden);
    assert_eq!(spec_names(&shown(&layer, &tools)), ["exec", "wait", "mcp__a_b", "tool_search"]);
    assert_eq!(names(&nested.snapshot()), ["late", "mcp__a_b__x"]);
}

#[test]
fn a_namespace_keeps_what_is_not_for_scripts() {
    let nested = Tool::in_namespace("notes", "add");
    let hidden = Tool::in_namespace("notes", "ask").exposed(ToolExposure::DirectModelOnly);
    let specs = tenon_tools::merge_namespaces(vec![nested.clone().arc().spec(), hidden.clone().arc().spec()]);
    let tools = [nested.clone().arc(), hidden.arc()];
    let left = layer(DirectTools::Hidden).0.apply(specs, &tools);
    let ToolSpec::Namespace(namespace) = &left[2] else { panic!("{left:?}") };
    let left: Vec<&str> = namespace.tools.iter().map(NamespaceTool::name).collect();
    assert_eq!(left, ["ask"]);
    assert_eq!(spec_names(&shown(&layer(DirectTools::Hidden).0, &[nested.arc()])), ["exec", "wait"]);
}

#[test]
fn scripts_get_the_tools_of_the_newest_step() {
    let (layer, nested) = layer(DirectTools::Hidden);
    shown(&layer, &[Tool::function("a").arc()]);
    let before = nested.snapshot();
    shown(&layer, &[Tool::function("a").arc(), Tool::function("b").arc()]);
    assert_eq!((names(&before), names(&nested.snapshot())), (vec!["a"], vec!["a", "b"]));
}

#[test]
fn a_session_with_scripts_has_two_more_tools_and_none_of_their_names() {
    let others = vec![
        Tool::function("a").arc(),
        Tool::function("exec").arc(),
        Tool::function("wait").arc(),
        Tool::in_namespace("shell", "exec").arc(),
    ];
    let tools = with_code_mode(&CodeMode::new(NestedTools::default()), others);
    let names: Vec<String> = tools.iter().map(|tool| tool.name().to_string()).collect();
    assert_eq!(names, ["exec", "wait", "a", "shell.exec"]);
    let exposures: Vec<ToolExposure> = tools.iter().take(2).map(|tool| tool.exposure()).collect();
    assert_eq!(exposures, [ToolExposure::DirectModelOnly; 2]);
}
