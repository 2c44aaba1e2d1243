//! A process that dies in the middle of an answer leaves nothing of it behind.

use rusqlite::Connection as Shell;

use crate::support::{process::Handoffd, tenant::Tenant};

#[test]
fn an_answer_that_dies_with_its_process_leaves_nothing_and_can_be_given_again() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("handoff.db");
    let tenant = Tenant::create(&database);
    let mut server = Handoffd::serve(&database, &[("HANDOFF_CRASH_POINT", "answer_after_state_write")]);
    let mut connection = server.connect();
    let request = tenant.raise(&mut connection, "run:1").unwrap().text("id");
    assert!(tenant.answer(&mut connection, &request).is_err(), "nobody is left to acknowledge it");
    server.wait_for_line("HANDOFF_CRASH_POINT reached");
    let (status, ..) = server.wait();
    assert!(!status.success());
    #[cfg(unix)]
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(6), "it aborted");

    let server = Handoffd::serve(&database, &[]);
    let mut connection = server.connect();
    let found = connection.call("GET", &format!("/v1/requests/{request}"), &tenant.machine, "").unwrap();
    assert_eq!((found.text("state"), found.text("receipt")), ("pending".to_owned(), "null".to_owned()));
    let shell = Shell::open(&database).unwrap();
    let count = |table: &str, condition: &str| -> i64 {
        let query = format!("SELECT count(*) FROM {table} WHERE tenant = ? AND {condition}");
        shell.query_row(&query, [tenant.id.to_string()], |row| row.get(0)).unwrap()
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
