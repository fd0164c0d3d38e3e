use std::sync::Arc;

use pretty_assertions::assert_eq;
use serde_json::json;
use tenon_protocol::{SearchToolCallParams, ToolName};
use tenon_tools::{
    FnTool, FunctionCallError, NoArguments, SearchInfo, SearchSource, ToolExecutor, ToolExposure,
    ToolInvocation, ToolPayload,
};

use super::{SOURCE_DESCRIPTION_MAX_CHARS, TOOL_SEARCH_DEFAULT_LIMIT, ToolSearch, source_line};
use crate::registry::{ToolRegistry, Toolbox};
use crate::search::SearchCatalogues;

fn over(tools: impl IntoIterator<Item = Arc<dyn ToolExecutor>>) -> Option<ToolSearch> {
    let toolbox = Arc::new(Toolbox::new(ToolRegistry::new(tools).unwrap(), Vec::new()));
    ToolSearch::over(&toolbox, &Arc::new(SearchCatalogues::default()), &toolbox.registry().0)
}

fn search_over(count: usize) -> ToolSearch {
    let answer = |_: NoArguments, _: ToolInvocation| async { Ok::<_, String>("done") };
    let tool = |n: usize| -> Arc<dyn ToolExecutor> {
        Arc::new(FnTool::new(&format!("tool_{n}"), "Does it.", answer).exposure(ToolExposure::Deferred))
    };
    over((0..count).map(tool)).unwrap()
}

fn call(query: &str, limit: Option<usize>) -> ToolInvocation {
    let arguments = SearchToolCallParams { query: query.to_owned(), limit };
    ToolInvocation::detached(ToolName::plain("tool_search"), ToolPayload::ToolSearch { arguments })
}

async fn found(search: &ToolSearch, call: &ToolInvocation) -> Result<usize, FunctionCallError> {
    let prepared = search.prepare(call).await?;
    assert!(prepared.effects().is_none());
    let output = prepared.run(call).await?;
    assert!(output.success_for_logging());
    Ok(output.code_mode_result(&call.payload).as_array().unwrap().len())
}

#[tokio::test]
async fn a_search_returns_as_many_as_it_wants() {
    let search = search_over(12);
    let rows = [
        (None, TOOL_SEARCH_DEFAULT_LIMIT),
        (Some(1), 1),
        (Some(11), 11),
        (Some(12), 12),
        (Some(13), 12),
        (Some(usize::MAX), 12),
    ];
    for (limit, expected) in rows {
        assert_eq!(found(&search, &call("tool", limit)).await, Ok(expected), "{limit:?}");
    }
    assert_eq!(found(&search, &call("zzzzqqq", None)).await, Ok(0));
}

#[tokio::test]
async fn what_cannot_be_searched_for_is_said_plainly() {
    let search = search_over(1);
    let respond = FunctionCallError::respond;
    for query in ["", "  \n"] {
        assert_eq!(found(&search, &call(query, None)).await, Err(respond("query must not be empty")));
    }
    assert_eq!(found(&search, &call(" ", Some(0))).await, Err(respond("query must not be empty")));
    assert_eq!(found(&search, &call("x", Some(0))).await, Err(respond("limit must be greater than zero")));
    let payload = ToolPayload::Function { arguments: r#"{"query":"x"}"#.to_owned() };
    let function = ToolInvocation::detached(ToolName::plain("tool_search"), payload);
    assert_eq!(
        found(&search, &function).await,
        Err(FunctionCallError::Fatal("tool_search handler received unsupported payload".to_owned()))
    );
}

#[test]
fn the_model_is_shown_what_there_is_to_search() {
    let spec = serde_json::to_value(search_over(1).spec()).unwrap();
    assert_eq!(
        spec["parameters"],
        json!({"type": "object", "properties": {
            "query": {"type": "string", "description": "Search query for deferred tools."},
            "limit": {"type": "number", "description": "Maximum number of tools to return (defaults to 8)."},
        }, "required": ["query"], "additionalProperties": false})
    );
    assert_eq!((&spec["type"], &spec["execution"]), (&json!("tool_search"), &json!("client")));
    let description = spec["description"].as_str().unwrap();
    assert!(
        description.contains("BM25") && description.ends_with("\nSources:\n- Dynamic tools"),
        "{description}"
    );
}

#[test]
fn there_is_no_search_where_nothing_can_be_found() {
    assert!(over([]).is_none());
    let unfindable: Arc<dyn ToolExecutor> = Arc::new(Unfindable(ToolName::plain("x")));
    assert!(over([unfindable]).is_none());
}

struct Unfindable(ToolName);

#[async_trait::async_trait]
impl ToolExecutor for Unfindable {
    fn name(&self) -> &ToolName {
        &self.0
    }

    fn spec(&self) -> tenon_tools::ToolSpec {
        tenon_tools::ToolSpec::lark("x", "Does it.", "start: /x/")
    }

    fn exposure(&self) -> ToolExposure {
        ToolExposure::Deferred
    }

    fn search_info(&self) -> Option<SearchInfo> {
        SearchInfo::from_spec(self.name(), &self.spec())
    }

    async fn prepare(
        &self,
        _call: &ToolInvocation,
    ) -> Result<Box<dyn tenon_tools::PreparedCall>, FunctionCallError> {
        Err(FunctionCallError::respond("never"))
    }
}

#[test]
fn a_source_is_one_line_of_the_description() {
    let line = |description: Option<&str>| {
        source_line(Some(&SearchSource {
            name: "git".to_owned(),
            description: description.map(str::to_owned),
        }))
    };
    assert_eq!(source_line(None), "- Dynamic tools");
    assert_eq!(line(None), "- git");
    assert_eq!(line(Some(" \n ")), "- git");
    assert_eq!(line(Some("Reads\n  repositories.\n")), "- git: Reads repositories.");
    let at_the_edge = "ü".repeat(SOURCE_DESCRIPTION_MAX_CHARS);
    assert_eq!(line(Some(&at_the_edge)), format!("- git: {at_the_edge}"));
    assert_eq!(line(Some(&format!("{at_the_edge}x"))), format!("- git: {at_the_edge}…"));
}
