//! The library's requests for what is asked, and what its errors mean.

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ListResourceTemplatesRequest,
    ListResourcesRequest, ListToolsRequest, MetaObject, PaginatedRequestParams, ReadResourceRequest,
    ReadResourceRequestParams, RequestMetaObject, ServerResult,
};
use rmcp::service::ServiceError;
use serde_json::Value;

use super::Ask;
use crate::error::{RequestError, chain, transport_words};

/// How many addresses a server may have the user open for one request.
const MAX_ADDRESSES: usize = 8;

/// Answers to what a server asked back, and the state that it gets back as it came (the newer era).
#[derive(Debug, Clone, Default)]
pub(super) struct Continued {
    pub(super) responses: Option<std::collections::BTreeMap<String, Value>>,
    pub(super) state: Option<String>,
}

/// The request for what is asked.
pub(super) fn request(ask: &Ask, continued: Continued) -> ClientRequest {
    match ask {
        Ask::ListTools { cursor } => {
            ClientRequest::ListToolsRequest(page(cursor, ListToolsRequest::with_param))
        }
        Ask::ListResources { cursor } => {
            ClientRequest::ListResourcesRequest(page(cursor, ListResourcesRequest::with_param))
        }
        Ask::ListResourceTemplates { cursor } => ClientRequest::ListResourceTemplatesRequest(page(
            cursor,
            ListResourceTemplatesRequest::with_param,
        )),
        Ask::CallTool { name, arguments, meta } => {
            let mut params = CallToolRequestParams::new(name.clone()).with_arguments(arguments.clone());
            params.meta = (!meta.is_empty()).then(|| RequestMetaObject(MetaObject(meta.clone())));
            params.input_responses = continued.responses;
            params.request_state = continued.state;
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        }
        Ask::ReadResource { uri } => {
            let mut params = ReadResourceRequestParams::new(uri.clone());
            params.input_responses = continued.responses;
            params.request_state = continued.state;
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        }
    }
}

fn page<R>(cursor: &Option<String>, make: impl FnOnce(PaginatedRequestParams) -> R) -> R {
    make(PaginatedRequestParams::default().with_cursor(cursor.clone()))
}

/// An answer as it came, as far as the library has left it so.
pub(super) fn raw(result: ServerResult) -> Result<Value, RequestError> {
    match result {
        ServerResult::CustomResult(custom) => Ok(custom.0),
        other => serde_json::to_value(other).map_err(|error| RequestError::Transport(error.to_string())),
    }
}

/// The code of a request that is refused until the user has opened addresses.
const URL_ELICITATION_REQUIRED: i64 = -32042;

/// The questions, all of addresses, that a server refuses a request for. None where one of them is something else.
pub(super) fn addresses_to_open(error: &RequestError) -> &[Value] {
    let RequestError::Rpc { code: URL_ELICITATION_REQUIRED, data: Some(data), .. } = error else {
        return &[];
    };
    let questions = data.get("elicitations").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_address = |question: &Value| question.get("url").is_some_and(Value::is_string);
    if questions.len() <= MAX_ADDRESSES && questions.iter().all(is_address) { questions } else { &[] }
}

/// What a library's error means.
pub(super) fn request_error(error: ServiceError, server: &str, stdio: bool) -> RequestError {
    let challenge = error.auth_challenge().map(str::to_owned);
    if challenge.is_some() || error.is_authorization_required() {
        return RequestError::LoginRequired { server: server.to_owned(), challenge };
    }
    match error {
        ServiceError::McpError(error) => RequestError::Rpc {
            code: i64::from(error.code.0),
            message: error.message.into_owned(),
            data: error.data,
        },
        ServiceError::TransportClosed => RequestError::Closed,
        // A pipe that cannot be written to has nobody at its end.
        ServiceError::TransportSend(_) if stdio => RequestError::Closed,
        ServiceError::TransportSend(error) => RequestError::Transport(transport_words(error.error.as_ref())),
        ServiceError::UnexpectedResponse => RequestError::Unexpected,
        other => RequestError::Transport(chain(&other)),
    }
}
