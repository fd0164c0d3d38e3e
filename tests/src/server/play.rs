//! Plays one answer onto a connection.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

use super::http::RecordedRequest;
use super::marks;
use super::script::{Answer, Framing, Step, completed, sse};

/// What becomes of the connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// The next request may come.
    Keep,
    /// It is closed.
    Close,
    /// The peer has closed it while the server had more to come.
    HungUp,
}

/// The connection's two halves.
pub(super) struct Connection<R, W> {
    pub(super) reader: BufReader<R>,
    pub(super) writer: W,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Connection<R, W> {
    /// Answers the `index`-th request.
    pub(super) async fn play(
        &mut self,
        index: usize,
        request: &RecordedRequest,
        answer: Answer,
    ) -> io::Result<After> {
        match answer {
            Answer::Turn(items) => self.turn(index, request, &items).await,
            Answer::Stream(framing, steps) => self.stream(framing, steps).await,
            Answer::Status { status, headers, body } => self.whole(status, &headers, &body).await,
            Answer::HalfBody { status, body } => {
                let announced = body.len() + 1;
                self.write(&format!(
                    "HTTP/1.1 {status} Scripted\r\ncontent-length: {announced}\r\n\r\n{body}"
                ))
                .await?;
                self.until_hang_up().await
            }
            Answer::Silence => self.until_hang_up().await,
            Answer::HangUp => Ok(After::Close),
        }
    }

    async fn turn(&mut self, index: usize, request: &RecordedRequest, items: &[Value]) -> io::Result<After> {
        self.head(Framing::Close).await?;
        let id = format!("r{index}");
        self.write(&sse(&json!({"type": "response.created", "response": {"id": id}}))).await?;
        for (n, item) in marks::replace(items, &request.input())?.into_iter().enumerate() {
            self.write(&sse(&json!({"type": "response.output_item.done", "output_index": n, "item": item})))
                .await?;
        }
        self.write(&sse(&completed(&id))).await?;
        Ok(After::Close)
    }

    async fn stream(&mut self, framing: Framing, steps: Vec<Step>) -> io::Result<After> {
        self.head(framing).await?;
        for step in steps {
            match step {
                Step::Bytes(bytes) => self.chunk(framing, &bytes).await?,
                Step::Wait(gate) => gate.opened().await,
                Step::Stall => return self.until_hang_up().await,
                Step::Cut => return Ok(After::Close),
            }
        }
        match framing {
            Framing::Close => Ok(After::Close),
            Framing::Chunked => self.write("0\r\n\r\n").await.map(|()| After::Keep),
        }
    }

    async fn whole(&mut self, status: u16, headers: &[(String, String)], body: &str) -> io::Result<After> {
        let mut text = format!("HTTP/1.1 {status} Scripted\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text.push_str(body);
        self.write(&text).await.map(|()| After::Keep)
    }

    async fn head(&mut self, framing: Framing) -> io::Result<()> {
        let how = match framing {
            Framing::Close => "connection: close",
            Framing::Chunked => "transfer-encoding: chunked",
        };
        self.write(&format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{how}\r\n\r\n")).await
    }

    async fn chunk(&mut self, framing: Framing, bytes: &[u8]) -> io::Result<()> {
        if framing == Framing::Close {
            self.writer.write_all(bytes).await?;
        } else if !bytes.is_empty() {
            self.writer.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).await?;
            self.writer.write_all(bytes).await?;
            self.writer.write_all(b"\r\n").await?;
        }
        self.writer.flush().await
    }

    async fn write(&mut self, text: &str) -> io::Result<()> {
        self.writer.write_all(text.as_bytes()).await?;
        self.writer.flush().await
    }

    async fn until_hang_up(&mut self) -> io::Result<After> {
        let mut rest = [0; 1024];
        // A reset is a hang-up too.
        while self.reader.read(&mut rest).await.is_ok_and(|read| read > 0) {}
        Ok(After::HungUp)
    }
}
