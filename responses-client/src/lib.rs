//! The Responses API over HTTP: request, server-sent events, retries.
