//! A tenant that the server loads when it starts.

use crate::support::connection::{Answer, Connection};

pub(crate) const TENANT: &str = "org_01K3M7QW8ZC4YRXB2N6VD9FTHE";
const MACHINE: &str = "sa_01K3M7QW8ZC4YRXB2N6VD9FTHE";
const PERSON: &str = "usr_01K3M7QW8ZC4YRXB2N6VD9FTHE";

/// An entry of a machine, with more members.
pub(crate) fn machine(token: &str, more: &str) -> String {
    format!(r#"{{"tenant_ref":"{TENANT}","kind":"machine","id":"{MACHINE}","token":"{token}"{more}}}"#)
}

/// An entry of a person, with more members.
pub(crate) fn person(token: &str, more: &str) -> String {
    format!(r#"{{"tenant_ref":"{TENANT}","kind":"human","id":"{PERSON}","token":"{token}","role":"editor"{more}}}"#)
}

/// An entry of a link, with more members.
pub(crate) fn link(token: &str, more: &str) -> String {
    format!(r#"{{"tenant_ref":"{TENANT}","kind":"anonymous_link","token":"{token}"{more}}}"#)
}

/// The document of some entries.
pub(crate) fn document(entries: &[String]) -> String {
    format!(r#"{{"principals":[{}]}}"#, entries.join(","))
}

/// Asks yes or no, with more members of the request and a strength that the answer needs.
pub(crate) fn raise(connection: &mut Connection, token: &str, waiter: &str, strength: &str, more: &str) -> Answer {
    let body = format!(
        r#"{{"waiter_ref":"{waiter}","prompt":{{"title":"Ship it?"}}{more},
            "requires":{{"v":1,"authority":{{"auth_strength":"{strength}"}},"answer":{{"fields":
            [{{"name":"decision","type":"choice","required":true,"options":[{{"id":"yes","label":"Yes"}}]}}]}}}}}}"#
    );
    connection.call("POST", "/v1/requests", token, &body).unwrap()
}

/// Answers yes.
pub(crate) fn answer(connection: &mut Connection, token: &str, request: &str) -> Answer {
    let path = format!("/v1/requests/{request}/answer");
    connection.call("POST", &path, token, r#"{"values":{"decision":"yes"}}"#).unwrap()
}

/// The receipt of an answer, as the machine reads it.
pub(crate) fn receipt(connection: &mut Connection, token: &str, answered: &Answer) -> Answer {
    assert_eq!(answered.status, 200, "{answered:?}");
    let found = connection.call("GET", &format!("/v1/receipts/{}", answered.text("receipt.id")), token, "").unwrap();
    assert_eq!(found.status, 200, "{found:?}");
    found
}
