//! `handoffd inject-channel-message`, `observe-page-change`, `dump-events`: which words name a request, and which a channel.

use rusqlite::Connection as Shell;

use crate::support::{
    process::{Handoffd, run, url},
    tenant::Tenant,
};

#[test]
fn an_id_is_taken_as_it_stands_as_it_is_over_http() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("h.db");
    let tenant = Tenant::create(&database);
    let server = Handoffd::serve(&database, &[]);
    let connection = &mut server.connect();
    let id = tenant.raise(connection, "run:1").unwrap().text("id");
    let url = url(&database);
    let variables = [("HANDOFF_DATABASE_URL", url.as_str())];
    assert!(run(&["dump-events", "--request", &id], &variables).status.success());
    for near in [format!(" {id}"), format!("{id} "), format!("{id}\n"), id.to_lowercase(), String::new()] {
        let place = near.replace(' ', "%20").replace('\n', "%0A");
        let served = connection.call("GET", &format!("/v1/requests/{place}?"), &tenant.machine, "").unwrap();
        assert!(near.is_empty() || served.status == 404, "{served:?}");
        for arguments in [
            &["dump-events", "--request", &near][..],
            &["observe-page-change", "--request", &near],
            &["inject-channel-message", "--request", &near, "--text", "yes"],
        ] {
            let output = run(arguments, &variables);
            assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{arguments:?}");
            assert_eq!(output.stderr, b"handoffd: request_not_found: there is no such request\n");
        }
    }
    assert_eq!(events(&database), 1);
}

#[test]
fn a_channel_has_a_name_that_a_line_can_show() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("h.db");
    let tenant = Tenant::create(&database);
    let server = Handoffd::serve(&database, &[]);
    let id = tenant.raise(&mut server.connect(), "run:1").unwrap().text("id");
    let url = url(&database);
    let inject = |channel: &str| {
        let arguments = ["inject-channel-message", "--request", &id, "--channel", channel, "--text", "yes"];
        run(&arguments, &[("HANDOFF_DATABASE_URL", &url)])
    };
    for channel in ["", " ", "hunter2 ", "\thunter2", "hunt\ner2", "hunter2\u{1b}[2J", "\u{9b}", &"x".repeat(65)] {
        let output = inject(channel);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{channel:?}");
        assert!(said.starts_with("handoffd: invalid_request: `channel` must ") && !said.contains("hunter2"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    assert_eq!(events(&database), 1, "nothing was recorded");
    for channel in ["e-mail (work)", "Línea 4", &"ü".repeat(64)] {
        assert!(inject(channel).status.success(), "{channel:?}");
    }
    assert_eq!(events(&database), 4);
}

fn events(database: &std::path::Path) -> i64 {
    Shell::open(database).unwrap().query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap()
}
