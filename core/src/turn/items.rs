//! What becomes of one item of the model's (core.md 7.1).

use tenon_protocol::{
    AgentReasoningEvent, CallId, EventMsg, FunctionCallOutputPayload, ItemKind, Message, Reasoning,
    ReasoningContent, ReasoningSummary, ResponseInputItem, ResponseItem, RolloutItem, TurnItem,
    WebSearchAction, WebSearchCall,
};
use tenon_tools::{Event, ToolCall, direct_source};

use super::Turn;
use super::sample::Streamed;
use crate::history::synthetic_output;
use crate::router::{Route, ToolRouter, tool_log_payload};
use crate::runtime::ToolCallRuntime;

/// Why a thread is marked when a hosted search is recorded (core.md 5.7).
const RECORDED_ITEM: &str = "record_completed_response_item";

impl Turn<'_> {
    /// Records an item and does what it asks for. The item of a call is always recorded before the call starts.
    pub(super) async fn take_item(
        &mut self,
        item: ResponseItem,
        runtime: &ToolCallRuntime,
        streamed: &mut Streamed,
    ) {
        let item = item.with_id_if_absent();
        if let Some(warning) = item.warning() {
            self.session.emit(Event::Warning { message: warning.to_owned() });
        }
        match ToolRouter::route(&item) {
            Ok(Route::Call(call)) => self.start(item, call, runtime, streamed).await,
            Ok(Route::Answered { call_id, text }) => {
                streamed.follow_up = true;
                self.session.record(item).await;
                self.answer(call_id, &text).await;
            }
            Ok(Route::Unfit { text }) => {
                let answer = synthetic_output(&item, &text);
                self.session.record(item).await;
                if let Some(answer) = answer {
                    self.record_answer(answer).await;
                }
            }
            Ok(Route::WithoutCallId { message }) => {
                streamed.follow_up = true;
                self.session.record(item).await;
                self.record_answer(ResponseItem::message("developer", &message)).await;
            }
            Ok(Route::Unanswered { kind }) => {
                self.unanswered.push(kind);
                self.session.record(item).await;
            }
            Ok(Route::NotACall) => self.keep(item).await,
            Err(error) => {
                // There is nothing the answer could be paired with: it is dropped as an orphan, and the call repaired.
                streamed.follow_up = true;
                self.session.record(item).await;
                self.answer(CallId::from(""), error.text()).await;
            }
        }
    }

    async fn start(
        &mut self,
        item: ResponseItem,
        call: ToolCall,
        runtime: &ToolCallRuntime,
        streamed: &mut Streamed,
    ) {
        streamed.follow_up = true;
        let source = direct_source(&call);
        if tracing::enabled!(tracing::Level::INFO) {
            tracing::info!("ToolCall: {} {}", call.tool_name, tool_log_payload(&call.payload, &source));
        }
        self.note_external(&item);
        self.session.record(item).await;
        if self.playback.is_some() {
            return;
        }
        let cancellation = self.cancellation.child_token();
        let running = runtime.hand_over(call, source, cancellation);
        self.session.running(&running);
        streamed.calls.push(running);
    }

    async fn answer(&mut self, call_id: CallId, text: &str) {
        let output = FunctionCallOutputPayload::text(text);
        let answer = ResponseInputItem::FunctionCallOutput { call_id, output };
        self.record_answer(ResponseItem::from(answer)).await;
    }

    /// An item that is no call: shown where there is something to show, and recorded.
    async fn keep(&mut self, item: ResponseItem) {
        if is_output(item.kind()) {
            tracing::debug!(kind = item.tag(), "unexpected tool output from stream");
        }
        self.note_external(&item);
        let shown = shown_as(&item);
        self.session.record(item).await;
        let Some(shown) = shown else { return };
        self.session.emit(Event::ItemCompleted(shown.clone()));
        if let TurnItem::AgentMessage { text, .. } = shown {
            self.said(text).await;
        } else if let TurnItem::Reasoning { text, .. } = shown {
            let event = EventMsg::AgentReasoning(AgentReasoningEvent { text });
            self.session.write_down(RolloutItem::EventMsg(event)).await;
        }
    }

    /// Marks the thread when text from outside is about to be recorded, where the options ask for it.
    pub(super) fn note_external(&self, item: &ResponseItem) {
        if !self.session.options().mark_external_context {
            return;
        }
        let kind = item.kind();
        let name = if matches!(kind, ItemKind::ToolSearchCall(_) | ItemKind::ToolSearchOutput(_)) {
            "tool_search"
        } else if matches!(kind, ItemKind::WebSearchCall(_)) {
            "web_search"
        } else {
            return;
        };
        self.session.emit(Event::ExternalContext {
            call_id: CallId::from(item.call_id().or_else(|| item.id()).unwrap_or_default()),
            tool_name: tenon_protocol::ToolName::plain(name),
            reason: RECORDED_ITEM,
        });
    }
}

fn is_output(kind: &ItemKind) -> bool {
    matches!(
        kind,
        ItemKind::FunctionCallOutput(_) | ItemKind::CustomToolCallOutput(_) | ItemKind::ToolSearchOutput(_)
    )
}

/// What a client sees of an item of the model's that is no call.
fn shown_as(item: &ResponseItem) -> Option<TurnItem> {
    let id = item.id().unwrap_or_default().to_owned();
    match item.kind() {
        ItemKind::Message(message) if message.role == "assistant" => {
            Some(TurnItem::AgentMessage { id, text: Message::text(message) })
        }
        ItemKind::Reasoning(reasoning) => {
            let text = reasoning_text(reasoning);
            (!text.is_empty()).then_some(TurnItem::Reasoning { id, text })
        }
        ItemKind::WebSearchCall(search) => Some(web_search(id, search)),
        ItemKind::ImageGenerationCall(image) => Some(TurnItem::ImageGeneration {
            id,
            status: image.status.clone(),
            revised_prompt: image.revised_prompt.clone(),
            result: image.result.clone(),
        }),
        ItemKind::Message(_)
        | ItemKind::AgentMessage(_)
        | ItemKind::AdditionalTools(_)
        | ItemKind::LocalShellCall(_)
        | ItemKind::FunctionCall(_)
        | ItemKind::ToolSearchCall(_)
        | ItemKind::CustomToolCall(_)
        | ItemKind::FunctionCallOutput(_)
        | ItemKind::CustomToolCallOutput(_)
        | ItemKind::ToolSearchOutput(_)
        | ItemKind::Compaction(_)
        | ItemKind::ContextCompaction(_)
        | ItemKind::CompactionTrigger(_)
        | ItemKind::ConfigurationUpdate(_)
        | ItemKind::GhostSnapshot(_)
        | ItemKind::Unknown(_) => None,
    }
}

fn web_search(id: String, search: &WebSearchCall) -> TurnItem {
    let query = match &search.action {
        Some(WebSearchAction::Search { query, queries }) => {
            query.clone().or_else(|| queries.as_ref().map(|queries| queries.join(", ")))
        }
        Some(WebSearchAction::OpenPage { url }) => url.clone(),
        Some(WebSearchAction::FindInPage { pattern, .. }) => pattern.clone(),
        Some(WebSearchAction::Other(_)) | None => None,
    };
    let action = serde_json::to_value(&search.action).unwrap_or_default();
    TurnItem::WebSearch { id, query: query.unwrap_or_default(), action }
}

/// The summary where there is one, else the text.
fn reasoning_text(reasoning: &Reasoning) -> String {
    let summary = reasoning.summary.iter().map(|ReasoningSummary::SummaryText { text }| text.as_str());
    let text = summary.collect::<Vec<_>>().join("\n\n");
    if !text.is_empty() {
        return text;
    }
    let content = reasoning.content.iter().flatten().map(|entry| match entry {
        ReasoningContent::ReasoningText { text } | ReasoningContent::Text { text } => text.as_str(),
    });
    content.collect::<Vec<_>>().join("\n")
}
