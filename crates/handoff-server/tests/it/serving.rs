//! Serving: one listener for API and pages, one file for several processes.

use std::thread;

use crate::support::{connection::Connection, deployment::Deployment, process::Handoffd, tenant::Tenant};

on_every_store!(
    one_listener_answers_with_the_api_the_pages_and_one_envelope_for_the_rest,
    links_name_the_port_that_is_listened_on_or_the_base_that_is_configured,
    a_poll_on_one_process_wakes_when_another_process_commits
);

fn one_listener_answers_with_the_api_the_pages_and_one_envelope_for_the_rest(deployment: &Deployment) {
    let server = deployment.serve(&[]);
    let mut connection = server.connect();
    let mut get = |path: &str| {
        connection.send("GET", path, "", "").unwrap();
        connection.receive().unwrap()
    };
    let meta = get("/v1/meta");
    assert_eq!((meta.status, meta.text("protocol_version")), (200, "0.1".to_owned()));
    assert!(get("/v1/keys").text("keys.0.kid").starts_with("rk_"), "the signing key is published");
    let page = get("/requests/req_01K3M7QW8ZC4YRXB2N6VD9FTHE");
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")), "{page:?}");
    assert!(page.header("x-request-id").is_some(), "a page can be found in the log, as a call can: {page:?}");
    for path in ["/v1/nowhere", "/nowhere", "/v1"] {
        let refused = get(path);
        assert_eq!((refused.status, refused.text("error.code")), (404, "invalid_request".to_owned()), "{path}");
    }
}

fn links_name_the_port_that_is_listened_on_or_the_base_that_is_configured(deployment: &Deployment) {
    let tenant = Tenant::create(deployment);
    for (variables, base) in [
        (vec![], None),
        (vec![("HANDOFF_PUBLIC_BASE", "https://handoff.example.com/")], Some("https://handoff.example.com".to_owned())),
    ] {
        let server = deployment.serve(&variables);
        let base = base.unwrap_or_else(|| format!("http://127.0.0.1:{}", server.address.port()));
        let raised = tenant.raise(&mut server.connect(), "run:1").unwrap();
        assert_eq!(raised.text("surface_url"), format!("{base}/requests/{}", raised.text("id")));
    }
}

#[test]
fn whether_a_server_is_ready_can_be_asked_from_beside() {
    let deployment = Deployment::sqlite();
    let server = deployment.serve(&[]);
    for host in ["127.0.0.1", "0.0.0.0"] {
        let bind = format!("{host}:{}", server.address.port());
        let asked = deployment.run(&["ready"], &[("HANDOFF_BIND", &bind)]);
        assert!(asked.status.success() && asked.stdout == b"ready\n", "{asked:?}");
    }
    let bind = server.address.to_string();
    drop(server);
    let asked = deployment.run(&["ready"], &[("HANDOFF_BIND", &bind)]);
    let said = String::from_utf8(asked.stderr).unwrap();
    assert_eq!((asked.status.code(), asked.stdout.len()), (Some(1), 0));
    assert!(said.starts_with(&format!("handoffd: no server is ready at {bind}; ")), "{said}");
}

#[test]
fn an_unspecified_address_serves_both_families() {
    if std::net::TcpListener::bind("[::]:0").is_err() {
        println!("skipped: this machine has no IPv6");
        return;
    }
    let server = Deployment::sqlite().serve(&[("HANDOFF_BIND", "[::]:0")]);
    for host in ["127.0.0.1", "[::1]"] {
        let mut connection = Connection::open(format!("{host}:{}", server.address.port()).parse().unwrap()).unwrap();
        connection.send("GET", "/v1/meta", "", "").unwrap();
        assert_eq!(connection.receive().unwrap().status, 200, "{host}");
    }
}

fn a_poll_on_one_process_wakes_when_another_process_commits(deployment: &Deployment) {
    let tenant = Tenant::create(deployment);
    let (first, second) = (deployment.serve(&[]), deployment.serve(&[]));
    let request = tenant.raise(&mut first.connect(), "run:1").unwrap().text("id");
    let mut poll = first.connect();
    thread::scope(|scope| {
        let path = "/v1/waiters/run:1/signals?wait=30";
        let poll = scope.spawn(|| poll.call("GET", path, &tenant.machine, "").unwrap());
        let answered = tenant.answer(&mut second.connect(), &request).unwrap();
        let signals = poll.join().unwrap();
        assert_eq!(signals.text("data.0.decision.receipt_id"), answered.text("receipt.id"));
    });
    // Both sign with one key, whoever made it.
    let keys = |server: &Handoffd| server.connect().call("GET", "/v1/keys", "", "").unwrap().body;
    assert_eq!(keys(&first), keys(&second));
}

#[test]
fn the_log_is_json_when_asked_and_says_that_it_listens_whatever_the_filter() {
    let deployment = Deployment::sqlite();
    let mut command = deployment.command(&[], &[("HANDOFF_LOG", "json"), ("RUST_LOG", "off")]);
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut log = std::io::BufReader::new(child.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut log, &mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let line = handoff_protocol::json::read_str(line.trim()).unwrap();
    let message = line.get("fields").and_then(|fields| fields.get("message")?.as_str());
    assert!(message.is_some_and(|message| message.starts_with("listening on 127.0.0.1:")), "{line:?}");
}
