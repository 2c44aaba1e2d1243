//! Bounds on connections: heads that are slow or long.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use crate::support::deployment::Deployment;

#[test]
fn a_head_that_does_not_come_to_its_end_ends_its_connection() {
    let deployment = Deployment::sqlite();
    let server = deployment.serve(&[]);
    let mut slow = TcpStream::connect(server.address).unwrap();
    slow.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    slow.write_all(b"GET /v1/meta HTTP/1.1\r\nHost: a\r\nX-Slow: ").unwrap();
    let began = Instant::now();
    let mut rest = Vec::new();
    // An ending with an error is one as well.
    let _ = slow.read_to_end(&mut rest);
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(9) && took < Duration::from_secs(30), "it took {took:?}");
    assert!(!rest.starts_with(b"HTTP/1.1 2"), "{rest:?}");
}

#[test]
fn a_head_that_is_long_or_has_many_headers_is_refused_and_the_server_goes_on() {
    let deployment = Deployment::sqlite();
    let server = deployment.serve(&[]);
    let long = format!("X-Long: {}\r\n", "a".repeat(200_000));
    let many = "X-Many: a\r\n".repeat(200);
    for headers in [long, many] {
        let mut connection = server.connect();
        // The server may close before everything is written.
        let answer = connection.send("GET", "/v1/meta", &headers, "").and_then(|()| connection.receive());
        assert!(answer.as_ref().map_or(true, |answer| answer.status == 431), "{answer:?}");
    }
    assert_eq!(server.connect().call("GET", "/v1/meta", "", "").unwrap().status, 200);
    assert_eq!(server.connect().call("GET", "/healthz", "", "").unwrap().status, 200);
}
