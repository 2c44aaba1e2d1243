//! A secret and an address are planted in a server's every way in, and looked for in everything that it leaves behind: its
//! database and the log beside it, its own log at its most talkative, its metrics, its responses.

#![cfg(unix)]

use std::fs;

use crate::{
    home::{TENANT, document, machine},
    support::{
        connection::{Answer, Connection},
        deployment::Deployment,
        process::Handoffd,
    },
};

on_every_store!(no_secret_and_no_address_is_found_in_anything_that_a_server_leaves_behind);

const CANARY: &str = "c4nary-hunter2";

/// Signing in on a surface: a text, a secret and its sink, and a surface to take over.
const RAISE: &str = r#"{"waiter_ref":"run:1","prompt":{"title":"Sign in?"},"requires":{"v":1,"answer":{"fields":[
    {"name":"user","type":"text"},{"name":"password","type":"secret","required":true,"sink_ref":"snk_01K3M7QW8ZC4YRXB2N6VD9FTHF"}],
    "value_sink":{"ref":"opaque:1"}},
    "capabilities":[{"type":"interactive_surface","scope":"drive","resource_ref":"opaque:1"}]}}"#;

struct Walk {
    connection: Connection,
    replies: Vec<Answer>,
}

impl Walk {
    fn call(&mut self, method: &str, path: &str, token: &str, body: &str, status: u16) -> Answer {
        let answer = self.connection.call(method, path, token, body).unwrap();
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        answer
    }

    fn keep(&mut self, method: &str, path: &str, token: &str, body: &str, status: u16) -> Answer {
        let answer = self.call(method, path, token, body, status);
        assert!(!answer.head.contains("c4nary") && !answer.body.contains("c4nary"), "{path}: {answer:?}");
        self.replies.push(self.connection.call("GET", "/metrics", token, "").unwrap());
        answer
    }
}

fn no_secret_and_no_address_is_found_in_anything_that_a_server_leaves_behind(deployment: &Deployment) {
    let taken = deployment.directory().join("taken");
    let config = deployment.directory().join("handoff.toml");
    let person = format!(
        r#"{{"tenant_ref":"{TENANT}","kind":"human","id":"usr_01K3M7QW8ZC4YRXB2N6VD9FTHE","token":"t-p","role":"admin"}}"#
    );
    let text = format!(
        "bind = \"127.0.0.1:0\"\nsweep_interval_ms = 50\n\
         capability_transport_base = \"wss://relay.example.com\"\n\
         [sinks]\ndefault = [\"/bin/sh\", \"-c\", 'cat >> \"$0\"', \"{}\"]\n",
        taken.display()
    );
    fs::write(&config, text).unwrap();
    let entries = document(&[machine("t-m", ""), person]);
    let variables = [("HANDOFF_BOOTSTRAP_JSON", entries.as_str()), ("RUST_LOG", "trace")];
    let command = deployment.command(&["--config", config.to_str().unwrap()], &variables);
    let server = Handoffd::start(command);
    let mut walk = Walk { connection: server.connect(), replies: Vec::new() };
    let raised = walk.keep("POST", "/v1/requests", "t-m", RAISE, 201);
    let request = raised.text("id");
    let answer = format!("/v1/requests/{request}/answer");
    let raw = walk.keep("POST", &answer, "t-p", &format!(r#"{{"values":{{"password":"{CANARY}"}}}}"#), 422);
    assert_eq!(raw.text("error.fields.0.code"), "secret_value_not_permitted");
    let values = format!(r#"{{"values":{{"user":"{CANARY}","password":"{CANARY}"}}}}"#);
    for place in ["opaque:1", "snk_01K3M7QW8ZC4YRXB2N6VD9FTHF"] {
        walk.keep("POST", &format!("/v1/sinks/{place}/values"), "t-p", &values, 202);
    }
    let path = "/v1/sinks/opaque:1/values";
    walk.keep("POST", path, "t-p", &values.replace("user", "smuggled"), 400);
    walk.keep("POST", path, "t-p", &format!(r#"{{"values":{{"password":"{CANARY}""#), 400);
    walk.keep("POST", path, "t-m", &values, 403);

    let grant = format!("/v1/grants/{}", raised.text("requires.capabilities.0.handle"));
    let digest = raised.text("requires.capabilities.0.blast_radius_digest");
    let accept = format!(r#"{{"scopes":["drive"],"accepted_blast_radius_digest":"{digest}"}}"#);
    let addresses: Vec<String> = (0..2)
        .map(|_| walk.call("POST", &format!("{grant}/sessions"), "t-p", &accept, 200).text("transport.url"))
        .collect();
    assert!(addresses.iter().all(|address| address.starts_with("wss://relay.example.com/")), "{addresses:?}");
    assert_ne!(addresses[0], addresses[1]);

    let given = r#"{"values":{"user":{"provided":true},"password":{"provided":true}}}"#;
    walk.keep("POST", &answer, "t-p", given, 200);
    walk.keep("POST", path, "t-p", &values, 409);
    for path in ["/v1/requests", "/v1/receipts", "/v1/waiters/run:1/signals", "/v1/export"] {
        let read = walk.keep("GET", path, "t-m", "", 200);
        assert!(addresses.iter().all(|address| !read.body.contains(address.as_str())), "{path}");
    }
    assert!(walk.replies.iter().all(|metrics| !metrics.body.contains("c4nary")));

    // The sink has what it was sent, twice: what follows would find nothing for lack of anything to find otherwise.
    assert_eq!(fs::read_to_string(&taken).unwrap().matches(CANARY).count(), 4);
    look(deployment, &request, &addresses);
    server.terminate();
    let (status, printed, log) = server.wait();
    assert!(status.success());
    assert!(log.contains("/v1/sinks/{sink_ref}/values"), "the log is talkative: {log}");
    for text in [&printed, &log] {
        assert!(!text.contains("c4nary"), "{text}");
        assert!(addresses.iter().all(|address| !text.contains(address.as_str())), "{text}");
    }
    look(deployment, &request, &addresses);
}

/// Looks through everything but what the sink wrote.
fn look(deployment: &Deployment, request: &str, addresses: &[String]) {
    let keys = addresses.iter().map(|address| address.rsplit('/').next().unwrap());
    for text in keys.chain(["c4nary"]) {
        assert!(!deployment.keeps(text, &["taken"]), "{text}");
    }
    assert!(deployment.keeps(request, &["taken"]), "where to look is where it would be");
}
