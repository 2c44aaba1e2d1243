//! Bodies are read strictly, within bounds of size and time.

use std::time::{Duration, Instant};

use handoff_http::HttpOptions;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::world::{World, question};

async fn refused(world: &World, body: impl Into<Vec<u8>>) -> String {
    let reply = world.post("/v1/requests", body).token(&world.home.machine).expect(400).await;
    assert_eq!(reply.code(), "invalid_request");
    reply.str("error.message")
}

#[tokio::test]
async fn what_is_not_strict_json_is_refused_and_never_quoted() {
    let world = World::new().await;
    let cases: [(&[u8], &str); 8] = [
        (b"", "unexpected end"),
        (b"{\"s3cret\":1,", "unexpected end"),
        (b"{\"s3cret\":1,\"s3cret\":2}", "duplicate member name"),
        (b"{\"a\":{\"s3cret\":1,\"s3\\u0063ret\":2}}", "duplicate member name"),
        (b"{\"a\":\"s3cret\\ud800\"}", "lone surrogate"),
        (b"{\"a\":\"s3cret\xff\"}", "UTF-8"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"{} s3cret", "unexpected text"),
    ];
    for (body, words) in cases {
        let message = refused(&world, body).await;
        assert!(message.contains(words), "{message}");
        assert!(!message.contains("s3cret"), "{message}");
    }
    let deep = [b"[".repeat(1000), b"]".repeat(1000)].concat();
    assert!(refused(&world, deep).await.contains("nesting"));
    for no_object in ["[]", "null", "\"{}\"", "7"] {
        refused(&world, no_object).await;
    }
    let listed = world.get("/v1/requests").token(&world.home.machine).expect(200).await;
    assert_eq!(listed.text(), r#"{"data":[],"has_more":false,"next_cursor":null}"#);
}

#[tokio::test]
async fn a_body_of_one_mebibyte_is_read_and_one_byte_more_is_not() {
    let world = World::new().await;
    let body = question("run:1", "Ship it?");
    let padded = |size: usize| format!("{body}{}", " ".repeat(size - body.len()));
    world.post("/v1/requests", padded(1 << 20)).token(&world.home.machine).expect(201).await;
    for size in [(1 << 20) + 1, 3 << 20] {
        assert!(refused(&world, padded(size)).await.contains("1048576 bytes"));
    }
}

#[tokio::test]
async fn a_body_that_does_not_say_how_long_it_is_meets_the_same_limit() {
    let world = World::with(HttpOptions::default().body_limit(4096)).await;
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    let head = format!(
        "POST /v1/requests HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ntransfer-encoding: chunked\r\n\r\n",
        world.home.machine
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..5 {
        stream.write_all(format!("400\r\n{}\r\n", " ".repeat(1024)).as_bytes()).await.unwrap();
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    let mut buffer = vec![0; 4096];
    let count = stream.read(&mut buffer).await.unwrap();
    let text = str::from_utf8(&buffer[..count]).unwrap();
    assert!(text.starts_with("HTTP/1.1 400"), "{text}");
    assert!(text.contains("4096 bytes"), "{text}");
}

#[tokio::test]
async fn a_body_that_never_arrives_is_given_up() {
    let world = World::with(HttpOptions::default().body_timeout(Duration::from_millis(50))).await;
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    let head = format!(
        "POST /v1/requests HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: 10\r\n\r\n{{",
        world.home.machine
    );
    let started = Instant::now();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 400"), "{text}");
    assert!(text.contains(r#""code":"invalid_request""#), "{text}");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn an_optional_body_may_be_left_out_but_not_be_wrong() {
    let world = World::new().await;
    world.raise("run:1").await;
    let reattach = |body: &'static str| world.post("/v1/waiters/run:1/reattach", body).token(&world.home.machine);
    assert_eq!(reattach("").expect(200).await.body, reattach("{}").expect(200).await.body);
    for wrong in ["[]", "{", "nothing"] {
        assert_eq!(reattach(wrong).expect(400).await.code(), "invalid_request");
    }
}
