use std::sync::Mutex;

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use rmcp::model::{NumberOrString, ProgressToken};
use tokio::sync::Notify;

use super::*;

/// Answers forms with these values, once it is let go on.
struct Answers {
    values: Map<String, Value>,
    asked: Mutex<Vec<Elicitation>>,
    go_on: Notify,
}

#[async_trait]
impl McpHost for Answers {
    fn answers_forms(&self) -> bool {
        true
    }

    async fn elicit(&self, question: Elicitation) -> ElicitationAnswer {
        self.asked.lock().expect("a lock").push(question);
        self.go_on.notified().await;
        ElicitationAnswer::Accept(self.values.clone())
    }
}

fn questions(values: Value) -> (Arc<Answers>, Questions) {
    let Value::Object(values) = values else { panic!("an object") };
    let host = Arc::new(Answers { values, asked: Mutex::default(), go_on: Notify::new() });
    let traffic = Arc::new(Traffic::default());
    let roots = vec![PathBuf::from("/a b/é")];
    (Arc::clone(&host), Questions { server: "s".to_owned(), host, roots, traffic })
}

fn form() -> Value {
    json!({
        "message": "who?",
        "requestedSchema": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "n": {"type": "integer", "default": 7}},
        },
    })
}

#[tokio::test]
async fn what_is_left_out_of_a_form_takes_its_default() {
    let (host, questions) = questions(json!({"name": "x"}));
    host.go_on.notify_one();
    let answer = questions.elicit(form(), std::future::pending()).await;
    assert_eq!(answer, json!({"action": "accept", "content": {"name": "x", "n": 7}}));
    assert_eq!(host.asked.lock().expect("a lock")[0].message, "who?");
}

#[tokio::test]
async fn what_nobody_answers_is_declined() {
    let (_, questions) = questions(json!({}));
    let url = json!({"message": "m", "url": "http://h", "elicitationId": "1"});
    assert_eq!(questions.elicit(url, std::future::pending()).await, json!({"action": "decline"}));
    let sampled = questions.answer(&json!({"method": "sampling/createMessage"})).await;
    assert_eq!(sampled, Err("no model is lent to the server s".to_owned()));
    let other = questions.answer(&json!({"method": "other"})).await;
    assert_eq!(other, Err("other is not answered here".to_owned()));
}

#[tokio::test]
async fn a_question_that_is_withdrawn_is_dismissed() {
    let (_, questions) = questions(json!({}));
    let answer = questions.elicit(form(), std::future::ready(())).await;
    assert_eq!(answer, json!({"action": "cancel"}));
    assert_eq!(*questions.traffic.questions().borrow(), 0);
}

#[tokio::test]
async fn a_question_ends_with_the_calls_that_it_may_belong_to() {
    let (_, questions) = questions(json!({}));
    let call = questions.traffic.begin(&ProgressToken(NumberOrString::Number(1)));
    let asked = questions.elicit(form(), questions.traffic.all_ended());
    let ended = async {
        let mut open = questions.traffic.questions();
        open.wait_for(|open| *open == 1).await.expect("a question is open");
        drop(call);
    };
    let (answer, ()) = tokio::join!(asked, ended);
    assert_eq!(answer, json!({"action": "cancel"}));
}

#[test]
fn roots_are_addresses() {
    let (_, questions) = questions(json!({}));
    assert_eq!(questions.roots(), json!({"roots": [{"uri": "file:///a%20b/%C3%A9"}]}));
}
