//! What an operator does to the store with one statement of SQL, and what is served afterwards.

use handoff_protocol::{
    bundle::{self, Trust},
    digest::Digest,
    json::{Json, read_str},
};

use crate::{
    home::{self, document, machine, person},
    support::{
        connection::{Answer, Connection},
        deployment::Deployment,
        process::Handoffd,
        shell::{Shell, quoted},
    },
};

on_every_store!(
    the_title_of_a_pending_request_is_changed_by_one_statement_and_nothing_else_is,
    an_answer_after_the_change_is_to_the_new_title_and_its_receipt_verifies,
    an_answer_during_the_change_is_to_what_the_change_leaves,
    a_title_is_changed_also_while_something_else_of_its_request_changes,
    a_receipt_is_neither_changed_nor_removed_nor_added_by_any_statement
);

/// What is hard to keep as it is: order, escapes, numbers, names.
const METADATA: &str =
    r#"{"zé":1,"a":{"":[]," \u0000":-9007199254740991},"é":"\u0000\u001f\"\\\u2028😀/","n":[0,300,4]}"#;

/// A server with one machine and one person, and a shell at its store.
fn open(deployment: &Deployment) -> (Handoffd, Connection, Shell) {
    let entries = document(&[machine("t-m", ""), person("t-p", "")]);
    let server = deployment.serve(&[("HANDOFF_BOOTSTRAP_JSON", &entries)]);
    let connection = server.connect();
    (server, connection, deployment.shell())
}

/// The statement that changes a title.
fn change(id: &str, title: &str) -> String {
    format!("UPDATE requests SET title = {} WHERE id = '{id}'", quoted(title))
}

fn raise(connection: &mut Connection, waiter: &str, more: &str) -> Answer {
    let raised = home::raise(connection, "t-m", waiter, "session", more);
    assert_eq!(raised.status, 201, "{raised:?}");
    raised
}

fn get(connection: &mut Connection, path: &str) -> Answer {
    let found = connection.call("GET", path, "t-m", "").unwrap();
    assert_eq!(found.status, 200, "{found:?}");
    found
}

/// The digest of what a served request shows, taken from what is served (rule D-8).
fn shown(request: &Answer) -> String {
    let served = read_str(&request.body).unwrap();
    let part = |name| (name, served.get(name).unwrap().clone());
    let shown = Json::object([part("prompt"), part("requires"), part("version")]);
    Digest::of(shown.canonical().unwrap()).to_string()
}

fn the_title_of_a_pending_request_is_changed_by_one_statement_and_nothing_else_is(deployment: &Deployment) {
    let (_server, mut connection, shell) = open(deployment);
    let connection = &mut connection;
    let big = format!(r#","metadata":{METADATA},"effect_digest":"sha256:{}""#, "0".repeat(64));
    let path = format!("/v1/requests/{}", raise(connection, "run:1", &big).text("id"));
    let other = format!("/v1/requests/{}", raise(connection, "run:2", "").text("id"));
    let (id, untouched) = (path.rsplit('/').next().unwrap(), get(connection, &other).body);
    let mut before = get(connection, &path);
    for title in
        ["new", "\"quoted\" \\ back", "line\nand\ttab \u{1} \u{7f}", "Ünï 😀 \u{fffe}\u{ffff}", "{\"a\":1}", "é"]
    {
        shell.run(&change(id, title)).unwrap();
        let read = shell.value(&format!("SELECT title FROM requests WHERE id = '{id}'"));
        assert_eq!(read, title, "a shell reads what it wrote");
        let after = get(connection, &path);
        assert_eq!(after.text("prompt.title"), title);
        assert_eq!(after.text("rendered_digest"), shown(&after), "the digest is that of what is served");
        let title = |of: &Answer| Json::from(of.text("prompt.title")).to_text();
        let expected = before
            .body
            .replace(&title(&before), &title(&after))
            .replace(&before.text("rendered_digest"), &after.text("rendered_digest"));
        assert_eq!(after.body, expected, "every other byte is what it was");
        assert!(get(connection, "/v1/requests?waiter_ref=run:1").body.contains(&title(&after)), "listings have it");
        before = after;
    }
    assert_eq!(get(connection, &other).body, untouched);
    assert_eq!(before.text("version"), "1");
    assert!(before.body.contains(r#"{"zé":1,"a":{"":[]," \u0000":-9007199254740991}"#), "{}", before.body);
}

fn an_answer_after_the_change_is_to_the_new_title_and_its_receipt_verifies(deployment: &Deployment) {
    let (server, mut connection, shell) = open(deployment);
    let connection = &mut connection;
    let raised = raise(connection, "run:1", r#","presentation_binding":"strict""#);
    let id = raised.text("id");
    let path = format!("/v1/requests/{id}");
    shell.run(&change(&id, "Ship it to everybody?")).unwrap();
    let changed = get(connection, &path);
    let mut answer = |digest: &str| {
        let body = format!(r#"{{"values":{{"decision":"yes"}},"rendered_digest":"{digest}"}}"#);
        connection.call("POST", &format!("{path}/answer"), "t-p", &body).unwrap()
    };
    let stale = answer(&raised.text("rendered_digest"));
    assert_eq!((stale.status, stale.text("error.code")), (409, "presentation_stale".to_owned()));
    let answered = answer(&changed.text("rendered_digest"));
    let receipt = home::receipt(connection, "t-m", &answered);
    assert_eq!(receipt.text("rendered.digest"), shown(&changed));
    assert_eq!(receipt.text("rendered.diverged"), "false");

    let refused = shell.run(&change(&id, "Never mind")).unwrap_err();
    assert!(refused.contains("while a request is pending, and this one has ended"), "{refused}");
    assert_eq!(get(connection, &path).text("prompt.title"), "Ship it to everybody?");
    let export = get(connection, "/v1/export").body;
    let report = bundle::verify(export.as_bytes(), &Trust::default()).unwrap();
    assert!(report.is_sound(), "{report:?}");
    server.terminate();
    assert!(server.wait().0.success());
    let verified = deployment.run(&["verify-chain"], &[]);
    let lines = String::from_utf8(verified.stdout).unwrap();
    assert!(verified.status.success() && lines.contains(" OK count=1 "), "{lines}");
}

fn an_answer_during_the_change_is_to_what_the_change_leaves(deployment: &Deployment) {
    let (_server, mut connection, shell) = open(deployment);
    let connection = &mut connection;
    let id = raise(connection, "run:1", "").text("id");
    let before = get(connection, &format!("/v1/requests/{id}"));
    let headers = "Authorization: Bearer t-p\r\n";
    let path = format!("/v1/requests/{id}/answer");
    shell.while_open(&change(&id, "Ship it to everybody?"), || {
        connection.send("POST", &path, headers, r#"{"values":{"decision":"yes"}}"#).unwrap();
    });
    let answered = connection.receive().unwrap();
    let receipt = home::receipt(connection, "t-m", &answered);
    assert_ne!(receipt.text("rendered.digest"), before.text("rendered_digest"));
    assert_eq!(receipt.text("rendered.digest"), shown(&get(connection, &format!("/v1/requests/{id}"))));
}

fn a_title_is_changed_also_while_something_else_of_its_request_changes(deployment: &Deployment) {
    let (_server, mut connection, shell) = open(deployment);
    let connection = &mut connection;
    let id = raise(connection, "run:1", "").text("id");
    let other = format!("UPDATE records SET version = version + 1 WHERE id = '{id}'");
    shell.while_open(&other, || shell.run(&change(&id, "Ship it to everybody?"))).unwrap();
    assert_eq!(get(connection, &format!("/v1/requests/{id}")).text("prompt.title"), "Ship it to everybody?");
}

fn a_receipt_is_neither_changed_nor_removed_nor_added_by_any_statement(deployment: &Deployment) {
    let (_server, mut connection, shell) = open(deployment);
    let connection = &mut connection;
    let id = raise(connection, "run:1", "").text("id");
    let answered = home::answer(connection, "t-p", &id);
    let (receipt, head) = (home::receipt(connection, "t-m", &answered), get(connection, "/v1/receipts/chain-head"));
    let name = receipt.text("id");
    for statement in [
        format!("UPDATE receipts SET body = '{{}}' WHERE id = '{name}'"),
        format!("UPDATE receipts SET id = 'rcpt_x' WHERE id = '{name}'"),
        format!("UPDATE receipts SET digest = 'x', height = 9 WHERE request_id = '{id}'"),
        format!("DELETE FROM receipts WHERE id = '{name}'"),
        "DELETE FROM receipts".to_owned(),
        "INSERT INTO receipts (id, body) VALUES ('rcpt_x', '{}')".to_owned(),
        "INSERT INTO receipts SELECT * FROM receipts".to_owned(),
    ]
    .into_iter()
    .chain(of_one_store(deployment))
    {
        let refused = shell.run(&statement).expect_err(&statement);
        assert!(refused.contains("append-only"), "{statement}: {refused}");
    }
    assert_eq!(get(connection, &format!("/v1/receipts/{name}")).body, receipt.body);
    let after = get(connection, "/v1/receipts/chain-head");
    assert_eq!((after.text("height"), after.text("head_digest")), (head.text("height"), head.text("head_digest")));
}

/// What only one store has words for.
fn of_one_store(deployment: &Deployment) -> Vec<String> {
    let statements: &[&str] = match deployment.database() {
        None => &[
            "UPDATE OR IGNORE receipts SET digest = 'x', height = 9",
            "INSERT OR REPLACE INTO receipts SELECT * FROM receipts",
        ],
        Some(_) => &["TRUNCATE chain_entries CASCADE", "TRUNCATE chain_bodies"],
    };
    statements.iter().map(|&statement| statement.to_owned()).collect()
}
