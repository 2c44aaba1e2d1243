//! A process that dies in the middle of an answer leaves nothing of it behind.

use crate::support::{deployment::Deployment, tenant::Tenant};

on_every_store!(an_answer_that_dies_with_its_process_leaves_nothing_and_can_be_given_again);

fn an_answer_that_dies_with_its_process_leaves_nothing_and_can_be_given_again(deployment: &Deployment) {
    let tenant = Tenant::create(deployment);
    let mut server = deployment.serve(&[("HANDOFF_CRASH_POINT", "answer_after_state_write")]);
    let mut connection = server.connect();
    let request = tenant.raise(&mut connection, "run:1").unwrap().text("id");
    assert!(tenant.answer(&mut connection, &request).is_err(), "nobody is left to acknowledge it");
    server.wait_for_line("HANDOFF_CRASH_POINT reached");
    let (status, ..) = server.wait();
    assert!(!status.success());
    #[cfg(unix)]
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(6), "it aborted");

    let server = deployment.serve(&[]);
    let mut connection = server.connect();
    let found = connection.call("GET", &format!("/v1/requests/{request}"), &tenant.machine, "").unwrap();
    assert_eq!((found.text("state"), found.text("receipt")), ("pending".to_owned(), "null".to_owned()));
    let shell = deployment.shell();
    let count = |table: &str, condition: &str| -> i64 {
        shell.number(&format!("SELECT count(*) FROM {table} WHERE tenant = '{}' AND {condition}", tenant.id))
    };
    assert_eq!(count("events", "type <> 'request.raised'"), 0);
    for table in ["receipts", "signals", "authorizations"] {
        assert_eq!(count(table, "true"), 0, "{table}");
    }

    let answered = tenant.answer(&mut connection, &request).unwrap();
    assert_eq!(answered.status, 200, "{answered:?}");
    assert_eq!(count("events", "type = 'request.answered'"), 1);
    for table in ["receipts", "signals", "authorizations"] {
        assert_eq!(count(table, "true"), 1, "{table}");
    }
}
