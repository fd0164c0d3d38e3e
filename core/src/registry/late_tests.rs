//! A source that is starting when a step begins.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use tenon_protocol::ToolName;
use tenon_tools::{FnTool, NoArguments, ToolExecutor, ToolInvocation, ToolSource, Wanted};
use tokio::sync::Semaphore;

use super::{ToolRegistry, Toolbox};
use crate::handlers::ToolSearch;

fn tool(name: &str) -> Arc<dyn ToolExecutor> {
    Arc::new(FnTool::new(name, "", |_: NoArguments, _: ToolInvocation| async { Ok::<_, String>("done") }))
}

/// Has the tool `late` once it has started.
struct Late {
    has_started: AtomicBool,
    starts: Semaphore,
}

impl Late {
    fn starting() -> Arc<Self> {
        Arc::new(Self { has_started: AtomicBool::new(false), starts: Semaphore::new(0) })
    }

    fn start(&self) {
        self.has_started.store(true, Ordering::SeqCst);
        self.starts.close();
    }
}

#[async_trait]
impl ToolSource for Late {
    fn snapshot(&self) -> Vec<Arc<dyn ToolExecutor>> {
        if self.is_starting(Wanted::Anything) { Vec::new() } else { vec![tool("late")] }
    }

    fn is_starting(&self, _: Wanted<'_>) -> bool {
        !self.has_started.load(Ordering::SeqCst)
    }

    async fn started(&self, _: Wanted<'_>) {
        // Closed once it has.
        assert!(self.starts.acquire().await.is_err());
    }
}

fn toolbox(late: &Arc<Late>) -> Toolbox {
    let own = ToolRegistry::new([tool("own")]).unwrap();
    Toolbox::new(own, vec![Arc::clone(late) as Arc<dyn ToolSource>])
}

fn registry(late: &Arc<Late>) -> ToolRegistry {
    toolbox(late).registry().0
}

fn names(registry: &ToolRegistry) -> Vec<&str> {
    registry.tools().iter().map(|tool| tool.name().name()).collect()
}

#[tokio::test]
async fn the_whole_is_waited_for() {
    let late = Late::starting();
    let step = registry(&late);
    let mut complete = Box::pin(step.complete());
    tokio::select! {
        biased;
        _ = &mut complete => panic!("it did not wait"),
        () = tokio::task::yield_now() => {}
    }
    late.start();
    assert_eq!(names(&complete.await.unwrap()), ["own", "late"]);
    assert_eq!(names(&step), ["own"], "the step's own list stays");
}

#[tokio::test]
async fn what_came_between_the_step_and_the_call_is_found() {
    let late = Late::starting();
    let step = registry(&late);
    late.start();
    assert!(step.may_come());
    assert_eq!(names(&step.complete().await.unwrap()), ["own", "late"]);
    let name = ToolName::plain("late").with_default_namespace();
    assert!(step.arrival(&name).await.is_some());
}

#[test]
fn what_came_between_the_step_and_its_search_can_be_searched_for() {
    let late = Late::starting();
    let toolbox = Arc::new(toolbox(&late));
    let (step, _) = toolbox.registry();
    late.start();
    assert!(ToolSearch::over(&toolbox, &Arc::default(), &step).is_some());
    assert!(ToolSearch::over(&toolbox, &Arc::default(), &toolbox.registry().0).is_none());
}

#[tokio::test]
async fn nothing_is_waited_for_where_nothing_was_on_its_way() {
    let late = Late::starting();
    late.start();
    let step = registry(&late);
    assert_eq!(names(&step), ["own", "late"]);
    assert!(!step.may_come());
    assert!(step.complete().await.is_none());
}
