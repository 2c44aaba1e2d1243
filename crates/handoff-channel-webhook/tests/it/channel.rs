//! Deliveries as posts: what they say, who signs them, and whom they never reach.

use std::sync::Arc;

use handoff_channel_webhook::{Guard, WebhookChannel, WebhookTransport};
use handoff_engine::{
    channel::{Channel as _, Message},
    clock::{Clock as _, SystemClock},
};
use handoff_protocol::{
    callback::{CallbackSecret, sign},
    decision::{
        Outgoing,
        directory::{Person, Zone},
        terms::{AttemptOutcome, Grade, Urgency},
    },
    id::{DeliveryId, RequestId, UserId},
    json::read_str,
    secret::Secret,
    timestamp::Timestamp,
};

use super::receiver::{Receiver, status};

const ID: &str = "01K3M7QW9A8ZC4YRXB2N6VD9FT";

fn message(address: &str) -> Message {
    let person = Person {
        id: UserId::parse(&format!("usr_{ID}")).unwrap(),
        display: None,
        role: None,
        zone: Zone::utc(),
        quiet: None,
        contacts: Vec::new(),
    };
    let outgoing = Outgoing {
        delivery_id: DeliveryId::parse(&format!("dlv_{ID}")).unwrap(),
        attempt: 1,
        request_id: RequestId::parse(&format!("req_{ID}")).unwrap(),
        version: 1,
        channel: "webhook".to_owned(),
        rung: 2,
        urgency: Urgency::Normal,
        title: "Refund?".to_owned(),
        body: Some("not for this channel".to_owned()),
        expires_at: None,
        person,
        address: Secret::new(address.to_owned()),
    };
    Message { outgoing, surface_url: "https://handoff.example.com/requests/req_1".to_owned() }
}

fn secrets() -> Vec<CallbackSecret> {
    ["whsec_new", "whsec_old"].map(|text| CallbackSecret::new(text).unwrap()).to_vec()
}

fn channel(guard: Guard, secrets: Vec<CallbackSecret>) -> WebhookChannel {
    WebhookChannel::new("webhook", Arc::new(WebhookTransport::new(guard)), secrets)
}

#[tokio::test]
async fn a_delivery_is_posted_signed_by_every_secret_and_says_no_more_than_it_must() {
    let (receiver, address) = Receiver::start(status("202 Accepted")).await;
    let channel = channel(Guard::Open, secrets());
    let report = channel.send(&message(&format!("http://{address}/hook"))).await;
    assert_eq!(report.outcome(), AttemptOutcome::Accepted);
    let call = receiver.calls().remove(0);
    let (head, body) = call.split_once("\r\n\r\n").unwrap();
    let body_json = read_str(body).unwrap();
    assert_eq!(body_json.canonical().unwrap(), body);
    let names: Vec<&str> = body_json.as_object().unwrap().keys().collect();
    assert_eq!(names, ["channel", "delivery_id", "request_id", "rung", "surface_url", "title", "type"]);
    let header = |name: &str| {
        let line = |line: &&str| line.to_lowercase().starts_with(&format!("{name}: "));
        head.lines().find(line).and_then(|line| line.split_once(": ")).map(|(_, value)| value.to_owned())
    };
    let delivery = DeliveryId::parse(&format!("dlv_{ID}")).unwrap();
    let signature = header("handoff-signature").unwrap();
    let time: i64 = signature.split(['=', ',']).nth(1).unwrap().parse().unwrap();
    let at = Timestamp::from_unix_seconds(time);
    assert!(SystemClock.now().since(at).as_secs() < 60);
    assert_eq!(signature, sign(&secrets(), at, delivery, body.as_bytes()).unwrap());
    assert_eq!(header("handoff-delivery"), Some(delivery.to_string()));
    assert_eq!(header("handoff-idempotency-key"), Some(delivery.to_string()));
    assert_eq!(header("handoff-version").as_deref(), Some("1"));
    assert_eq!((header("handoff-signal"), header("handoff-sequence")), (None, None));
    assert_eq!((channel.facts().max_grade, channel.facts().can_authenticate_person), (Grade::Dispatched, false));
}

#[tokio::test]
async fn what_a_receiver_says_is_told_by_its_status_alone() {
    for (said, outcome) in [
        ("500 Oops anna@example.com", AttemptOutcome::TransientFailure),
        ("404 Not Found", AttemptOutcome::PermanentFailure),
        ("302 Found", AttemptOutcome::PermanentFailure),
    ] {
        let (_receiver, address) = Receiver::start(status(said)).await;
        let report = channel(Guard::Open, secrets()).send(&message(&format!("http://{address}/hook"))).await;
        assert_eq!(report.outcome(), outcome, "{said}");
        assert!(!format!("{report:?}").contains("anna"), "{report:?}");
    }
}

#[tokio::test]
async fn nothing_is_posted_unsigned_or_to_what_is_no_address_or_is_guarded() {
    let (receiver, address) = Receiver::start(status("200 OK")).await;
    let open = format!("http://{address}/hook");
    for (channel, address, outcome) in [
        (channel(Guard::Open, Vec::new()), open.as_str(), AttemptOutcome::Suppressed),
        (channel(Guard::Open, secrets()), "file:///etc/hostname", AttemptOutcome::Suppressed),
        (channel(Guard::Open, secrets()), "https://user:hunter2@a.example", AttemptOutcome::Suppressed),
        (channel(Guard::PublicOnly, secrets()), open.as_str(), AttemptOutcome::PermanentFailure),
    ] {
        let report = channel.send(&message(address)).await;
        assert_eq!(report.outcome(), outcome, "{address}");
    }
    assert!(receiver.calls().is_empty());
}
