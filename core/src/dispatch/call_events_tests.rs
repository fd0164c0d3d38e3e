use pretty_assertions::assert_eq;
use tenon_protocol::{CallId, ToolName};
use tenon_tools::{Host, ToolCall, ToolPayload};

use super::*;

/// Keeps the status of each item that is completed.
#[derive(Default)]
struct Completed(std::sync::Mutex<Vec<Option<ItemStatus>>>);

impl EventSink for Completed {
    fn emit(&self, event: Event) {
        if let Event::ItemCompleted(item) = event {
            self.0.lock().unwrap().push(item.status());
        }
    }
}

#[test]
fn an_item_that_was_completed_for_its_handler_is_not_completed_again_by_it() {
    let completed = Arc::new(Completed::default());
    let call = ToolCall {
        tool_name: ToolName::plain("exec_command"),
        call_id: CallId::from("c"),
        payload: ToolPayload::Function { arguments: "{}".to_owned() },
        encrypted_function_args: None,
    };
    let own = TurnItem::CommandExecution {
        id: "c".to_owned(),
        command: vec!["true".to_owned()],
        aggregated_output: String::new(),
        exit_code: None,
        status: ItemStatus::InProgress,
    };
    let told = Told::new(Host::detached().progress);
    let events = CallEvents::new(Arc::clone(&completed) as _, told, Identity::of(&call, 0, None));
    events.start(ShownAs::Item(own.clone()));
    events.finish(LifecycleOutcome::Aborted, String::new);
    events.emit(Event::ItemCompleted(own.with_status(ItemStatus::Completed)));
    assert_eq!(*completed.0.lock().unwrap(), [Some(ItemStatus::Failed)]);
}
