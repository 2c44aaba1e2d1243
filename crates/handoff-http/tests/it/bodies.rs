//! Bodies are read strictly, within bounds of size and time.

use std::time::{Duration, Instant};

use handoff_http::HttpOptions;
use handoff_protocol::json::read;
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
async fn a_body_of_four_mebibytes_is_read_and_one_byte_more_is_not() {
    let world = World::new().await;
    let body = question("run:1", "Ship it?");
    let padded = |size: usize| format!("{body}{}", " ".repeat(size - body.len()));
    world.post("/v1/requests", padded(4 << 20)).token(&world.home.machine).expect(201).await;
    for size in [(4 << 20) + 1, 6 << 20] {
        assert!(refused(&world, padded(size)).await.contains("4194304 bytes"));
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

#[tokio::test]
async fn a_name_given_twice_is_refused_at_any_depth_however_it_is_spelled_and_nothing_is_stored() {
    let world = World::new().await;
    let request = world.raise("run:1").await;
    let id = request.str("id");
    let twice = |name: &str| format!(r#"{{"{name}":1,"deeper":[{{"x":{{"{name}":1,"{}":2}}}}]}}"#, respelled(name));
    let raise = |inner: &str| question("run:2", "?").replace(r#""ttl":"#, &format!(r#""metadata":{inner},"ttl":"#));
    let machine = world.home.machine.as_str();
    let editor = world.home.editor.as_str();
    let bodies = |inner: &str| {
        [
            ("/v1/requests".to_owned(), raise(inner), machine),
            (
                format!("/v1/requests/{id}/answer"),
                format!(r#"{{"values":{{"decision":"approve"}},"x":{inner}}}"#),
                editor,
            ),
            (format!("/v1/requests/{id}/amend"), format!(r#"{{"prompt":{{"title":"?","context":{inner}}}}}"#), machine),
            (format!("/v1/requests/{id}/cancel"), format!(r#"{{"reason":"x","x":{inner}}}"#), machine),
            (format!("/v1/requests/{id}/supersede"), format!(r#"{{"by":"x","x":{inner}}}"#), machine),
            (format!("/v1/requests/{id}/attempt"), format!(r#"{{"x":{inner}}}"#), machine),
            (format!("/v1/requests/{id}/escalate"), format!(r#"{{"x":{inner}}}"#), machine),
            (format!("/v1/requests/{id}/reassign"), format!(r#"{{"to":{inner}}}"#), machine),
            ("/v1/deliveries/dlv_x/grade".to_owned(), format!(r#"{{"grade":"seen","x":{inner}}}"#), machine),
            ("/v1/waiters/run:1/reattach".to_owned(), inner.to_owned(), machine),
            (
                "/v1/receipts/rcpt_x/corrections".to_owned(),
                format!(r#"{{"values":{{"x":{inner}}},"note":"x"}}"#),
                editor,
            ),
            ("/v1/sinks/vault/values".to_owned(), format!(r#"{{"values":{inner}}}"#), editor),
            ("/v1/grants/hg_x/sessions".to_owned(), format!(r#"{{"scopes":["view"],"x":{inner}}}"#), editor),
            ("/v1/signals/sig_x/ack".to_owned(), format!(r#"{{"applied":true,"x":{inner}}}"#), machine),
            ("/v1/authorizations/auth_x/redeem".to_owned(), format!(r#"{{"effect_key":"x","x":{inner}}}"#), machine),
        ]
    };
    let before = world.store.transactions();
    for name in ["a", "s3cret", "é"] {
        for (path, body, token) in bodies(&twice(name)) {
            let reply = world.post(&path, body).token(token).key("k").expect(400).await;
            assert_eq!(reply.code(), "invalid_request", "{path}");
            assert!(reply.str("error.message").contains("duplicate member name"), "{path}: {}", reply.text());
            assert!(!reply.text().contains("s3cret"), "{}", reply.text());
        }
    }
    assert_eq!(world.store.transactions(), before);
    let listed = world.get("/v1/requests").token(machine).expect(200).await;
    assert_eq!(listed.at("data").to_text(), format!("[{}]", request.text()));
}

/// The same name with its first letter as an escape.
fn respelled(name: &str) -> String {
    let mut letters = name.chars();
    let first = u32::from(letters.next().unwrap());
    format!("\\u{first:04x}{}", letters.as_str())
}

#[tokio::test]
async fn a_raise_at_every_limit_of_its_fields_fits() {
    let world = World::new().await;
    let label = "l".repeat(200);
    let options: Vec<String> = (0..100).map(|place| format!(r#"{{"id":"{place:0128}","label":"{label}"}}"#)).collect();
    let fields: Vec<String> = (0..64)
        .map(|place| {
            let help = "h".repeat(500);
            let (name, options) = (format!("f{}{place:02}", "x".repeat(61)), options.join(","));
            format!(r#"{{"name":"{name}","type":"choice","label":"{label}","help":"{help}","options":[{options}]}}"#)
        })
        .collect();
    let body = format!(
        r#"{{"waiter_ref":"run:1","prompt":{{"title":"?"}},"requires":{{"v":1,"answer":{{"fields":[{}]}}}}}}"#,
        fields.join(",")
    );
    world.post("/v1/requests", body).token(&world.home.machine).expect(201).await;
}

#[tokio::test]
async fn more_values_than_a_body_may_hold_are_refused_early() {
    let world = World::new().await;
    let values = |count: usize| {
        question("run:1", "?").replace(r#""ttl":"#, &format!(r#""metadata":{{"x":[{}1]}},"ttl":"#, "1,".repeat(count)))
    };
    world.post("/v1/requests", values(150_000)).token(&world.home.machine).expect(201).await;
    assert!(refused(&world, values(200_000)).await.contains("more than 200000 values"));
}

#[tokio::test]
async fn what_is_as_deep_as_a_body_may_be_is_served_from_everywhere_and_one_level_more_is_refused() {
    let world = World::new().await;
    let (machine, editor) = (&world.home.machine, &world.home.editor);
    let body = r#"{"waiter_ref":"run:1","prompt":{"title":"?"},"metadata":{"x":DEEP},"requires":{"v":1,"answer":{"fields":[{"name":"doc","type":"document"}]}}}"#;
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let raise = |depth: usize| world.post("/v1/requests", body.replace("DEEP", &nested(depth))).token(machine);
    let answer = |depth: usize| format!(r#"{{"values":{{"doc":{}}}}}"#, nested(depth));
    assert!(raise(119).expect(400).await.str("error.message").contains("120 levels"));
    let request = raise(118).expect(201).await.str("id");
    let path = format!("/v1/requests/{request}/answer");
    assert!(world.post(&path, answer(119)).token(editor).expect(400).await.str("error.message").contains("120 levels"));
    let receipt = world.post(&path, answer(118)).token(editor).key("k").expect(200).await.str("receipt.id");
    let correction = format!("/v1/receipts/{receipt}/corrections");
    let corrected = |depth: usize| format!(r#"{{"note":"x",{}"#, answer(depth).strip_prefix('{').unwrap());
    world.post(&correction, corrected(119)).token(editor).expect(400).await;
    world.post(&correction, corrected(118)).token(editor).expect(200).await;
    world.post(&path, answer(118)).token(editor).key("k").expect(200).await;
    for path in [
        format!("/v1/requests/{request}"),
        format!("/v1/requests/{request}/receipt"),
        "/v1/requests".to_owned(),
        "/v1/receipts".to_owned(),
        "/v1/waiters/run:1/signals".to_owned(),
        "/v1/export".to_owned(),
    ] {
        let served = world.get(&path).token(machine).expect(200).await;
        read(&served.body).unwrap_or_else(|error| panic!("{path} is too deep for a reader: {error}"));
    }
    world.post("/v1/waiters/run:1/reattach", "").token(machine).expect(200).await;
}
