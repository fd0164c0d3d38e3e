//! Hears a server for the protocol library.
#![expect(deprecated, reason = "the older era's requests are answered as long as servers make them")]

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability,
    Implementation, ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam,
    ProtocolVersion, RootsCapabilities, SamplingCapability, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use serde_json::Value;

use super::{Questions, Traffic};

/// The name that servers are told.
const CLIENT_NAME: &str = "tenon";

/// One connection's ears.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) questions: Arc<Questions>,
    pub(crate) traffic: Arc<Traffic>,
}

impl Handler {
    /// Fires when a question of the server's means nothing any more: it was taken back, or all calls have ended that it
    /// can belong to.
    async fn withdrawn(&self, context: &RequestContext<RoleClient>) {
        tokio::select! {
            () = context.ct.cancelled() => {}
            () = self.traffic.all_ended() => {}
        }
    }

    /// What this side can do: no more than the host really does.
    fn capabilities(&self) -> ClientCapabilities {
        let host = &self.questions.host;
        let mut capabilities = ClientCapabilities::default();
        if host.answers_forms() || host.opens_urls() {
            let mut elicitation = ElicitationCapability::new();
            elicitation.form = host.answers_forms().then(FormElicitationCapability::default);
            elicitation.url = host.opens_urls().then(UrlElicitationCapability::default);
            capabilities.elicitation = Some(elicitation);
        }
        capabilities.sampling = host.lends_model().then(SamplingCapability::default);
        // A server that hears of roots may take them for all it may touch: only those that were configured are told.
        capabilities.roots = (!self.questions.roots.is_empty()).then(RootsCapabilities::default);
        capabilities
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(self.capabilities(), Implementation::new(CLIENT_NAME, env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = serde_json::to_value(request).map_err(|error| unreadable(&error))?;
        let answer = self.questions.elicit(params, self.withdrawn(&context)).await;
        let action = answer.get("action").cloned().unwrap_or_default();
        let action = serde_json::from_value(action).unwrap_or(ElicitationAction::Decline);
        let mut result = ElicitResult::new(action);
        result.content = answer.get("content").cloned();
        Ok(result)
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        if !self.questions.host.lends_model() {
            let text = "sampling/createMessage is not answered here";
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None));
        }
        let params = serde_json::to_value(params).map_err(|error| unreadable(&error))?;
        let answer: Result<Value, String> = tokio::select! {
            biased;
            () = self.withdrawn(&context) => Err("cancelled".to_owned()),
            answer = self.questions.sample(params) => answer,
        };
        let answer = answer.map_err(|text| ErrorData::new(ErrorCode::INTERNAL_ERROR, text, None))?;
        serde_json::from_value(answer).map_err(|error| unreadable(&error))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        serde_json::from_value(self.questions.roots()).map_err(|error| unreadable(&error))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.traffic.progressed(&params.progress_token);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.traffic.tools_changed();
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let server = &self.questions.server;
        tracing::debug!(server, level = ?params.level, data = %params.data, "MCP server log");
    }
}

fn unreadable(error: &serde_json::Error) -> ErrorData {
    ErrorData::new(ErrorCode::INTERNAL_ERROR, error.to_string(), None)
}
