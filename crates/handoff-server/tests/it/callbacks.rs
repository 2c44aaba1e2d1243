//! Callbacks of the server as a process: what reaches a receiver on this machine, and what the guard keeps back.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use handoff_protocol::{
    callback::{CallbackHeaders, CallbackSecret, verify},
    timestamp::Timestamp,
};

use crate::{
    home::{document, machine, person},
    support::{deployment::Deployment, process::Handoffd},
};

on_every_store!(
    a_receiver_on_this_machine_gets_its_signal_with_no_further_setting_and_again_until_it_acknowledges,
    with_the_guard_on_nothing_of_this_machine_is_connected_to
);

const BOUND: Duration = Duration::from_secs(20);

/// What a receiver got: headers by their names in small letters, and the body.
type Got = (Vec<(String, String)>, Vec<u8>);

/// A receiver that takes everything and acknowledges nothing.
fn receiver() -> (u16, Receiver<Got>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, got) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut headers = Vec::new();
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap() == 0 || line == "\r\n" {
                    break;
                }
                if let Some((name, value)) = line.trim_end().split_once(": ") {
                    headers.push((name.to_lowercase(), value.to_owned()));
                }
            }
            let length = headers.iter().find(|(name, _)| name == "content-length").map_or("0", |(_, value)| value);
            let mut body = vec![0; length.parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").unwrap();
            if sender.send((headers, body)).is_err() {
                return;
            }
        }
    });
    (port, got)
}

fn serve(deployment: &Deployment, more: &[(&str, &str)]) -> Handoffd {
    let entries = document(&[machine("t-m", ""), person("t-p", "")]);
    let mut variables =
        vec![("HANDOFF_BOOTSTRAP_JSON", entries.as_str()), ("HANDOFF_CALLBACK_SECRETS", "whsec_new,whsec_old")];
    variables.extend(more);
    deployment.serve(&variables)
}

/// Raises with a callback, answers, and gives the signal.
fn answered(server: &Handoffd, port: u16) -> String {
    let connection = &mut server.connect();
    let body = format!(
        r#"{{"waiter_ref":"run:1","prompt":{{"title":"Ship it?"}},"requires":{{"v":1,"answer":{{"fields":[]}}}},
        "callback":{{"url":"http://127.0.0.1:{port}/cb"}}}}"#
    );
    let raised = connection.call("POST", "/v1/requests", "t-m", &body).unwrap();
    assert_eq!(raised.status, 201, "{raised:?}");
    let path = format!("/v1/requests/{}/answer", raised.text("id"));
    assert_eq!(connection.call("POST", &path, "t-p", r#"{"values":{}}"#).unwrap().status, 200);
    connection.call("GET", "/v1/waiters/run:1/signals", "t-m", "").unwrap().text("data.0.id")
}

fn a_receiver_on_this_machine_gets_its_signal_with_no_further_setting_and_again_until_it_acknowledges(
    deployment: &Deployment,
) {
    let (port, got) = receiver();
    let server = serve(deployment, &[]);
    let signal = answered(&server, port);
    let mut deliveries = Vec::new();
    for secret in ["whsec_new", "whsec_old"] {
        let (headers, body) = got.recv_timeout(BOUND).unwrap();
        let header =
            |name: &str| headers.iter().find(|(known, _)| known == &name.to_lowercase()).map(|(_, v)| v.as_bytes());
        let headers = CallbackHeaders::from_bytes(header).unwrap();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let now = Timestamp::from_unix_seconds(i64::try_from(now.as_secs()).unwrap());
        let verified = verify(&headers, &body, &[CallbackSecret::new(secret).unwrap()], now).unwrap();
        assert_eq!(verified.body.get("id").unwrap().as_str(), Some(signal.as_str()));
        deliveries.push(verified.delivery);
    }
    assert_eq!(deliveries[0], deliveries[1]);
}

fn with_the_guard_on_nothing_of_this_machine_is_connected_to(deployment: &Deployment) {
    let (port, got) = receiver();
    let server = serve(deployment, &[("HANDOFF_PUBLIC_BASE", "https://handoff.example.com")]);
    let signal = answered(&server, port);
    let path = format!("/v1/signals/{signal}/attempts");
    let connection = &mut server.connect();
    let began = std::time::Instant::now();
    let attempt = loop {
        let attempts = connection.call("GET", &path, "t-m", "").unwrap();
        if attempts.body.contains("started_at") {
            break attempts;
        }
        assert!(began.elapsed() < BOUND, "{attempts:?}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(attempt.text("data.0.error"), "address_not_allowed");
    assert_eq!(attempt.text("data.0.outcome"), "permanent_failure");
    assert!(!attempt.body.contains("127.0.0.1"), "{attempt:?}");
    assert!(got.try_recv().is_err());
}
