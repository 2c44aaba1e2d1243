//! Continuation data at rest: not to be read in any file, and never without the key that sealed it.

use crate::{
    home::{document, machine, person},
    support::{deployment::Deployment, process::Handoffd},
};

on_every_store!(a_payload_is_in_no_file_and_in_no_line_of_the_log, keys_rotate_and_one_that_is_in_use_is_not_dropped);

const PAYLOAD: &str = "Y2FuYXJ5LXBheWxvYWQ=";

fn key(name: &str) -> String {
    format!("{name}:{}", name.repeat(64))
}

fn serve(deployment: &Deployment, keys: &str) -> Handoffd {
    let entries = document(&[machine("t-m", ""), person("t-p", "")]);
    let variables =
        [("HANDOFF_BOOTSTRAP_JSON", entries.as_str()), ("HANDOFF_CONTINUATION_KEYS", keys), ("RUST_LOG", "trace")];
    deployment.serve(&variables)
}

fn raise(server: &Handoffd, waiter: &str) -> String {
    let body = format!(
        r#"{{"waiter_ref":"{waiter}","prompt":{{"title":"Ship it?"}},"requires":{{"v":1,"answer":{{"fields":[]}}}},
        "resume_payload":"{PAYLOAD}"}}"#
    );
    let raised = server.connect().call("POST", "/v1/requests", "t-m", &body).unwrap();
    assert_eq!(raised.status, 201, "{raised:?}");
    raised.text("id")
}

/// Answers a request, and gives what its signal gives back.
fn given_back(server: &Handoffd, waiter: &str, request: &str) -> String {
    let connection = &mut server.connect();
    let path = format!("/v1/requests/{request}/answer");
    assert_eq!(connection.call("POST", &path, "t-p", r#"{"values":{}}"#).unwrap().status, 200);
    let path = format!("/v1/waiters/{waiter}/signals");
    connection.call("GET", &path, "t-m", "").unwrap().text("data.0.resume_payload")
}

fn a_payload_is_in_no_file_and_in_no_line_of_the_log(deployment: &Deployment) {
    let server = serve(deployment, &key("a"));
    let meta = server.connect().call("GET", "/v1/meta", "", "").unwrap();
    assert!(meta.body.contains(r#""conformance_level":2,"extensions":["continuation"]"#), "{meta:?}");
    let request = raise(&server, "run:1");
    let search = || {
        assert!(!deployment.keeps(PAYLOAD, &[]) && !deployment.keeps("canary-payload", &[]));
        assert!(deployment.keeps(&request, &[]), "where to look is where it would be");
    };
    search();
    assert_eq!(given_back(&server, "run:1", &request), PAYLOAD);
    search();
    server.terminate();
    let (_, out, log) = server.wait();
    assert!(!out.contains(PAYLOAD) && !log.contains(PAYLOAD) && !log.contains("canary-payload"));
    search();
}

fn keys_rotate_and_one_that_is_in_use_is_not_dropped(deployment: &Deployment) {
    let (old, both, new) = (key("a"), format!("{},{}", key("b"), key("a")), key("b"));
    let server = serve(deployment, &old);
    let (first, second) = (raise(&server, "run:1"), raise(&server, "run:2"));
    drop(server);
    let command = |arguments: &[&str], keys: &str| {
        let output = deployment.run(arguments, &[("HANDOFF_CONTINUATION_KEYS", keys)]);
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let refused = deployment.run(&["serve"], &[("HANDOFF_CONTINUATION_KEYS", &new)]);
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && words.contains("sealed with the key `a`"), "{words}");
    let (code, listed) = command(&["continuation", "keys"], &new);
    assert!(code == Some(1) && listed.contains("a\t2\tin use and MISSING"), "{listed}");
    assert!(listed.contains("sealed with the key `a`, which is not configured; put it back"), "{listed}");
    // A key of the same name is not that key, and is told apart before anything is sealed with it.
    let other = format!("a:{}", "9".repeat(64));
    let refused = deployment.run(&["serve"], &[("HANDOFF_CONTINUATION_KEYS", &other)]);
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && words.contains("another key of the name `a`"), "{words}");
    let (code, listed) = command(&["continuation", "keys"], &other);
    assert!(code == Some(1) && listed.contains("a\t2\tcurrent; 2 sealed with ANOTHER key of this name"), "{listed}");

    // A server of the new key works beside what the old one sealed, and a command seals it anew.
    let server = serve(deployment, &both);
    assert_eq!(given_back(&server, "run:1", &first), PAYLOAD);
    let (code, listed) = command(&["continuation", "keys"], &both);
    assert_eq!(
        (code, listed.as_str()),
        (Some(0), "b\t0\tcurrent\na\t2\tin use; `handoffd continuation reseal` frees it\n")
    );
    for count in [2, 0] {
        let (code, said) = command(&["continuation", "reseal"], &both);
        assert!(code == Some(0) && said.starts_with(&format!("{count} sealed anew")), "{said}");
    }
    let (_, listed) = command(&["continuation", "keys"], &both);
    assert_eq!(listed, "b\t2\tcurrent\na\t0\tcan be dropped\n");
    // A key that is lost pins nobody: what it sealed is named, and given up by its name alone.
    let lost = key("c");
    for arguments in [&["continuation", "reseal"][..], &["continuation", "reseal", "--forget-unreadable"]] {
        let (code, said) = command(arguments, &lost);
        assert!(code == Some(1) && said.contains("left as it is"), "{said}");
    }
    drop(server);
    let server = serve(deployment, &new);
    assert_eq!(given_back(&server, "run:2", &second), PAYLOAD);
}
