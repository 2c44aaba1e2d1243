//! `handoffd dev`: nothing to configure, and what it prints works as printed.

use std::{fs, io::BufRead as _, path::Path};

use crate::support::{
    connection::Connection,
    process::{Handoffd, handoffd},
};

struct Dev {
    link: String,
    key: String,
    printed: String,
}

/// Runs `handoffd dev`, tries what is given while it runs, and reads what it printed.
fn dev(data: &Path, attempt: impl FnOnce(Connection, &Dev)) {
    let mut server = Handoffd::start(handoffd(&["dev", "--data", data.to_str().unwrap(), "--port", "0"], &[]));
    let connection = server.connect();
    let port = server.address.port();
    let mut printed = String::new();
    while !printed.contains("--options yes,no") {
        assert_ne!(server.out.read_line(&mut printed).unwrap(), 0, "it stopped printing after:\n{printed}");
    }
    let after = |mark: &str| {
        let (_, rest) = printed.split_once(mark).unwrap_or_else(|| panic!("no `{mark}` in {printed}"));
        rest.split_whitespace().next().unwrap().to_owned()
    };
    let link = after(&format!("http://localhost:{port}/enter/"));
    assert_eq!(after("HANDOFF_URL="), format!("http://localhost:{port}"));
    let dev = Dev { link, key: after("HANDOFF_API_KEY="), printed };
    attempt(connection, &dev);
}

#[test]
fn the_printed_link_lets_a_person_in_and_the_printed_key_asks() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("handoff-data");
    let mut keys = Vec::new();
    for _ in 0..2 {
        dev(&data, |mut connection, dev| {
            assert!(dev.printed.contains("handoff ask \"Ship version 1.0?\""), "{}", dev.printed);
            let path = format!("/enter/{}", dev.link);
            connection.send("GET", &path, "", "").unwrap();
            assert_eq!(connection.receive().unwrap().status, 200, "opening the link uses nothing up");
            connection.send("POST", &path, "Content-Type: application/x-www-form-urlencoded\r\n", "").unwrap();
            let entered = connection.receive().unwrap();
            assert_eq!((entered.status, entered.header("location")), (303, Some("/")), "{entered:?}");
            let cookie = entered.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
            connection.send("GET", "/", &format!("Cookie: {cookie}\r\n"), "").unwrap();
            assert_eq!(connection.receive().unwrap().status, 200);
            let listed = connection.call("GET", "/v1/requests", &dev.key, "").unwrap();
            assert_eq!(listed.status, 200, "{listed:?}");
            keys.push(dev.key.clone());
        });
    }
    assert_eq!(keys[0], keys[1], "the key is kept from run to run");
    #[cfg(unix)]
    for name in ["dev-key", "signing-key.json", "handoff.db"] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(data.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_key_that_is_no_longer_good_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("handoff-data");
    dev(&data, |_, _| {});
    let kept = fs::read_to_string(data.join("dev-key")).unwrap();
    fs::write(data.join("dev-key"), "hk_of_another_store").unwrap();
    dev(&data, |mut connection, dev| {
        assert_ne!(dev.key, kept);
        assert_eq!(connection.call("GET", "/v1/requests", &dev.key, "").unwrap().status, 200);
    });
}
