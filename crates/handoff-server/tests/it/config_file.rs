//! The configuration file: its keys, what wins over it, and what is said of a fault.

use std::{
    fs,
    path::{Path, PathBuf},
};

use handoff_protocol::json::{Json, read_str};

use crate::{
    home::{document, machine, person},
    support::{
        deployment::Deployment,
        process::{Handoffd, handoffd, run},
    },
};

fn write(directory: &Path, text: &str) -> PathBuf {
    let path = directory.join("handoff.toml");
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn the_effective_configuration_is_printed_and_can_be_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let entries = document(&[machine("hunter2", "")]);
    let schema = directory.path().join("order.json");
    fs::write(&schema, r#"{"type":"object"}"#).unwrap();
    let quoted = Json::from(entries.as_str()).to_text();
    let path = write(
        directory.path(),
        &format!(
            "database_url = 'sqlite:{}/a.db'\nbind = \"127.0.0.1:7\"\nlink_only_permitted = true\nmax_quorum = 3\nsweep_interval_ms = 100\n\
             rate_limit_per_minute = 5\nidempotency_window = \"P2D\"\nlog = \"json\"\nsigning_key_file = \"k.json\"\n\
             bootstrap_json = {quoted}\ncallback_secrets = \"whsec_hunter2\"\ncallback_guard = true\n\
             continuation_keys = \"k1:{}\"\n\n[callback_secret_sets]\nbilling = [\"whsec_hunter2\", \"whsec_b\"]\n\
             own = {{ owner = \"org_01K3M7QW8ZC4YRXB2N6VD9FTHE\", secrets = [\"whsec_hunter2\"] }}\n\n\
             [[callback_endpoints]]\nowner = \"org_01K3M7QW8ZC4YRXB2N6VD9FTHE\"\nsecrets = \"billing\"\n\n\
             [[callback_endpoints]]\nurl = \"https://a.example/cb?token=hunter2\"\n\n\
             [[callback_endpoints]]\nurl = \"https://b.example\"\n\n[schemas]\n\"https://a.example/order\" = \"order.json\"\n\
             [sinks]\nvault = [\"bin/put\", \"-v\"]\ndefault = [\"true\"]\n",
            directory.path().display(),
            "0".repeat(64)
        ),
    );
    let variables = [("HANDOFF_CONFIG", path.to_str().unwrap()), ("HANDOFF_BIND", "127.0.0.1:9")];
    let output = run(&["config", "check"], &variables);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let key = directory.path().join("k.json");
    for line in [
        &format!("database_url = \"sqlite:{}/a.db\"", directory.path().display()),
        "bind = \"127.0.0.1:9\"",
        "public_base = \"http://127.0.0.1:9\"",
        "link_only_permitted = true",
        "max_quorum = 3",
        "rate_limit_per_minute = 5",
        "idempotency_window = \"PT48H\"",
        "bootstrap_json = \"[redacted]\"",
        "callback_secrets = \"[redacted]\"",
        "callback_guard = true",
        "continuation_keys = \"[redacted]\"",
        "\"billing\" = [\"[redacted]\", \"[redacted]\"]",
        "owner = \"org_01K3M7QW8ZC4YRXB2N6VD9FTHE\"",
        "\"own\" = { owner = \"org_01K3M7QW8ZC4YRXB2N6VD9FTHE\", secrets = [\"[redacted]\"] }",
        "url = \"https://a.example/[redacted]\"",
        "url = \"https://b.example\"",
        "format = \"handoff\"",
        "# max_connections is not set",
        "capability_transport_base = \"wss://127.0.0.1:8443\"",
        "\"default\" = [\"true\"]",
        &format!("\"vault\" = [\"{}\", \"[redacted]\"]", directory.path().join("bin/put").display()),
        "# 1 principal is loaded at the start",
        &format!("signing_key_file = \"{}\"", key.display()),
        &format!("\"https://a.example/order\" = \"{}\"", schema.display()),
    ] {
        assert!(text.lines().any(|printed| printed == line), "no `{line}` in {text}");
    }
    assert!(!text.contains("hunter2"), "{text}");

    // What was redacted is not taken for what it was.
    let without = text.replace("bootstrap_json", "# bootstrap_json");
    let with_address = without.replace("/[redacted]", "/cb");
    for (text, mend) in [(&without, "put the address itself"), (&with_address, "put the secret itself")] {
        let redacted = write(directory.path(), text);
        let refused = run(&["--config", redacted.to_str().unwrap(), "config", "check"], &[]);
        let words = String::from_utf8(refused.stderr).unwrap();
        assert!(words.contains(mend), "no `{mend}` in {words}");
    }
    let whole = with_address.replace("\"[redacted]\"", "\"whsec_c\"");
    let again = write(directory.path(), &whole.replace("continuation_keys", "# continuation_keys"));
    let output = run(&["--config", again.to_str().unwrap(), "config", "check"], &[]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && printed.contains("bind = \"127.0.0.1:9\""), "{printed}");
}

#[test]
fn a_fault_names_the_line_and_the_mend_and_repeats_no_value() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("broken.json"), r#"{"type":"sausage"}"#).unwrap();
    let secrets: Vec<String> = (0..17).map(|n| format!("whsec_hunter2{n}")).collect();
    let too_many = format!("callback_secrets = \"{}\"", secrets.join(","));
    let too_many_named = format!("[callback_secret_sets]\nb = [\"{}\"]", secrets.join("\", \""));
    for (line, fault) in [
        ("bnd = \"hunter2\"", "line 2: `bnd` is not a known key; did you mean `bind`?"),
        ("link_only_permited = true", "did you mean `link_only_permitted`?"),
        ("zzz = \"hunter2\"", "line 2: `zzz` is not a known key"),
        ("bind = \"hunter2\"", "line 2: `bind`: expected an IP address"),
        ("bind = 8080", "line 2: `bind`: expected text in quotes"),
        ("sweep_interval_ms = 49", "line 2: `sweep_interval_ms`: expected a number of milliseconds, 50 or more"),
        ("max_connections = 1", "line 2: `max_connections`: expected a number, 2 or more"),
        ("sweep_interval_ms = \"hunter2\"", "line 2: `sweep_interval_ms`: expected a whole number"),
        ("link_only_permitted = \"hunter2\"", "line 2: `link_only_permitted`: expected `true`"),
        ("log = \"hunter2\"", "line 2: `log`: expected `text`"),
        ("bind = hunter2", "line 2: is no TOML"),
        ("callback_secrets = [\"hunter2\"]", "line 2: `callback_secrets`: expected text in quotes"),
        ("callback_secret_sets = \"hunter2\"", "line 2: `callback_secret_sets` is a section"),
        ("[callback_secret_sets]\nbilling = \"hunter2\"", "line 3: `callback_secret_sets` is a section"),
        ("[callback_secret_sets]\nbilling = [\"\"]", "line 3: a callback secret must not be empty"),
        ("[callback_endpoints]\nurl = \"https://hunter2.example\"", "line 2: `callback_endpoints` is a list"),
        ("[[callback_endpoints]]\nurl = \"hunter2\"", "line 3: `url`: must be an absolute address"),
        ("[[callback_endpoints]]\nurl = \"https://hunter2:99999/\"", "line 3: `url`: must have a port from 1 to 65535"),
        ("[[callback_endpoints]]\nurl = \"https://u:hunter2@a/\"", "line 3: `url`: must not have a user"),
        ("[[callback_endpoints]]\nowner = \"hunter2\"", "line 3: `owner`: expected the id of a machine"),
        ("[[callback_endpoints]]\nowner = \"usr_01K3M7QW8ZC4YRXB2N6VD9FTHE\"", "line 3: `owner`: expected the id of a"),
        (too_many.as_str(), "line 2: `callback_secrets`: at most 16 secrets can be active at once"),
        (too_many_named.as_str(), "line 3: at most 16 secrets can be active at once"),
        ("[callback_secret_sets]\nb = { owner = \"hunter2\", secrets = [] }", "line 3: `owner`: expected the id"),
        (
            "[callback_secret_sets]\nb = { secrets = [\"a\"], x = \"hunter2\" }",
            "line 3: `callback_secret_sets` is a section",
        ),
        (
            "[callback_secret_sets]\nb = { owner = \"org_01K3M7QW8ZC4YRXB2N6VD9FTHE\" }",
            "line 3: `callback_secret_sets` is",
        ),
        (
            "[callback_secret_sets]\nb = { owner = \"org_01K3M7QW8ZC4YRXB2N6VD9FTHE\", secrets = [\"a\"] }\n\
             [[callback_endpoints]]\nurl = \"https://a.example\"\nsecrets = \"b\"",
            "line 4: the set `b` is bound to an owner that is not the endpoint's",
        ),
        (
            "[callback_secret_sets]\nb = { owner = \"org_01K3M7QW8ZC4YRXB2N6VD9FTHE\", secrets = [\"a\"] }\n\
             [[channels]]\nname = \"x\"\nkind = \"webhook\"\nsecrets = \"b\"",
            "the channel `x` serves every tenant and names the set `b`, which is bound to an owner",
        ),
        (
            "[callback_secret_sets]\nbilling = [\"a\"]\n[[callback_endpoints]]\nurl = \"https://a.example\"\nsecrets = \
             \"hunter2\"",
            "that is not there; there are `billing`",
        ),
        ("[[callback_endpoints]]\nformat = \"hunter2\"", "line 3: `format`: expected `handoff` or"),
        ("[[callback_endpoints]]\nformat = \"handoff\"", "line 2: an endpoint has a `url`, an `owner`, or both"),
        ("[[callback_endpoints]]\nurl = \"https://a.example\"", "line 2: its secrets are not configured"),
        (
            "[[callback_endpoints]]\nurl = \"https://a.example\"\nsecrets = \"hunter2\"",
            "line 2: its secrets are not configured",
        ),
        (
            "callback_secrets = \"whsec_hunter2\"\n[[callback_endpoints]]\nurl = \"https://a.example\"\n\
             format = \"standard-webhooks\"",
            "line 3: for `standard-webhooks`, each of its secrets is",
        ),
        ("schemas = \"hunter2\"", "line 2: `schemas` is a section"),
        (
            "capability_transport_base = \"hunter2\"",
            "line 2: `capability_transport_base`: expected the address of a relay",
        ),
        ("sinks = \"hunter2\"", "line 2: `sinks` is a section"),
        ("[sinks]\nvault = \"hunter2\"", "line 3: expected a program and its arguments"),
        ("[sinks]\nvault = []", "line 3: expected a program and its arguments"),
        ("[sinks]\nvault = [\"hunter2\", 7]", "line 3: expected a program and its arguments"),
        ("[schemas]\n\"https://a.example/order\" = 7", "line 3: expected the path"),
        ("[schemas]\n\"https://a.example/order\" = \"broken.json\"", "broken.json`: "),
        ("[schemas]\n\"https://a.example/order\" = \"missing.json\"", "missing.json`: "),
        ("bootstrap = \"missing.json\"", "missing.json`: "),
    ] {
        let path = write(
            directory.path(),
            &format!("database_url = \"sqlite:{}/h.db\"\n{line}\n", directory.path().display()),
        );
        for arguments in [&["config", "check"][..], &["serve"]] {
            let mut command = handoffd(arguments, &[("HANDOFF_CONFIG", path.to_str().unwrap())]);
            if arguments == ["serve"] && !line.starts_with("bind") {
                command.env("HANDOFF_BIND", "127.0.0.1:0");
            }
            let output = command.output().unwrap();
            let text = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{text}");
            assert!(text.contains("handoffd: ") && text.contains(fault), "no `{fault}` in {text}");
            assert!(!text.contains("hunter2"), "{text}");
        }
        assert!(!directory.path().join("h.db").exists(), "nothing was made");
    }
}

#[test]
fn a_server_runs_from_its_file_alone_and_checks_documents_against_registered_schemas() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("order.json"), r#"{"type":"object","required":["n"]}"#).unwrap();
    fs::write(directory.path().join("people.json"), document(&[machine("t-m", ""), person("t-p", "")])).unwrap();
    let path = write(
        directory.path(),
        &format!(
            "database_url = \"sqlite:{}/h.db\"\nbind = \"127.0.0.1:0\"\nrate_limit_per_minute = 4\n\
             bootstrap = \"people.json\"\n[schemas]\n\"https://a.example/order\" = \"order.json\"\n",
            directory.path().display()
        ),
    );
    let server = Handoffd::start(handoffd(&["--config", path.to_str().unwrap()], &[]));
    let connection = &mut server.connect();
    let body = r#"{"waiter_ref":"run:1","prompt":{"title":"Order?"},"requires":{"v":1,"answer":{"fields":
        [{"name":"order","type":"document","required":true,"schema_ref":"https://a.example/order"}]}}}"#;
    let request = connection.call("POST", "/v1/requests", "t-m", body).unwrap().text("id");
    let path = format!("/v1/requests/{request}/answer");
    let refused = connection.call("POST", &path, "t-p", r#"{"values":{"order":{"m":1}}}"#).unwrap();
    assert_eq!((refused.status, refused.body.contains("schema_violation")), (422, true), "{refused:?}");
    let answered = connection.call("POST", &path, "t-p", r#"{"values":{"order":{"n":1}}}"#).unwrap();
    assert_eq!(answered.status, 200, "{answered:?}");

    assert_eq!(answered.header("x-ratelimit-limit"), Some("4"));
    // A new minute may begin in between, once.
    let mut statuses = (0..10).map(|_| connection.call("GET", "/v1/requests", "t-p", "").unwrap().status);
    assert!(statuses.any(|status| status == 429));
    let other = connection.call("GET", "/v1/requests", "t-m", "").unwrap();
    assert_eq!(other.status, 200, "another credential has calls of its own: {:?}", read_str(&other.body));
}

#[test]
fn a_check_fails_on_what_would_keep_a_server_from_starting() {
    let directory = tempfile::tempdir().unwrap();
    let check = |database: &str, key: &str| {
        let (database, key) = (format!("sqlite:{}/{database}", directory.path().display()), directory.path().join(key));
        let variables =
            [("HANDOFF_DATABASE_URL", database.as_str()), ("HANDOFF_SIGNING_KEY_FILE", key.to_str().unwrap())];
        let output = run(&["config", "check"], &variables);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    fs::write(directory.path().join("file"), "{}").unwrap();
    for (database, key, fault) in [
        ("nowhere/h.db", "k.json", "handoffd: HANDOFF_DATABASE_URL: the directory `"),
        ("h.db", "nowhere/k.json", "handoffd: HANDOFF_SIGNING_KEY_FILE: the directory `"),
        ("h.db", "file/k.json", "handoffd: HANDOFF_SIGNING_KEY_FILE: the directory `"),
        ("h.db", "file", "chmod 600"),
    ] {
        let (code, words) = check(database, key);
        assert_eq!(code, Some(1), "{words}");
        assert!(words.contains(fault), "no `{fault}` in {words}");
        assert!(!fault.contains("nowhere") || words.contains("does not exist; create it first"), "{words}");
    }
    assert_eq!(check("h.db", "k.json"), (Some(0), String::new()));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "looking makes nothing");
}

#[test]
fn a_variable_that_says_nothing_is_a_warning_at_the_check_and_at_the_start() {
    let deployment = Deployment::sqlite();
    let entries = document(&[machine("t-m", r#","scopes":["handoff:request:write"]"#)]);
    let variables = [
        ("HANDOFF_PUBLIC_URL", "hunter2"),
        ("HANDOFF_URL", "http://127.0.0.1:8080"),
        ("HANDOFF_API_KEY", "hunter2"),
        ("HANDOFF_BOOTSTRAP_JSON", entries.as_str()),
    ];
    let output = deployment.run(&["config", "check"], &variables);
    assert!(output.status.success(), "{output:?}");
    let checked = String::from_utf8(output.stderr).unwrap();
    let server = deployment.serve(&[&variables[..], &[("RUST_LOG", "error")]].concat());
    server.terminate();
    let (_, _, started) = server.wait();
    for words in [checked, started] {
        assert!(words.contains("HANDOFF_PUBLIC_URL is not a variable"), "{words}");
        assert!(words.contains("did you mean HANDOFF_PUBLIC_BASE?"), "{words}");
        assert!(words.contains("`principals[0].scopes[0]` is no scope"), "{words}");
        assert!(words.contains("did you mean `handoff:requests:write`?"), "{words}");
        assert!(!words.contains("HANDOFF_URL") && !words.contains("HANDOFF_API_KEY"), "{words}");
        assert!(!words.contains("hunter2"), "{words}");
    }
}
