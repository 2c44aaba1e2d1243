//! What the client does when connections fail, and when something else answers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use handoff_client::{Client, ClientError};
use handoff_protocol::json::Json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Mutex,
};

/// What a connection gets: the text, or a hang-up where it is empty.
type Script = &'static [&'static str];

/// A server that follows a script, a line a connection, and keeps what it was sent.
struct Scripted {
    client: Client,
    calls: Arc<AtomicUsize>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = Client::builder(&format!("http://{}", listener.local_addr().unwrap()))
            .api_key("secret-key".to_owned())
            .backoff(Duration::from_millis(2))
            .timeout(Duration::from_millis(500))
            .build()
            .unwrap();
        let (calls, heads) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        tokio::spawn({
            let (calls, heads) = (Arc::clone(&calls), Arc::clone(&heads));
            async move {
                loop {
                    let (mut stream, _) = listener.accept().await.unwrap();
                    let call = calls.fetch_add(1, Ordering::SeqCst);
                    heads.lock().await.push(read_head(&mut stream).await);
                    let answer = script.get(call).or(script.last()).unwrap();
                    if *answer == "silence" {
                        // Held open for as long as the test runs.
                        std::mem::forget(stream);
                        continue;
                    }
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            }
        });
        Self { client, calls, heads }
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer).await.unwrap() {
            0 => break,
            read => head.extend_from_slice(&buffer[..read]),
        }
    }
    String::from_utf8(head).unwrap().to_lowercase()
}

const META: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 70\r\n\r\n\
    {\"protocol_version\":\"0.1\",\"conformance_level\":1,\"max_wait_seconds\":30}";

fn header(head: &str, name: &str) -> Option<String> {
    head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")).map(str::to_owned))
}

#[tokio::test]
async fn a_lost_connection_is_tried_again() {
    let server = Scripted::start(&["", "", META]).await;
    assert_eq!(server.client.meta().await.unwrap().max_wait_seconds, 30);
    assert_eq!(server.calls(), 3);
}

#[tokio::test]
async fn every_try_carries_the_same_idempotency_key() {
    let server = Scripted::start(&[""]).await;
    let error = server.client.raise(&Json::object([("a", Json::from(1))]), None).await.unwrap_err();
    assert!(matches!(error, ClientError::Transport(_)), "{error}");
    let heads = server.heads.lock().await;
    let keys: Vec<_> = heads.iter().map(|head| header(head, "idempotency-key").unwrap()).collect();
    assert_eq!(keys.len(), 3);
    assert!(keys.iter().all(|key| *key == keys[0] && key.len() == 26), "{keys:?}");
    assert_eq!(header(&heads[0], "authorization").as_deref(), Some("bearer secret-key"));
    assert_eq!(header(&heads[0], "content-type").as_deref(), Some("application/json"));
    assert_eq!(header(&heads[0], "accept").as_deref(), Some("application/json"));
}

#[tokio::test]
async fn a_response_that_breaks_off_is_a_lost_connection() {
    let server = Scripted::start(&["HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"proto"]).await;
    assert!(matches!(server.client.meta().await.unwrap_err(), ClientError::Transport(_)));
    assert_eq!(server.calls(), 3);
}

#[tokio::test]
async fn silence_ends_with_the_timeout() {
    let server = Scripted::start(&["silence"]).await;
    let error = server.client.meta().await.unwrap_err().to_string();
    assert!(error.contains("did not answer in time"), "{error}");
    assert_eq!(server.calls(), 3);
}

#[tokio::test]
async fn any_status_is_final() {
    for (answer, expected) in [
        ("HTTP/1.1 503 X\r\ncontent-length: 0\r\n\r\n", "503"),
        ("HTTP/1.1 500 X\r\ncontent-length: 15\r\n\r\n<h1>Oh no!</h1>", "500"),
        ("HTTP/1.1 302 X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", "302"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n<h1>Welcome</h1", "200"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]", "200"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{\"a\":1,\"a\":1}", "200"),
    ] {
        let script: Script = Box::leak(Box::new([answer]));
        let server = Scripted::start(script).await;
        let error = server.client.meta().await.unwrap_err();
        assert!(matches!(error, ClientError::Malformed { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(server.calls(), 1, "{expected}");
    }
}

#[tokio::test]
async fn a_refusal_says_when_to_come_back() {
    let server = Scripted::start(&["HTTP/1.1 429 X\r\nretry-after: 7\r\ncontent-length: 55\r\n\r\n\
        {\"error\":{\"code\":\"rate_limited\",\"message\":\"slow down\"}}"])
    .await;
    let error = server.client.meta().await.unwrap_err();
    let refusal = error.refusal().expect("a refusal");
    assert_eq!((refusal.code.as_str(), refusal.retry_after), ("rate_limited", Some(Duration::from_secs(7))));
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn nobody_listening_is_a_transport_failure() {
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let client = Client::builder(&format!("http://{address}")).backoff(Duration::from_millis(1)).build().unwrap();
    let error = client.meta().await.unwrap_err();
    assert!(matches!(error, ClientError::Transport(_)), "{error}");
    assert!(!error.to_string().contains("error sending request"), "{error}");
}
