//! The guard (rule H-9): what counts is the address that is connected to.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use handoff_channel_webhook::{Guard, WebhookTransport, resolve::Resolver};
use handoff_engine::callback::CallbackTransport as _;
use handoff_protocol::decision::{PushResult, terms::PushOutcome};

use super::receiver::{Answer, Receiver, post, status};

const NOT_ALLOWED: PushResult =
    PushResult { outcome: PushOutcome::PermanentFailure, status: None, error: Some("address_not_allowed") };

/// A resolver that says one thing the first time and another ever after.
struct Fickle {
    asked: AtomicUsize,
    first: SocketAddr,
    then: SocketAddr,
}

#[async_trait]
impl Resolver for Fickle {
    async fn resolve(&self, _: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(vec![if asked == 0 { self.first } else { self.then }])
    }
}

/// A resolver with several addresses for every name.
struct Several(Vec<SocketAddr>);

#[async_trait]
impl Resolver for Several {
    async fn resolve(&self, _: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(self.0.clone())
    }
}

fn guarded() -> WebhookTransport {
    WebhookTransport::new(Guard::PublicOnly).attempt(Duration::from_secs(2))
}

#[tokio::test]
async fn private_addresses_are_refused_in_every_spelling_and_work_without_the_guard() {
    let (receiver, address) = Receiver::start(status("200 OK")).await;
    let port = address.port();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "0.0.0.0",
        "0",
        "[::]",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "localhost",
        "169.254.169.254",
        "[::ffff:169.254.169.254]",
        "[fd00:ec2::254]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "[fe80::1]",
        "[fc00::1]",
        "[64:ff9b::127.0.0.1]",
    ] {
        let result = guarded().post(&post(format!("http://{host}:{port}/"))).await;
        assert_eq!(result, NOT_ALLOWED, "{host}");
    }
    assert_eq!(receiver.connections(), 0, "nothing was even connected to");
    let open = WebhookTransport::new(Guard::Open);
    for host in ["127.0.0.1", "2130706433", "0x7f000001", "localhost"] {
        assert_eq!(open.post(&post(format!("http://{host}:{port}/"))).await.status, Some(200), "{host}");
    }
}

#[tokio::test]
async fn a_name_that_resolves_private_after_it_was_looked_at_changes_nothing() {
    let (receiver, private) = Receiver::start(status("200 OK")).await;
    // A public address that swallows what it gets; whether this machine can reach it does not matter here.
    let public: SocketAddr = "192.175.48.6:9".parse().unwrap();
    let fickle = Arc::new(Fickle { asked: AtomicUsize::new(0), first: public, then: private });
    let transport = guarded().attempt(Duration::from_millis(200)).resolver(Arc::clone(&fickle) as _);
    let url = format!("http://receiver.example:{}/", private.port());
    transport.post(&post(url.clone())).await;
    assert_eq!(fickle.asked.load(Ordering::SeqCst), 1, "a connection goes to what was looked at");
    assert_eq!(receiver.connections(), 0);
    assert_eq!(guarded().resolver(fickle).post(&post(url)).await, NOT_ALLOWED);
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn among_several_addresses_the_private_ones_are_passed_over() {
    let (receiver, private) = Receiver::start(status("200 OK")).await;
    let several = Arc::new(Several(vec![private, "10.0.0.1:80".parse().unwrap()]));
    let transport = guarded().resolver(several);
    assert_eq!(transport.post(&post("http://receiver.example/")).await, NOT_ALLOWED);
    assert_eq!(receiver.connections(), 0);
    let none = WebhookTransport::new(Guard::Open).resolver(Arc::new(Several(Vec::new())));
    assert_eq!(none.post(&post("http://receiver.example/")).await.error, Some("not_resolved"));
}

#[tokio::test]
async fn one_address_that_does_not_answer_does_not_hide_another_that_does() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (receiver, open) = Receiver::start(status("200 OK")).await;
    let transport = WebhookTransport::new(Guard::Open).resolver(Arc::new(Several(vec![closed, open])));
    assert_eq!(transport.post(&post("http://receiver.example/")).await.status, Some(200));
    assert_eq!(receiver.calls().len(), 1);
}

#[tokio::test]
async fn a_redirect_to_a_private_address_is_not_followed() {
    let (private, address) = Receiver::start(status("200 OK")).await;
    let to = format!("HTTP/1.1 307 Moved\r\nlocation: http://{address}/\r\ncontent-length: 0\r\n\r\n");
    let (_, moved) = Receiver::start(Answer::Say(to)).await;
    let result = WebhookTransport::new(Guard::Open).post(&post(format!("http://{moved}/"))).await;
    assert_eq!((result.outcome, result.status), (PushOutcome::PermanentFailure, Some(307)));
    assert_eq!(private.connections(), 0);
}
