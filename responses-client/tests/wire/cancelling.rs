//! Every wait can be cancelled, and what it waited for is given up.

use std::time::Instant;

use pretty_assertions::assert_eq;
use tenon_tools::ModelErrorKind;

use super::server::Counts;
use super::*;

/// Far less than any wait in these tests would take by itself.
const SOON: Duration = Duration::from_secs(10);

fn patient(server: &ScriptedServer) -> ProviderConfig {
    let mut config = config(server);
    config.request_max_retries = 5;
    config.idle_timeout = Duration::from_secs(300);
    config
}

/// Cancels once `when` holds at the server; the request must end by that and by nothing else.
async fn cancelled_when(server: &ScriptedServer, when: impl FnMut(&Counts) -> bool) {
    let client = ResponsesClient::new(&patient(server)).unwrap();
    let cancellation = CancellationToken::new();
    let begin = Instant::now();
    let (result, ()) = tokio::join!(client.stream(prompt(), cancellation.clone()), async {
        server.until(when).await;
        cancellation.cancel();
    });
    assert_eq!(result.map(drop).unwrap_err(), ModelError::fatal(ModelErrorKind::Cancelled, "cancelled"));
    assert!(begin.elapsed() < SOON);
}

#[tokio::test]
async fn before_anything_is_sent() {
    let server = server([completed()]).await;
    cancelled_when(&server, |_| true).await;
    let client = ResponsesClient::new(&patient(&server)).unwrap();
    let cancellation = CancellationToken::new();
    cancellation.cancel();
    assert_eq!(
        client.stream(prompt(), cancellation).await.map(drop).unwrap_err().kind,
        ModelErrorKind::Cancelled
    );
    assert_eq!(server.counts().requests, 0);
}

#[tokio::test]
async fn while_waiting_for_the_head() {
    let server = server([Answer::Silence]).await;
    cancelled_when(&server, |counts| counts.requests == 1).await;
    server.until(|counts| counts.hang_ups == 1).await;
}

#[tokio::test]
async fn while_reading_an_error() {
    let server = server([Answer::HalfBody { status: 500, body: "half".into() }]).await;
    cancelled_when(&server, |counts| counts.requests == 1).await;
    server.until(|counts| counts.hang_ups == 1).await;
}

#[tokio::test]
async fn while_waiting_for_the_next_attempt() {
    let server = server([Answer::status(500, "").with_header("retry-after", "500"), completed()]).await;
    cancelled_when(&server, |counts| counts.requests == 1).await;
    assert_eq!(server.counts().requests, 1);
}

#[tokio::test]
async fn while_a_stream_stalls() {
    let server = server([Answer::stream([Step::Stall])]).await;
    let client = ResponsesClient::new(&patient(&server)).unwrap();
    let cancellation = CancellationToken::new();
    let mut stream = client.stream(prompt(), cancellation.clone()).await.unwrap();
    let begin = Instant::now();
    let (all, ()) = tokio::join!(all(&mut stream), async {
        tokio::task::yield_now().await;
        cancellation.cancel();
    });
    assert_eq!(all, (vec![], Some(ModelError::fatal(ModelErrorKind::Cancelled, "cancelled"))));
    assert!(begin.elapsed() < SOON);
    server.until(|counts| counts.hang_ups == 1).await;
}
