//! People, policies and channels of a configuration, through to a real program; and what operators put into the record.
#![cfg(unix)]

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use handoff_protocol::json::{Json, read_str};

use crate::{
    home::{TENANT, answer, document, machine, person, raise},
    support::process::{Handoffd, handoffd, run, url},
};

const PERSON: &str = "usr_01K3M7QW8ZC4YRXB2N6VD9FTHE";

/// A deployment that pages one person at once, through a program that writes down what it reads.
fn write(directory: &Path, more: &str) -> PathBuf {
    let at = |name: &str| directory.join(name).display().to_string();
    fs::write(directory.join("page.sh"), format!("/bin/cat >> {}\n", at("paged"))).unwrap();
    fs::write(directory.join("people.json"), document(&[machine("t-m", ""), person("t-p", "")])).unwrap();
    let policy = format!(
        r#"{{"v":1,"org_id":"{TENANT}","routing":{{"ladders":{{"high":{{"targets":[{{"kind":"group","value":"finance"}}],
            "ladder":[{{"after":"PT0S","channels":["inapp","pager"]}}]}}}}}}}}"#
    );
    fs::write(directory.join("policy.json"), policy).unwrap();
    let path = directory.join("handoff.toml");
    let text = format!(
        "database_url = \"sqlite:{}\"\nbind = \"127.0.0.1:0\"\nsweep_interval_ms = 50\nbootstrap = \"people.json\"\n\n\
         [[channels]]\nname = \"pager\"\nkind = \"command\"\nprogram = \"/bin/sh\"\narguments = [\"{}\"]\n\
         environment = {{ REGION = \"hunter2\" }}\n\n\
         [[tenants]]\nid = \"{TENANT}\"\npolicy = \"policy.json\"\n\n\
         [[tenants.people]]\nprincipal = \"{PERSON}\"\ndisplay = \"Dana\"\ntime_zone = \"Europe/Berlin\"\n\
         quiet_hours = {{ from = 1320, to = 420 }}\n\
         contacts = [{{ channel = \"pager\", address = \"hunter2-4711\", verified = true }}]\n\n\
         [[tenants.groups]]\nname = \"finance\"\nmembers = [\"{PERSON}\"]\n\n\
         [[tenants.rotations]]\nname = \"on-call\"\nmembers = [\"{PERSON}\"]\ntime_zone = \"Europe/Berlin\"\n\
         starts = \"2026-03-23T09:00\"\ndays = 7\n{more}",
        at("h.db"),
        at("page.sh")
    );
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_person_of_the_configuration_is_paged_and_the_page_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "");
    let server = Handoffd::start(handoffd(&["--config", path.to_str().unwrap()], &[]));
    let connection = &mut server.connect();
    // What is critical is not held back at night, and the ladder is that of what is high.
    let request = raise(connection, "t-m", "run:1", "session", r#","urgency":"high""#);
    let id = request.text("id");
    let began = Instant::now();
    let paged = loop {
        let answer = connection.call("GET", &format!("/v1/requests/{id}/deliveries"), "t-m", "").unwrap();
        let deliveries = read_str(&answer.body).unwrap();
        let pager = deliveries.pointer("/data/1").unwrap().clone();
        let state = pager.get("state").and_then(Json::as_str).unwrap().to_owned();
        if !matches!(state.as_str(), "queued" | "sending") {
            break pager;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{}", answer.body);
        thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(paged.pointer("/target/value").unwrap().as_str(), Some(PERSON));
    match paged.get("state").and_then(Json::as_str).unwrap() {
        // It is night in Berlin while this test runs.
        "suppressed" => assert_eq!(paged.get("suppressed_reason").unwrap().as_str(), Some("quiet_hours")),
        state => {
            assert_eq!(state, "dispatched");
            let read = read_str(fs::read_to_string(directory.path().join("paged")).unwrap().trim_end()).unwrap();
            assert_eq!(read.get("address").unwrap().as_str(), Some("hunter2-4711"));
            assert_eq!(read.get("request_id").unwrap().as_str(), Some(id.as_str()));
        }
    }
    // A member of the group may answer what the group is asked.
    assert_eq!(answer(connection, "t-p", &id).status, 200);
    server.terminate();
    let (_, printed, log) = server.wait();
    assert!(!printed.contains("hunter2") && !log.contains("hunter2"), "{log}");
    let kept = fs::read(directory.path().join("h.db")).unwrap();
    assert!(!kept.windows(7).any(|bytes| bytes == b"hunter2"), "an address is kept nowhere");
}

#[test]
fn the_sections_are_printed_without_addresses_and_can_be_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "");
    let output = run(&["--config", path.to_str().unwrap(), "config", "check"], &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for part in ["[[channels]]", "kind = \"command\"", "[[tenants]]", "policy.json", "Europe/Berlin", "days = 7"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert!(!text.contains("hunter2"), "{text}");
    let again = directory.path().join("again.toml");
    fs::write(&again, &text).unwrap();
    let refused = run(&["--config", again.to_str().unwrap(), "config", "check"], &[]);
    assert!(String::from_utf8(refused.stderr).unwrap().contains("put the "), "a redacted value is none");
    fs::write(&again, text.replace("[redacted]", "something")).unwrap();
    let output = run(&["--config", again.to_str().unwrap(), "config", "check"], &[]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
}

#[test]
fn a_fault_in_a_section_names_its_place_and_the_mend() {
    let directory = tempfile::tempdir().unwrap();
    let policy = |text: &str| fs::write(directory.path().join("other.json"), text).unwrap();
    policy(&format!(r#"{{"v":2,"org_id":"{TENANT}"}}"#));
    let other = "org_01K3M7QW8ZC4YRXB2N6VD9FTHX";
    let tenant = |more: &str| format!("\n[[tenants]]\nid = \"{other}\"\n{more}");
    for (more, fault) in [
        ("\n[[tenant]]\nid = 1".to_owned(), "did you mean `tenants`?"),
        (format!("\n[[tenants]]\nid = \"{TENANT}\"\n"), "one tenant stands here twice"),
        (tenant("polic = \"x\""), "`tenants: polic` is not a known member; did you mean `policy`?"),
        (
            tenant("[[tenants.people]]\nprincipal = \"hunter2\""),
            "`tenants: people[0].principal` must be the id of a person",
        ),
        (
            tenant(&format!("[[tenants.people]]\nprincipal = \"{PERSON}\"\ntime_zone = \"hunter2\"")),
            "people[0].time_zone` is no time zone",
        ),
        (
            tenant(&format!("[[tenants.people]]\nprincipal = \"{PERSON}\"\nquiet_hours = {{ from = 1440, to = 0 }}")),
            "from` must be an integer from 0 to 1439",
        ),
        (
            tenant(&format!("[[tenants.people]]\nprincipal = \"{PERSON}\"\ncontacts = [{{ chanel = \"x\" }}]")),
            "contacts[0].address` is required",
        ),
        (
            tenant(&format!(
                "[[tenants.people]]\nprincipal = \"{PERSON}\"\n[[tenants.people]]\nprincipal = \"{PERSON}\""
            )),
            "must hold each principal once",
        ),
        (tenant("policy = \"other.json\""), "`v` must be 1"),
        (tenant("policy = \"missing.json\""), "missing.json`: "),
        (
            "\n[[channels]]\nname = \"inapp\"\nkind = \"command\"\nprogram = \"x\"".to_owned(),
            "`channels: name` must be another",
        ),
        (
            "\n[[channels]]\nname = \"x\"\nkind = \"telepathy\"".to_owned(),
            "`channels: kind` must be one of `command`, `webhook`",
        ),
        ("\n[[channels]]\nname = \"pager\"\nkind = \"webhook\"".to_owned(), "two channels have the name `pager`"),
        (
            "\n[[channels]]\nname = \"x\"\nkind = \"webhook\"\nsecrets = \"hunter2\"".to_owned(),
            "the channel `x` names a set of `callback_secret_sets` that is not there; there is none",
        ),
        (
            "\n[[channels]]\nname = \"x\"\nkind = \"command\"\nprogram = \"x\"\ntime_limit_seconds = 60".to_owned(),
            "time_limit_seconds` must be an integer from 1 to 9",
        ),
    ] {
        // A section that is wrong comes first or last, it is wrong either way.
        let path = write(directory.path(), &more);
        let output = run(&["--config", path.to_str().unwrap(), "config", "check"], &[]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{more}: {text}");
        assert!(text.contains("handoffd: ") && text.contains(fault), "no `{fault}` in {text}");
        assert!(!text.contains("hunter2"), "{text}");
        assert!(!directory.path().join("h.db").exists(), "nothing was made");
    }
}

#[test]
fn what_operators_record_settles_nothing_and_what_happened_is_one_line_each() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("h.db");
    let entries = document(&[machine("t-m", ""), person("t-p", "")]);
    let server = Handoffd::serve(&database, &[("HANDOFF_BOOTSTRAP_JSON", &entries)]);
    let connection = &mut server.connect();
    let id = raise(connection, "t-m", "run:1", "session", "").text("id");
    let url = url(&database);
    let command = |arguments: &[&str]| {
        let output = run(arguments, &[("HANDOFF_DATABASE_URL", &url)]);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    for words in ["I approve this", "yes", "yes"] {
        let (well, printed, _) = command(&["inject-channel-message", "--request", &id, "--text", words]);
        let parts: Vec<&str> = printed.split_whitespace().collect();
        assert!(well && parts.len() == 3 && parts[0].starts_with("msg_"), "{printed}");
        assert_eq!(parts[1..], [id.as_str(), "pending"]);
    }
    let (well, printed, _) = command(&["observe-page-change", "--request", &id]);
    assert!(well && printed.starts_with("obs_") && printed.trim_end().ends_with("pending"), "{printed}");
    let (well, _, _) = command(&["inject-channel-message", "--request", &id, "--channel", "slack", "--text", "no"]);
    assert!(well);
    let request = connection.call("GET", &format!("/v1/requests/{id}"), "t-m", "").unwrap();
    assert_eq!(request.text("state"), "pending");
    assert!(request.body.contains(r#""receipt":null"#) && !request.body.contains("I approve"), "{request:?}");
    let signals = connection.call("GET", "/v1/waiters/run:1/signals", "t-m", "").unwrap();
    assert!(signals.body.starts_with(r#"{"data":[]"#), "{signals:?}");
    assert_eq!(answer(connection, "t-p", &id).status, 200);
    let (well, printed, _) = command(&["dump-events", "--request", &id]);
    let types: Vec<&str> = printed.lines().filter(|line| *line != "delivery.transitioned").collect();
    assert!(well);
    assert_eq!(
        types,
        [
            "request.raised",
            "channel.message_received",
            "channel.message_received",
            "channel.message_received",
            "runtime.observation",
            "channel.message_received",
            "request.answered"
        ]
    );
    for unknown in ["req_01K3M7QW9A8ZC4YRXB2N6VD9FT", "nonsense"] {
        for arguments in [
            vec!["dump-events", "--request", unknown],
            vec!["observe-page-change", "--request", unknown],
            vec!["inject-channel-message", "--request", unknown, "--text", "x"],
        ] {
            let (well, _, said) = command(&arguments);
            assert!(!well && said.contains("request_not_found"), "{arguments:?}: {said}");
        }
    }
}
