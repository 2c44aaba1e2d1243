//! `handoffd inject-channel-message`, `observe-page-change`, `dump-events`: which words name a request, and which a channel.

use crate::support::{deployment::Deployment, tenant::Tenant};

on_every_store!(an_id_is_taken_as_it_stands_as_it_is_over_http, a_channel_has_a_name_that_a_line_can_show);

fn an_id_is_taken_as_it_stands_as_it_is_over_http(deployment: &Deployment) {
    let tenant = Tenant::create(deployment);
    let server = deployment.serve(&[]);
    let connection = &mut server.connect();
    let id = tenant.raise(connection, "run:1").unwrap().text("id");
    assert!(deployment.run(&["dump-events", "--request", &id], &[]).status.success());
    for near in [format!(" {id}"), format!("{id} "), format!("{id}\n"), id.to_lowercase(), String::new()] {
        let place = near.replace(' ', "%20").replace('\n', "%0A");
        let served = connection.call("GET", &format!("/v1/requests/{place}?"), &tenant.machine, "").unwrap();
        assert!(near.is_empty() || served.status == 404, "{served:?}");
        for arguments in [
            &["dump-events", "--request", &near][..],
            &["observe-page-change", "--request", &near],
            &["inject-channel-message", "--request", &near, "--text", "yes"],
        ] {
            let output = deployment.run(arguments, &[]);
            assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{arguments:?}");
            assert_eq!(output.stderr, b"handoffd: request_not_found: there is no such request\n");
        }
    }
    assert_eq!(events(deployment), 1);
}

fn a_channel_has_a_name_that_a_line_can_show(deployment: &Deployment) {
    let tenant = Tenant::create(deployment);
    let server = deployment.serve(&[]);
    let id = tenant.raise(&mut server.connect(), "run:1").unwrap().text("id");
    let inject = |channel: &str| {
        let arguments = ["inject-channel-message", "--request", &id, "--channel", channel, "--text", "yes"];
        deployment.run(&arguments, &[])
    };
    for channel in ["", " ", "hunter2 ", "\thunter2", "hunt\ner2", "hunter2\u{1b}[2J", "\u{9b}", &"x".repeat(65)] {
        let output = inject(channel);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{channel:?}");
        assert!(said.starts_with("handoffd: invalid_request: `channel` must ") && !said.contains("hunter2"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    assert_eq!(events(deployment), 1, "nothing was recorded");
    for channel in ["e-mail (work)", "Línea 4", &"ü".repeat(64)] {
        assert!(inject(channel).status.success(), "{channel:?}");
    }
    assert_eq!(events(deployment), 4);
}

fn events(deployment: &Deployment) -> i64 {
    deployment.shell().number("SELECT count(*) FROM events")
}
