//! Principals and tokens that a deployment brings along.

use std::fs;

use handoff_protocol::{digest::Digest, id::OrgId};

use crate::{
    home::{TENANT, answer, document, link, machine, person, raise, receipt},
    support::{deployment::Deployment, process::run, tenant::with_engine},
};

on_every_store!(
    a_machine_asks_and_a_person_answers_and_a_link_answers_only_where_it_may,
    strengths_count_as_the_tokens_say_and_the_receipt_tells_when,
    a_test_key_asks_only_in_test_mode,
    loading_a_token_again_updates_what_it_is_and_nothing_keeps_its_text,
    a_token_that_an_entry_no_longer_has_is_named_until_it_is_revoked
);

fn a_machine_asks_and_a_person_answers_and_a_link_answers_only_where_it_may(deployment: &Deployment) {
    let entries = [
        machine("t-machine", ""),
        person("t-person", r#","display":"Ada""#),
        link("t-link-one", ""),
        link("t-link-two", r#","auth_strength":"mfa","role":"editor""#),
    ];
    let loaded = document(&entries);
    let mut pending = String::new();
    for (number, permitted) in ["false", "true"].into_iter().enumerate() {
        let variables = [("HANDOFF_BOOTSTRAP_JSON", loaded.as_str()), ("HANDOFF_LINK_ONLY_PERMITTED", permitted)];
        let server = deployment.serve(&variables);
        let connection = &mut server.connect();
        let request = raise(connection, "t-machine", &format!("run:{number}"), "session", "").text("id");
        for token in ["t-link-one", "t-link-two"] {
            let refused = answer(connection, token, &request);
            assert_eq!(refused.text("error.code"), "insufficient_authority", "a link is worth no session");
        }
        let answered = answer(connection, "t-person", &request);
        let sealed = receipt(connection, "t-machine", &answered);
        assert_eq!((sealed.text("actor.type"), sealed.text("actor.display")), ("user".to_owned(), "Ada".to_owned()));

        let request = raise(connection, "t-machine", &format!("link:{number}"), "link_only", "").text("id");
        let answered = answer(connection, "t-link-two", &request);
        if permitted == "true" {
            let sealed = receipt(connection, "t-machine", &answered);
            assert_eq!(sealed.text("actor.type"), "anonymous_link");
            assert_eq!(sealed.text("actor.principal_id"), "null");
            assert_eq!(sealed.text("actor.auth_strength"), "link_only");
            assert_eq!(answer(connection, "t-link-one", &pending).status, 200, "what waited can be answered now");
        } else {
            assert_eq!((answered.status, answered.text("error.code")), (403, "auth_strength_not_permitted".to_owned()));
            pending = request;
        }
    }
}

fn strengths_count_as_the_tokens_say_and_the_receipt_tells_when(deployment: &Deployment) {
    let loaded = document(&[
        machine("t-machine", ""),
        person("t-session", ""),
        person("t-reauth", r#","auth_strength":"reauth""#),
        person("t-mfa", r#","auth_strength":"mfa""#),
    ]);
    let server = deployment.serve(&[("HANDOFF_BOOTSTRAP_JSON", &loaded)]);
    let connection = &mut server.connect();
    for (needed, lacking, enough) in
        [("reauth", vec!["t-session"], "t-reauth"), ("mfa", vec!["t-session", "t-reauth"], "t-mfa")]
    {
        let request = raise(connection, "t-machine", needed, needed, "").text("id");
        for token in lacking {
            let refused = answer(connection, token, &request);
            assert_eq!((refused.status, refused.text("error.code")), (403, "insufficient_authority".to_owned()));
        }
        let answered = answer(connection, enough, &request);
        let sealed = receipt(connection, "t-machine", &answered);
        assert_eq!(sealed.text("actor.auth_strength"), needed);
        assert_ne!(sealed.text(&format!("actor.{needed}_at")), "null");
    }
}

fn a_test_key_asks_only_in_test_mode(deployment: &Deployment) {
    let loaded = document(&[machine("t-test", r#","test":true"#)]);
    let server = deployment.serve(&[("HANDOFF_BOOTSTRAP_JSON", &loaded)]);
    let connection = &mut server.connect();
    let refused = raise(connection, "t-test", "run:1", "session", "");
    assert_eq!((refused.status, refused.text("error.code")), (403, "insufficient_scope".to_owned()));
    let raised = raise(connection, "t-test", "run:1", "session", r#","test_mode":true"#);
    assert_eq!(raised.status, 201, "{raised:?}");
}

fn loading_a_token_again_updates_what_it_is_and_nothing_keeps_its_text(deployment: &Deployment) {
    let file = deployment.directory().join("bootstrap.json");
    for (scopes, status) in
        [(r#"["handoff:requests:write"]"#, 201), (r#"["handoff:requests:read"]"#, 403), (r#"["*"]"#, 200)]
    {
        fs::write(&file, document(&[machine("t-very-secret", &format!(r#","scopes":{scopes}"#))])).unwrap();
        let server = deployment.serve(&[("HANDOFF_BOOTSTRAP", file.to_str().unwrap())]);
        let raised = raise(&mut server.connect(), "t-very-secret", "run:1", "session", "");
        // The question that is asked already is answered with 200.
        assert_eq!(raised.status, status, "{raised:?}");
    }
    fs::remove_file(&file).unwrap();
    // What was loaded stays when it is no longer brought along.
    let server = deployment.serve(&[]);
    assert_eq!(raise(&mut server.connect(), "t-very-secret", "run:9", "session", "").status, 201);
    server.terminate();
    let (_, _, log) = server.wait();
    assert!(!log.contains("t-very-secret"));
    assert!(!deployment.keeps("t-very-secret", &[]), "nothing holds the token");
    assert!(deployment.keeps(TENANT, &[]), "where to look is where it would be");
}

fn a_token_that_an_entry_no_longer_has_is_named_until_it_is_revoked(deployment: &Deployment) {
    let log_of = |entries: &[String]| {
        let server = deployment.serve(&[("HANDOFF_BOOTSTRAP_JSON", &document(entries))]);
        let status = raise(&mut server.connect(), "t-old", "run:1", "session", "").status;
        server.terminate();
        let (_, _, log) = server.wait();
        (status, log)
    };
    let (_, log) = log_of(&[machine("t-old", ""), link("t-link", "")]);
    assert!(!log.contains("still valid"), "{log}");
    let (status, log) = log_of(&[machine("t-new", "")]);
    assert_eq!(status, 200, "the old token is good still");
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("no longer in it and still valid")).collect();
    assert_eq!(lines.len(), 2, "{log}");
    let fingerprint = Digest::of(b"t-old").hex().chars().take(12).collect::<String>();
    let line = lines.iter().find(|line| line.contains("sa_01K3M7QW8ZC4YRXB2N6VD9FTHE: ")).unwrap();
    assert!(line.contains(&fingerprint) && line.contains("handoff keys revoke"), "{line}");
    assert!(lines.iter().any(|line| line.contains("an anonymous link: ")) && !log.contains("t-old"), "{log}");

    revoke(deployment, &fingerprint);
    let (status, log) = log_of(&[machine("t-new", ""), link("t-link", "")]);
    assert_eq!(status, 401);
    assert!(!log.contains("still valid"), "{log}");
}

/// Makes a token worthless, as `handoff keys revoke` does.
fn revoke(deployment: &Deployment, fingerprint: &str) {
    with_engine(deployment, async |engine| {
        engine.revoke_credential(OrgId::parse(TENANT).unwrap(), fingerprint).await.unwrap();
    });
}

#[test]
fn one_fault_keeps_the_server_from_starting_and_nothing_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}", directory.path().join("handoff.db").display());
    let bad_tenant = machine("hunter2", "").replace("org_", "acme_");
    for (entries, fault) in [
        (vec![machine("hunter1", ""), bad_tenant], "`principals[1].tenant_ref`"),
        (vec![machine("hunter1", ""), person("hunter2", r#","colour":"red""#)], "`principals[1].colour`"),
        (vec![machine("hunter2", ""), machine("hunter2", "")], "`principals[1].token`"),
    ] {
        let loaded = document(&entries);
        let variables = [
            ("HANDOFF_DATABASE_URL", database.as_str()),
            ("HANDOFF_BIND", "127.0.0.1:0"),
            ("HANDOFF_BOOTSTRAP_JSON", &loaded),
        ];
        let output = run(&["serve"], &variables);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success());
        assert!(text.contains("handoffd: HANDOFF_BOOTSTRAP_JSON: ") && text.contains(fault), "{text}");
        assert!(!text.contains("hunter"), "{text}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
