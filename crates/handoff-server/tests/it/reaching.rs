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
    let command = |more: &str| format!("\n[[channels]]\nname = \"x\"\nkind = \"command\"\n{more}");
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
            "from` must be minutes after midnight, from 0 to 1439: 22:00 is 1320",
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
        (
            tenant(&format!(
                "[[tenants.people]]\nprincipal = \"{PERSON}\"\nquiet_hours = {{ from = \"22:00\", to = 0 }}"
            )),
            "from` must be minutes after midnight",
        ),
        (
            tenant("[[tenants.groups]]\nname = \"a\"\nmembers = []\n[[tenants.groups]]\nname = \"a\"\nmembers = []"),
            "`tenants: groups[1].name` must be another: `a` stands there already",
        ),
        (
            tenant(
                &"[[tenants.rotations]]\nname = \"r\"\nmembers = [\"P\"]\ntime_zone = \"UTC\"\n\
                     starts = \"2026-01-01T00:00\"\ndays = 1\n"
                    .replace('P', PERSON)
                    .repeat(2),
            ),
            "`tenants: rotations[1].name` must be another: `r` stands there already",
        ),
        (
            tenant(
                "[[tenants.rotations]]\nname = \"r\"\nmembers = []\ntime_zone = \"UTC\"\n\
                    starts = \"2026-01-01T00:00\"\ndays = 1\n",
            ),
            "`tenants: rotations[0].members` must name at least one person",
        ),
        (tenant("program = \"x\""), "`tenants: program` is not a known member"),
        (tenant("members = []"), "`tenants: members` is not a known member here; it belongs elsewhere"),
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
        ("\n[[channels]]\nname = \"pager\"\nkind = \"webhook\"".to_owned(), "two channels have one name, `pager`"),
        (
            command("program = \"/bin/cat\"\nenvironment = { \"A=B\" = \"c\" }"),
            "environment` holds a name that no variable",
        ),
        (
            command("program = \"/bin/cat\"\nenvironment = { A = \"c\\u0000d\" }"),
            "environment` must not hold the character NUL",
        ),
        (command("program = \"/bin/cat\"\narguments = [\"c\\u0000d\"]"), "arguments` must not hold the character NUL"),
        (command("program = \"/bin/cat\"\nsecrets = \"x\""), "secrets` is not a known member here"),
        ("\n[[channels]]\nname = \" \"\nkind = \"webhook\"".to_owned(), "name` must not begin or end with a blank"),
        ("\n[sinks]\nx = [\"/bin/cat\", \"[redacted]\"]".to_owned(), "put the argument itself"),
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
fn a_fault_in_a_tenant_is_told_by_its_own_line() {
    let directory = tempfile::tempdir().unwrap();
    let more = format!(
        "\n[[tenants]]\nid = \"org_01K3M7QW8ZC4YRXB2N6VD9FTHX\"\n\n[[tenants.people]]\nprincipal = \"{PERSON}\"\n\
         time_zone = \"Mars\"\n"
    );
    let path = write(directory.path(), &more);
    let wrong = fs::read_to_string(&path).unwrap().lines().position(|line| line.contains("Mars")).unwrap() + 1;
    let output = run(&["--config", path.to_str().unwrap(), "config", "check"], &[]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains(&format!("line {wrong}: `tenants: people[0].time_zone`")), "{wrong}: {text}");
}

#[test]
fn what_leads_nowhere_is_told_and_hinders_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (other, stranger) = ("org_01K3M7QW8ZC4YRXB2N6VD9FTHX", "usr_01K3M7QW8ZC4YRXB2N6VD9FTHZ");
    let policy = format!(
        r#"{{"v":1,"org_id":"{other}","routing":{{"default_targets":[{{"kind":"group","value":"financ"}}],"ladders":{{"high":
            {{"ladder":[{{"after":"PT0S","channels":["pigeon"],"to":{{"kind":"rotation","value":"on-cal"}}}}]}}}}}}}}"#
    );
    fs::write(directory.path().join("other.json"), policy).unwrap();
    fs::write(directory.path().join("plain"), "no program").unwrap();
    let more = format!(
        "\n[[channels]]\nname = \"gone\"\nkind = \"command\"\nprogram = \"/no/such\"\n\
         \n[[channels]]\nname = \"plain\"\nkind = \"command\"\nprogram = \"./plain\"\n\
         \n[[channels]]\nname = \"hook\"\nkind = \"webhook\"\n\
         \n[sinks]\nvault = [\"/no/vault\", \"--token=hunter2\"]\n\
         \n[[tenants]]\nid = \"{other}\"\npolicy = \"other.json\"\n\
         [[tenants.people]]\nprincipal = \"{PERSON}\"\ncontacts = [{{ channel = \"smoke\", address = \"hunter2\" }}]\n\
         [[tenants.groups]]\nname = \"empty\"\nmembers = []\n\
         [[tenants.groups]]\nname = \"odd\"\nmembers = [\"{stranger}\"]\n"
    );
    let path = write(directory.path(), &more);
    let output = run(&["--config", path.to_str().unwrap(), "config", "check"], &[]);
    let (printed, text) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{text}");
    for part in [
        "the channel `gone`: there is no program `/no/such`",
        "no program that can be started",
        "the channel `hook`: no secret signs",
        "the sink `vault`: there is no program `/no/vault`",
        "is for the channel `smoke`, which is not configured",
        "nobody is in the group `empty`",
        &format!("the group `odd` names who is not among `people` and is not reached: {stranger}"),
        "its policy names the channel `pigeon`",
        "its policy names the group `financ`",
        "its policy names the rotation `on-cal`",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert!(!text.contains("hunter2") && !printed.contains("hunter2"), "{text}{printed}");
    assert!(printed.contains("vault") && printed.contains("[\"/no/vault\", \"[redacted]\"]"), "{printed}");
    let server = Handoffd::start(handoffd(&["--config", path.to_str().unwrap()], &[]));
    server.terminate();
    let (_, _, log) = server.wait();
    assert!(log.contains("nobody is in the group `empty`"), "{log}");
}

#[test]
fn a_policy_that_this_server_cannot_carry_out_keeps_it_from_starting() {
    let directory = tempfile::tempdir().unwrap();
    for (members, fault) in [
        (r#""retention":{"receipts":"P1Y"}"#, "`retention.receipts` must be left out"),
        (r#""routin":{}"#, "`routin` is not a known member; did you mean `routing`?"),
        (
            r#""channels":[{"channel":"pager","max_grade":"seen","can_authenticate_person":false,"enabld":true}]"#,
            "`enabled`?",
        ),
        (
            r#""callbacks":{"endpoints":[{"url":"https://a.example","secret_refs":["nope"]}]}"#,
            "secret_refs[0]` must name",
        ),
        (r#""x-extensions":{"a":"hunter2hunter2hunter2"}"#, "`x-extensions.a` holds a secret"),
        (
            r#""routing":{"default_targets":[{"kind":"role","value":"boss"}]}"#,
            "default_targets[0].value` must be a role",
        ),
    ] {
        let path = write(directory.path(), "");
        let text = fs::read_to_string(&path).unwrap().replace("\"hunter2\"", "\"hunter2hunter2hunter2\"");
        fs::write(&path, text).unwrap();
        fs::write(directory.path().join("policy.json"), format!(r#"{{"v":1,"org_id":"{TENANT}",{members}}}"#)).unwrap();
        for words in [&["config", "check"][..], &["serve"]] {
            let output = run(&[&["--config", path.to_str().unwrap()], words].concat(), &[]);
            let text = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{members}: {text}");
            assert!(text.contains(fault) && !text.contains("hunter2"), "no `{fault}` in {text}");
        }
    }
}

#[test]
fn a_database_in_the_file_is_seen_from_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("handoff.toml");
    fs::write(&path, "database_url = \"sqlite:./data.db\"\n").unwrap();
    let output = run(&["--config", path.to_str().unwrap(), "config", "check"], &[]);
    let printed = String::from_utf8(output.stdout).unwrap();
    let place = format!("database_url = \"sqlite:{}", directory.path().display());
    assert!(printed.contains(&place) && printed.contains("data.db\""), "{printed}");
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
    for words in ["I approve this", "--yes", "--yes"] {
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
    let (well, long, _) = command(&["dump-events", "--request", &id, "--long"]);
    assert!(well && long.lines().count() == printed.lines().count());
    for (line, event_type) in long.lines().zip(printed.lines()) {
        let parts: Vec<&str> = line.splitn(4, ' ').collect();
        assert!(
            parts[0].ends_with('Z') && parts[1..3] == [event_type, id.as_str()] && parts[3].starts_with('{'),
            "{line}"
        );
    }
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
