use std::sync::Mutex;

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use std::time::Duration;

use super::*;
use crate::link::ServerFacts;

/// Gives these answers in turn, the last one for ever.
struct Pages(Mutex<Vec<Value>>, ServerFacts, Mutex<Vec<Option<String>>>);

impl Pages {
    fn new(mut pages: Vec<Value>) -> Self {
        pages.reverse();
        Self(Mutex::new(pages), ServerFacts::default(), Mutex::default())
    }
}

#[async_trait]
impl Link for Pages {
    fn facts(&self) -> &ServerFacts {
        &self.1
    }

    async fn ask(&self, ask: Ask, _: Limits, _: Asker<'_>) -> Result<Value, RequestError> {
        let Ask::ListTools { cursor } = ask else { panic!("{ask:?}") };
        self.2.lock().expect("a lock").push(cursor);
        let mut pages = self.0.lock().expect("a lock");
        let last = pages.len() == 1;
        Ok(if last { pages[0].clone() } else { pages.pop().expect("a page") })
    }

    fn is_closed(&self) -> bool {
        false
    }

    async fn closed(&self) -> String {
        std::future::pending().await
    }

    async fn tools_changed(&self) {
        std::future::pending::<()>().await;
    }

    async fn close(&self) {}
}

async fn listed(pages: Vec<Value>) -> (Result<Listed, RequestError>, Vec<Option<String>>) {
    let link = Pages::new(pages);
    let limits = Limits::fixed(Duration::from_secs(1));
    let listed = list_tools(&link, limits, &CancellationToken::new()).await;
    let asked = link.2.into_inner().expect("a lock");
    (listed, asked)
}

fn names(listed: &Listed) -> Vec<&str> {
    listed.tools.iter().map(|tool| tool.name.as_str()).collect()
}

#[tokio::test]
async fn a_broken_tool_loses_nothing_but_itself() {
    let tools = json!({"tools": [
        {"name": "good", "inputSchema": {"type": "object"}},
        {"inputSchema": {}},
        {"name": 7},
        "text",
        {"name": "no-schema"},
        {"name": "null-schema", "inputSchema": null},
        {"name": "true-schema", "inputSchema": true},
        {"name": "text-schema", "inputSchema": "object"},
        {"name": "false-schema", "inputSchema": false},
        {"name": "odd", "inputSchema": {}, "description": 5, "annotations": "x", "outputSchema": 1, "icons": {}},
        {"name": "good", "inputSchema": {}},
    ]});
    let listed = listed(vec![tools]).await.0.expect("listed");
    assert_eq!(names(&listed), ["good", "no-schema", "null-schema", "true-schema", "odd"]);
    assert_eq!(
        listed.warnings,
        [
            "a tool has no name",
            "a tool has no name",
            "an entry of the list is no object",
            "the inputSchema of tool text-schema is no schema",
            "the inputSchema of tool false-schema allows nothing, or cannot be read",
            "tool good is listed twice; the first one is taken",
        ]
    );
}

#[tokio::test]
async fn pages_are_followed_and_an_empty_cursor_is_one() {
    let page = |name: &str, next: Value| json!({"tools": [{"name": name}], "nextCursor": next});
    let pages = vec![page("a", json!("x")), page("b", json!("")), page("c", Value::Null)];
    let (listed, asked) = listed(pages).await;
    assert_eq!(names(&listed.expect("listed")), ["a", "b", "c"]);
    assert_eq!(asked, [None, Some("x".to_owned()), Some(String::new())]);
}

#[tokio::test]
async fn a_list_that_does_not_end_is_cut_at_the_bound() {
    let (listed, asked) = listed(vec![json!({"tools": [{"name": "a"}], "nextCursor": "same"})]).await;
    let listed = listed.expect("listed");
    assert_eq!(names(&listed), ["a"]);
    assert_eq!(asked.len(), MAX_PAGES);
    let last = listed.warnings.first().map(String::as_str);
    assert_eq!(last, Some("the list of tools does not end: 100 entries are taken"));
}

#[tokio::test]
async fn a_page_without_a_list_is_no_answer() {
    assert_eq!(listed(vec![json!({"tool": []})]).await.0, Err(RequestError::Unexpected));
}

#[test]
fn annotations_are_read_and_meta_is_kept_apart() {
    let raw = json!({
        "name": "t",
        "title": "T",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": true, "destructiveHint": false, "openWorldHint": "yes"},
        "_meta": {"a": 1},
    });
    let tool = RemoteTool::read(raw).expect("a tool");
    let hints = ToolAnnotations { read_only: Some(true), destructive: Some(false), open_world: None };
    assert_eq!(tool.annotations, hints);
    assert_eq!((tool.title.as_deref(), tool.meta), (Some("T"), Some(json!({"a": 1}))));
}

#[test]
fn a_tool_is_listed_as_it_is_read() {
    let bare = RemoteTool::new("t", "Does.", json!({"type": "object"}));
    let full = RemoteTool {
        title: Some("T".to_owned()),
        output_schema: Some(json!({"type": "string"})),
        annotations: ToolAnnotations { read_only: Some(true), destructive: Some(false), open_world: None },
        meta: Some(json!({"a": 1})),
        ..bare.clone()
    };
    for tool in [bare, full] {
        assert_eq!(RemoteTool::read(tool.to_json()), Ok(tool));
    }
}
