//! `tenon mcp login`: the user consents in a browser, which comes back to this machine.

use std::time::Duration;

use tenon_mcp_client::{HttpConfig, Login, LoginRequest, TransportConfig};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::commands::Surroundings;
use crate::config::{Config, McpServer};
use crate::failure::Failure;
use crate::home::Home;

/// Where the browser comes back to.
const CALLBACK: &str = "/callback";
/// How long the first line of a browser's request may be, in bytes.
const MAX_LINE_BYTES: u64 = 16 * 1024;
/// How long a browser may take to say what it wants.
const SAY_WITHIN: Duration = Duration::from_secs(10);
const PAGE: &str =
    "<!doctype html><title>tenon</title><p>You may close this page and go back to the terminal.";

/// Logs in and keeps the tokens.
pub(super) async fn run(
    config: &Config,
    home: &Home,
    server: &str,
    surroundings: &mut Surroundings,
) -> Result<u8, Failure> {
    let http = http_of(config, server, surroundings)?;
    let cannot_listen = |error| Failure::failed(format!("cannot wait for the browser: {error}"));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(cannot_listen)?;
    let port = listener.local_addr().map_err(cannot_listen)?.port();
    let origin = format!("http://127.0.0.1:{port}");
    let request = LoginRequest { redirect_uri: format!("{origin}{CALLBACK}"), ..LoginRequest::default() };
    let cancellation = surroundings.cancellation.clone();
    let work = async {
        let login = Login::begin(server, &http, &home.path, request).await.map_err(Failure::failed)?;
        surroundings.print(&format!("Open this address to log in:\n{}\n", login.url()))?;
        let target = come_back(&listener).await.map_err(cannot_listen)?;
        login.finish(&format!("{origin}{target}")).await.map_err(Failure::failed)?;
        surroundings.print(&format!("logged in at {server}\n"))
    };
    tokio::select! {
        biased;
        () = cancellation.cancelled() => Err(Failure::interrupted()),
        done = work => done,
    }
}

fn http_of(config: &Config, server: &str, surroundings: &Surroundings) -> Result<HttpConfig, Failure> {
    let settled = config.mcp_servers.get(server).map(|file| file.settle(server, &surroundings.environment));
    match settled {
        Some(McpServer::Usable(config)) => match config.transport {
            TransportConfig::Http(http) if http.bearer.is_none() => Ok(http),
            TransportConfig::Http(_) => Err(Failure::usage(format!(
                "mcp_servers.{server} names a token in bearer_token_env_var: it needs no login"
            ))),
            TransportConfig::Stdio(_) => {
                Err(Failure::usage(format!("mcp_servers.{server} is a program: it needs no login")))
            }
        },
        Some(McpServer::Broken { why, .. }) => Err(Failure::usage(format!("mcp_servers.{server}: {why}"))),
        None => Err(Failure::usage(format!("there is no MCP server `{server}`"))),
    }
}

/// Waits for the browser; path and query of what it asks for. Other requests, for an icon say, are answered and
/// forgotten.
async fn come_back(listener: &TcpListener) -> std::io::Result<String> {
    loop {
        let (stream, _) = listener.accept().await?;
        let target = tokio::time::timeout(SAY_WITHIN, target_of(stream)).await;
        if let Ok(Ok(Some(target))) = target {
            return Ok(target);
        }
    }
}

async fn target_of(mut stream: TcpStream) -> std::io::Result<Option<String>> {
    let mut line = String::new();
    BufReader::new((&mut stream).take(MAX_LINE_BYTES)).read_line(&mut line).await?;
    let target = line.split(' ').nth(1).unwrap_or_default();
    let found = target.split('?').next() == Some(CALLBACK);
    let (status, page) = if found { ("200 OK", PAGE) } else { ("404 Not Found", "") };
    let length = page.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(format!("{head}{page}").as_bytes()).await?;
    stream.shutdown().await?;
    Ok(found.then(|| target.to_owned()))
}
