//! A build that faults can be planted in: it says so, has the one that it is told to have, and lists them all.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

use handoff_protocol::{json::read_str, planted::Fault};

use crate::support::{
    process::{Handoffd, run},
    tenant::Tenant,
};

#[expect(dead_code, reason = "shared with other tests, which use more of it")]
#[path = "../support/mod.rs"]
mod support;

const FAULT: (&str, &str) = ("HANDOFF_PLANTED_FAULT", "second-answer-settles");

#[test]
fn every_fault_is_listed_in_a_line_with_the_rule_that_it_breaks() {
    let output = run(&["planted-faults"], &[]);
    assert!(output.status.success() && output.stderr.is_empty());
    let lines = String::from_utf8(output.stdout).unwrap();
    let listed: Vec<[String; 3]> = lines
        .lines()
        .map(|line| {
            let fault = read_str(line).unwrap();
            ["name", "rule", "breaks"].map(|name| fault.get(name).unwrap().as_str().unwrap().to_owned())
        })
        .collect();
    let known = |fault: &Fault| [fault.name(), fault.rule(), fault.breaks()].map(str::to_owned);
    assert_eq!(listed, Fault::ALL.iter().map(known).collect::<Vec<_>>());
}

#[test]
fn the_page_says_of_every_fault_which_case_turned_red() {
    let page = include_str!("../../../../conformance/planted-faults.md");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    assert_eq!(rows.len(), Fault::ALL.len());
    for (fault, row) in Fault::ALL.iter().zip(rows) {
        let said = format!("| `{}` | {} | {} | `", fault.name(), fault.rule(), fault.breaks());
        assert!(row.starts_with(&said), "write the page anew: `cargo xtask conformance --planted --write`: {row}");
    }
}

#[test]
fn a_name_that_is_no_fault_lets_nothing_begin_and_the_faults_are_named() {
    for arguments in [&["serve"][..], &["--version"], &["canonicalize", "--json", "1"]] {
        let output = run(arguments, &[("HANDOFF_PLANTED_FAULT", "hunter2")]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
        assert!(said.contains("there is no such fault") && !said.contains("hunter2"), "{said}");
        assert!(Fault::ALL.iter().all(|fault| said.contains(fault.name())), "{said}");
    }
}

#[test]
fn the_version_and_the_log_say_which_fault_there_is() {
    let version = |variables: &[_]| String::from_utf8(run(&["--version"], variables).stdout).unwrap();
    assert!(version(&[]).contains("CAN HAVE FAULTS PLANTED, AND HAS NONE NOW"));
    assert!(version(&[FAULT]).contains("HAS THE PLANTED FAULT `second-answer-settles` (S-1)"));
    let directory = tempfile::tempdir().unwrap();
    // Whatever the filter says.
    let server = Handoffd::serve(&directory.path().join("h.db"), &[FAULT, ("RUST_LOG", "off")]);
    server.terminate();
    let (_, _, log) = server.wait();
    assert!(log.contains("HAS THE PLANTED FAULT `second-answer-settles`"), "{log}");
    assert!(!log.contains("is not a variable of this server"), "{log}");
}

#[test]
fn the_fault_that_was_asked_for_is_there_and_none_is_without_asking() {
    for (variables, second) in [(&[][..], 409), (&[FAULT], 200)] {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("h.db");
        let tenant = Tenant::create(&database);
        let server = Handoffd::serve(&database, variables);
        let connection = &mut server.connect();
        let request = tenant.raise(connection, "run:1").unwrap().text("id");
        let statuses = [(); 2].map(|()| tenant.answer(connection, &request).unwrap().status);
        assert_eq!(statuses, [200, second]);
    }
}
