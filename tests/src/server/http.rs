//! The little of HTTP/1.1 that the scripted server needs: one request read from a connection.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

/// The longest request head that is read, in bytes.
pub const HEAD_LIMIT: u64 = 64 * 1024;
/// The longest request body that is read, in bytes.
pub const BODY_LIMIT: usize = 64 * 1024 * 1024;

/// One request as it came over the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRequest {
    /// `GET`, `POST`, ...
    pub method: String,
    /// The path with its query, as written in the request line.
    pub target: String,
    /// Names in lower case, values as they came, in their order.
    pub headers: Vec<(String, String)>,
    /// The body's bytes.
    pub body: Vec<u8>,
}

impl RecordedRequest {
    /// The first header of this name (lower case), if there is one.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The path without its query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The body's `input`, the history that the client sent; empty when there is none.
    pub fn input(&self) -> Vec<Value> {
        match self.json().get_mut("input").map(Value::take) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        }
    }
}

/// Reads one request; `None` when the peer has closed the connection before one began.
///
/// # Errors
/// When the connection breaks within a request, or what comes is no HTTP/1.1 request within the limits.
pub async fn read_request<R: AsyncRead + Unpin>(
    connection: &mut BufReader<R>,
) -> io::Result<Option<RecordedRequest>> {
    let mut head = Vec::new();
    let mut limited = (&mut *connection).take(HEAD_LIMIT);
    while !head.ends_with(b"\r\n\r\n") {
        if limited.read_until(b'\n', &mut head).await? == 0 {
            return if head.is_empty() {
                Ok(None)
            } else {
                Err(bad("the request's head is cut or too long"))
            };
        }
    }
    let mut request = parse_head(&head)?;
    let length: usize = match request.header("content-length") {
        Some(text) => text.parse().map_err(|_| bad("content-length is no number"))?,
        None => 0,
    };
    if length > BODY_LIMIT {
        return Err(bad("the request's body is too long"));
    }
    request.body.resize(length, 0);
    connection.read_exact(&mut request.body).await?;
    Ok(Some(request))
}

fn parse_head(head: &[u8]) -> io::Result<RecordedRequest> {
    let text = std::str::from_utf8(head).map_err(|_| bad("the request's head is not UTF-8"))?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some("HTTP/1.1")) = (words.next(), words.next(), words.next()) else {
        return Err(bad("the request line is not METHOD TARGET HTTP/1.1"));
    };
    let mut headers = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or_else(|| bad("a header has no colon"))?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok(RecordedRequest { method: method.to_owned(), target: target.to_owned(), headers, body: Vec::new() })
}

fn bad(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
