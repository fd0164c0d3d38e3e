//! Keys are told to the provider and to nobody else, whatever it answers.

use std::io;
use std::sync::Mutex;

use pretty_assertions::assert_eq;
use tracing_subscriber::fmt::MakeWriter;

use super::*;

const HEADER: &str = "header-secret-0123456789";
const PARAMETER: &str = "parameter-secret-0123456789";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

fn secretive(base_url: &str) -> ProviderConfig {
    let mut config = ProviderConfig::new(base_url);
    config.api_key = Some(Secret::new(KEY));
    config.headers.insert("x-api-key".into(), HEADER.into());
    config.query_params.insert("key".into(), PARAMETER.into());
    config.request_max_retries = 1;
    config.idle_timeout = Duration::from_millis(200);
    config
}

/// Answers that repeat every secret in every place a message is made from.
fn echoing() -> Vec<Answer> {
    let said = format!("wrong: {KEY} {HEADER} {PARAMETER}");
    let error = json!({"error": {"code": "x", "message": said}});
    let failed = json!({"type": "response.failed", "response": {"error": {"code": "x", "message": said}}});
    let incomplete =
        json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": said}}});
    let retry = |status| Answer::status(status, error.to_string()).with_header("retry-after", "0");
    vec![
        Answer::status(400, error.to_string()),
        Answer::status(401, &said),
        Answer::status(403, error.to_string()),
        Answer::status(302, "").with_header("location", &format!("http://h/?key={PARAMETER}")),
        retry(429),
        retry(429),
        retry(500),
        retry(500),
        Answer::stream([Step::event(&failed)]),
        Answer::stream([Step::event(&incomplete)]),
        Answer::stream([Step::Bytes(format!("data: {said}\n\n").into_bytes())]),
        Answer::stream([Step::Stall]),
        Answer::status(200, &said).with_header("content-type", "text/html"),
        Answer::HangUp,
        Answer::Silence,
    ]
}

#[tokio::test]
async fn no_answer_makes_a_secret_known() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(log.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);

    let server = server(echoing()).await;
    let client = ResponsesClient::new(&secretive(&server.base_url())).unwrap();
    let mut told = format!("{client:?}");
    let mut errors = 0;
    while server.counts().requests < echoing().len() {
        let error = match client.stream(prompt(), CancellationToken::new()).await {
            Ok(mut stream) => all(&mut stream).await.1.unwrap(),
            Err(error) => error,
        };
        errors += 1;
        told.push_str(&format!("\n{error}\n{error:?}"));
    }
    assert_eq!(errors, 12, "{told}");
    told.push_str(&String::from_utf8(log.0.lock().unwrap().clone()).unwrap());
    for secret in [KEY, HEADER, PARAMETER] {
        assert!(!told.contains(secret), "{secret} in {told}");
    }
    for expected in [
        "wrong: [redacted] [redacted] [redacted]",
        "sending the request again",
        "skipped a broken event",
        "the answer is no stream of events",
    ] {
        assert!(told.contains(expected), "{expected} not in {told}");
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_makes_no_secret_known() {
    // Port 1 of this machine: nobody listens there.
    let error = refused(&secretive("http://127.0.0.1:1/v1")).await;
    let told = format!("{error} {error:?}");
    assert!(told.contains("could not reach http://127.0.0.1:1/v1/responses: "), "{told}");
    for secret in [KEY, HEADER, PARAMETER] {
        assert!(!told.contains(secret), "{told}");
    }
}
