use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tenon_protocol::CallId;
use tenon_tools::{Elicitor, OpenQuestions, ToolCallSource, ToolPayload, UserAnswer};

use super::*;

/// Closes every question, and looks whether it is known to be open meanwhile.
struct Looks {
    questions: OpenQuestions,
    seen: Mutex<Vec<bool>>,
}

#[async_trait]
impl Elicitor for Looks {
    async fn ask(&self, _: &CallId, _: Vec<UserQuestion>) -> Option<BTreeMap<String, UserAnswer>> {
        self.seen.lock().unwrap().push(self.questions.are_open("1"));
        None
    }
}

#[tokio::test]
async fn a_question_of_a_script_is_open_while_the_user_is_asked() {
    let question =
        json!({"id": "q", "header": "h", "question": "?", "options": [{"label": "a", "description": "b"}]});
    let arguments = json!({ "questions": [question] }).to_string();
    let mut call = ToolInvocation::detached(ToolName::plain(NAME), ToolPayload::Function { arguments });
    call.source =
        ToolCallSource::CodeMode { cell_id: "1".to_owned(), runtime_tool_call_id: "tool-1".to_owned() };
    let looks = Arc::new(Looks { questions: call.host.questions.clone(), seen: Mutex::default() });
    call.host.elicitor = Arc::clone(&looks) as _;
    let prepared = RequestUserInput::default().in_default_mode().prepare(&call).await.unwrap();
    let Err(error) = prepared.run(&call).await else { panic!("it was closed") };
    assert_eq!(error.text(), CANCELLED);
    assert_eq!(*looks.seen.lock().unwrap(), [true]);
    assert!(!call.host.questions.are_open("1"));
}
