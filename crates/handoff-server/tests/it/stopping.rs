//! A stop lets everything that was begun come to its end, soon.

use std::{
    io::{self, BufRead as _},
    time::{Duration, Instant},
};

use crate::support::{connection::Connection, deployment::Deployment, tenant::Tenant};

on_every_store!(a_held_poll_is_answered_when_the_server_stops, connections_without_a_call_do_not_hold_up_the_stop);

/// Whether no answer comes for a while: how a held poll looks from outside.
fn is_held(poll: &mut Connection) -> bool {
    let patience = poll.stream.get_ref().read_timeout().unwrap();
    poll.stream.get_ref().set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let outcome = poll.stream.fill_buf().map(<[u8]>::len);
    poll.stream.get_ref().set_read_timeout(patience).unwrap();
    outcome.is_err_and(|error| matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut))
}

fn a_held_poll_is_answered_when_the_server_stops(deployment: &Deployment) {
    let tenant = Tenant::create(deployment);
    let server = deployment.serve(&[]);
    let request = tenant.raise(&mut server.connect(), "run:1").unwrap().text("id");
    let authorization = format!("Authorization: Bearer {}\r\n", tenant.machine);
    let mut polls = [server.connect(), server.connect()];
    let paths = ["/v1/waiters/run:1/signals?wait=30".to_owned(), format!("/v1/requests/{request}?wait=30")];
    for (poll, path) in polls.iter_mut().zip(&paths) {
        poll.send("GET", path, &authorization, "").unwrap();
    }
    for poll in &mut polls {
        assert!(is_held(poll));
    }

    let began = Instant::now();
    server.terminate();
    let statuses = polls.map(|mut poll| poll.receive().unwrap().status);
    assert_eq!(statuses, [204, 200], "an empty list, and the request as it stands");
    let (status, _, log) = server.wait();
    assert!(began.elapsed() < Duration::from_secs(5), "it took {:?}", began.elapsed());
    assert!(status.success(), "{status}");
    assert!(log.contains("stopping") && log.contains("stopped"), "{log}");
}

fn connections_without_a_call_do_not_hold_up_the_stop(deployment: &Deployment) {
    let server = deployment.serve(&[]);
    let mut used = server.connect();
    let unused = server.connect();
    assert_eq!(used.call("GET", "/v1/meta", "", "").unwrap().status, 200);
    let began = Instant::now();
    server.terminate();
    assert!(server.wait().0.success());
    assert!(began.elapsed() < Duration::from_secs(5), "it took {:?}", began.elapsed());
    assert!(used.call("GET", "/v1/meta", "", "").is_err());
    drop(unused);
}
