//! What must hold of everything that a store keeps of a tenant, whatever happened to those who wrote it.

use std::collections::{HashMap, HashSet};

use crate::support::{deployment::Deployment, tenant::Tenant};

/// Each request of the tenant is pending with nothing more, or answered with one each of everything that an answer
/// brings; and its events have no gap. Gives the number of answers.
pub(crate) fn check_whole(deployment: &Deployment, tenant: &Tenant) -> usize {
    let shell = deployment.shell();
    let of_tenant = |query: &str| query.replace('?', &format!("'{}'", tenant.id));
    let rows = |query: &str| shell.pairs(&of_tenant(query));
    let requests: HashMap<_, _> = rows("SELECT id, state FROM requests WHERE tenant = ?").into_iter().collect();
    let answered: HashSet<_> = requests.iter().filter(|(_, state)| *state == "answered").map(|(id, _)| id).collect();
    let pending = requests.values().filter(|state| *state == "pending").count();
    assert_eq!(answered.len() + pending, requests.len(), "no other state was asked for");
    for query in [
        "SELECT request_id, id FROM receipts WHERE tenant = ?",
        "SELECT request_id, id FROM signals WHERE tenant = ?",
        "SELECT request_id, id FROM authorizations WHERE tenant = ?",
        "SELECT subject, type FROM events WHERE tenant = ? AND type = 'request.answered'",
    ] {
        let found = rows(query);
        let distinct: HashSet<_> = found.iter().map(|(request, _)| request).collect();
        assert_eq!(found.len(), distinct.len(), "one each: {query}");
        assert_eq!(distinct, answered, "for the answered requests and no others: {query}");
    }
    let raised = rows("SELECT subject, type FROM events WHERE tenant = ? AND type = 'request.raised'");
    assert_eq!(raised.iter().map(|(request, _)| request).collect::<HashSet<_>>(), requests.keys().collect());
    let gap = of_tenant("SELECT max(sequence) - count(*) FROM events WHERE tenant = ?");
    assert_eq!(shell.number(&gap), 0, "the sequence of events has no gap");
    answered.len()
}

/// A command that looks at what is stored finds every tenant sound.
pub(crate) fn check_stored(deployment: &Deployment, arguments: &[&str]) {
    let output = deployment.run(arguments, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.lines().all(|line| line.contains(" OK ")), "{text}");
}
