//! What comes of a post.

use std::time::{Duration, Instant};

use handoff_channel_webhook::{Guard, WebhookTransport};
use handoff_engine::callback::CallbackTransport as _;
use handoff_protocol::decision::{PushResult, terms::PushOutcome};

use super::receiver::{Answer, Receiver, post, status};

fn transport() -> WebhookTransport {
    WebhookTransport::new(Guard::Open)
}

fn failed(outcome: PushOutcome, error: &'static str) -> PushResult {
    PushResult { outcome, status: None, error: Some(error) }
}

#[tokio::test]
async fn a_post_arrives_as_it_was_made() {
    let (receiver, address) = Receiver::start(status("204 No Content").clone()).await;
    let result = transport().post(&post(format!("http://{address}/cb/1?key=a%20b"))).await;
    assert_eq!(result, PushResult { outcome: PushOutcome::Accepted, status: Some(204), error: None });
    let call = receiver.calls().remove(0).to_lowercase();
    assert!(call.starts_with("post /cb/1?key=a%20b http/1.1\r\n"), "{call}");
    for line in [
        format!("host: {address}"),
        "content-type: application/json".to_owned(),
        "content-length: 7".to_owned(),
        "handoff-delivery: dlv_1".to_owned(),
    ] {
        assert!(call.lines().any(|there| there == line), "no {line} in {call}");
    }
    assert!(call.ends_with("\r\n\r\n{\"a\":1}"), "{call}");
}

#[tokio::test]
async fn an_address_without_a_path_is_posted_to_with_its_query() {
    let (receiver, address) = Receiver::start(status("200 OK")).await;
    for (url, line) in [
        (format!("http://{address}?tok=1"), "post /?tok=1 http/1.1"),
        (format!("http://{address}/?tok=1"), "post /?tok=1 http/1.1"),
        (format!("http://{address}"), "post / http/1.1"),
        (format!("HTTP://{address}/a?to=http://user@other/"), "post /a?to=http://user@other/ http/1.1"),
    ] {
        let result = transport().post(&post(url)).await;
        assert_eq!(result.status, Some(200), "{line}");
        let call = receiver.calls().pop().unwrap().to_lowercase();
        assert_eq!(call.lines().next(), Some(line));
        assert!(call.lines().any(|there| there == format!("host: {address}")), "{call}");
    }
}

#[tokio::test]
async fn each_status_comes_to_what_the_rule_says() {
    use PushOutcome::{Accepted, PermanentFailure, TransientFailure};
    for (line, outcome) in [
        ("200 OK", Accepted),
        ("202 Accepted", Accepted),
        ("299 Fine", Accepted),
        ("400 Bad Request", PermanentFailure),
        ("404 Not Found", PermanentFailure),
        ("410 Gone", PermanentFailure),
        ("429 Too Many Requests", TransientFailure),
        ("500 Internal Server Error", TransientFailure),
        ("503 Service Unavailable", TransientFailure),
    ] {
        let (_, address) = Receiver::start(status(line)).await;
        let result = transport().post(&post(format!("http://{address}/"))).await;
        assert_eq!((result.outcome, result.status), (outcome, Some(line[..3].parse().unwrap())), "{line}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (elsewhere, address) = Receiver::start(status("200 OK")).await;
    for code in ["301", "302", "303", "307", "308"] {
        let to = format!("HTTP/1.1 {code} Moved\r\nlocation: http://{address}/\r\ncontent-length: 0\r\n\r\n");
        let (_, moved) = Receiver::start(Answer::Say(to)).await;
        let result = transport().post(&post(format!("http://{moved}/"))).await;
        assert_eq!((result.outcome, result.status), (PushOutcome::PermanentFailure, Some(code.parse().unwrap())));
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn a_receiver_that_does_not_answer_is_given_up_in_time() {
    let (_, address) = Receiver::start(Answer::Hang).await;
    let impatient = transport().attempt(Duration::from_millis(50));
    assert_eq!(impatient.post(&post(format!("http://{address}/"))).await, failed(PushOutcome::Timeout, "timeout"));
}

#[tokio::test]
async fn what_the_receiver_says_is_thrown_away_and_does_not_hold_up_the_rest() {
    let endless = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n".to_owned();
    let (_, address) = Receiver::start(Answer::Say(endless)).await;
    let began = Instant::now();
    let result = transport().post(&post(format!("http://{address}/"))).await;
    assert_eq!((result.outcome, result.status), (PushOutcome::Accepted, Some(200)));
    assert!(began.elapsed() < Duration::from_secs(5));
    let huge = format!("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n{}", "x".repeat(1_000_000));
    let (_, address) = Receiver::start(Answer::SayAndClose(huge)).await;
    assert_eq!(transport().post(&post(format!("http://{address}/"))).await.outcome, PushOutcome::Accepted);
}

#[tokio::test]
async fn what_breaks_has_a_word_that_tells_no_address() {
    let (_, address) = Receiver::start(Answer::HangUp).await;
    let lost = failed(PushOutcome::TransientFailure, "connection_lost");
    assert_eq!(transport().post(&post(format!("http://{address}/"))).await, lost);
    let (_, garbled) = Receiver::start(Answer::SayAndClose("SMTP ready\r\n\r\n".to_owned())).await;
    assert_eq!(transport().post(&post(format!("http://{garbled}/"))).await, lost);
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let refused = failed(PushOutcome::TransientFailure, "connect_failed");
    assert_eq!(transport().post(&post(format!("http://{closed}/"))).await, refused);
    for url in
        ["", "/cb", "ftp://example.com/", "http://", "http://a b/", "http://127.0.0.1:99999/", "http://[::1%25eth0]/"]
    {
        assert_eq!(transport().post(&post(url)).await, failed(PushOutcome::PermanentFailure, "bad_address"), "{url}");
    }
}

#[tokio::test]
async fn a_connection_is_used_again_and_one_that_was_closed_meanwhile_costs_nothing() {
    let (receiver, address) = Receiver::start(status("200 OK")).await;
    let transport = transport();
    for _ in 0..5 {
        assert_eq!(transport.post(&post(format!("http://{address}/"))).await.status, Some(200));
    }
    assert_eq!((receiver.calls().len(), receiver.connections()), (5, 1));
    let polite = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned();
    let (receiver, address) = Receiver::start(Answer::SayAndClose(polite)).await;
    for _ in 0..5 {
        assert_eq!(transport.post(&post(format!("http://{address}/"))).await.status, Some(200));
    }
    assert_eq!((receiver.calls().len(), receiver.connections()), (5, 5));
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_is_a_failure_and_no_panic() {
    let (receiver, address) = Receiver::start(status("200 OK")).await;
    for hostile in ["a\r\nb: c", "\0", "é\n"] {
        let mut post = post(format!("http://{address}/"));
        post.headers.push(("Handoff-Signal", hostile.to_owned()));
        assert_eq!(transport().post(&post).await.outcome, PushOutcome::PermanentFailure, "{hostile:?}");
    }
    assert_eq!(receiver.connections(), 0);
}
