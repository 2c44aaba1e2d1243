//! `handoff person` and `handoff keys`: operating a store directly.

use handoff_protocol::json::{Json, read_str};

use super::bench::{self, Bench, bare, http};

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_store_gets_its_first_machine_and_person() {
    let directory = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}", directory.path().join("new.db").display());
    let run = |arguments: &'static [&'static str]| {
        let mut command = bare(arguments);
        command.env("HANDOFF_DATABASE_URL", &database);
        bench::run(command, "")
    };
    let missing = run(&["person", "list"]).await;
    assert_eq!(missing.code, 1, "looking does not create a store");
    assert!(missing.err.contains("there is no store at"), "{}", missing.err);

    let issued = run(&["keys", "issue", "builder"]).await;
    assert_eq!(issued.code, 0, "{}", issued.err);
    assert!(issued.out.starts_with("hk_") && issued.out.lines().count() == 1, "the key alone, for a script");
    assert!(issued.err.contains("its first tenant is org_"), "{}", issued.err);
    let added = run(&["person", "add", "Ada", "--role", "editor"]).await;
    assert!(added.out.starts_with("usr_") && added.err.is_empty(), "{}{}", added.out, added.err);
    assert_eq!(run(&["person", "role", "Ada", "admin"]).await.code, 0);
    let people = run(&["person", "list", "--json"]).await.json();
    let [ada] = people.as_array().unwrap() else { panic!("one person") };
    assert_eq!(ada.get("role").and_then(Json::as_str), Some("admin"));
    let machines = run(&["keys", "list"]).await.out;
    assert!(machines.contains("builder") && !machines.contains("Ada"), "{machines}");

    let link = run(&["person", "link", "Ada"]).await;
    assert_eq!((link.code, link.out.as_str()), (2, ""), "an address is not guessed");
    assert!(link.err.contains("set HANDOFF_PUBLIC_BASE to the address people open, or HANDOFF_URL"), "{}", link.err);
    let link = run(&["person", "link", "Ada", "--url", "http://127.0.0.1:9000/v1"]).await;
    assert!(link.out.starts_with("http://localhost:9000/enter/hl_"), "{}{}", link.out, link.err);
    assert_eq!(run(&["person", "link", "Nobody", "--public-base", "https://h.example"]).await.code, 1);
    let second = run(&["person", "add", "Ada"]).await;
    assert!(second.err.contains("somebody else has this name"), "{}", second.err);
    for nameless in [&["person", "add", " "][..], &["keys", "issue", ""]] {
        let mut command = bare(nameless);
        command.env("HANDOFF_DATABASE_URL", &database);
        let ran = bench::run(command, "").await;
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    }
    let ambiguous = run(&["person", "link", "Ada", "--public-base", "https://h.example"]).await;
    for id in [&added, &second] {
        assert!(ambiguous.err.contains(id.out.trim()), "{}", ambiguous.err);
    }
    assert_eq!(ambiguous.code, 2);
    assert!(ambiguous.err.contains("several people"), "{}", ambiguous.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_issued_works_on_the_server_at_once_and_what_is_revoked_does_not() {
    let bench = Bench::start().await;
    let key = bench.run(&["keys", "issue", "second"]).await.out.trim().to_owned();
    let list = |key: &str| {
        let mut command = bench.command(&["list"]);
        command.env("HANDOFF_API_KEY", key);
        bench::run(command, "")
    };
    assert_eq!(list(&key).await.code, 0);
    let revoked = bench::run(bench.command(&["keys", "revoke"]), &format!("{key}\n")).await;
    assert_eq!(revoked.code, 0, "{}", revoked.err);
    assert_eq!(list(&key).await.code, 3);
    for nothing in [key.as_str(), "hk_other"] {
        let again = bench::run(bench.command(&["keys", "revoke"]), nothing).await;
        assert_eq!(again.code, 1);
        assert!(again.err.contains("nothing was revoked") && !again.err.contains(nothing), "{}", again.err);
    }
    assert_eq!(bench::run(bench.command(&["keys", "revoke"]), "").await.code, 2);

    let machines = bench.run(&["keys", "list", "--json"]).await.json();
    let states = |json: &Json| -> Vec<(String, String)> {
        let keys = json.as_array().unwrap().iter().flat_map(|machine| machine.get("keys").unwrap().as_array().unwrap());
        let text = |key: &Json, name| key.get(name).and_then(Json::as_str).unwrap().to_owned();
        keys.map(|key| (text(key, "fingerprint"), text(key, "state"))).collect()
    };
    let listed = states(&machines);
    assert_eq!(
        listed.iter().filter(|(_, state)| state == "active").count(),
        2,
        "its machine and its person: {listed:?}"
    );
    assert_eq!(listed.iter().filter(|(_, state)| state == "revoked").count(), 1, "{listed:?}");
    let third = bench.run(&["keys", "issue", "third"]).await.out.trim().to_owned();
    assert_eq!(list(&third).await.code, 0);
    let all = states(&bench.run(&["keys", "list", "--json"]).await.json());
    let fingerprint = all.into_iter().find(|key| !listed.contains(key)).unwrap().0;
    let table = bench.run(&["keys", "list"]).await.out;
    assert!(table.contains(&fingerprint) && !table.contains("hk_"), "{table}");
    assert_eq!(bench.run(&["keys", "revoke", "000000000000"]).await.code, 1);
    assert_eq!(bench.run(&["keys", "revoke", &fingerprint]).await.code, 0);
    assert_eq!(list(&third).await.code, 3);

    let id = bench.ask(&["Who?"]).await;
    let person = bench.person.to_string();
    let token = bench.run(&["person", "key", &person, "--json"]).await.json();
    let token = token.get("token").and_then(Json::as_str).unwrap().to_owned();
    assert!(token.starts_with("hp_"), "a person's token does not look like a machine's key");
    assert_eq!(bench.run(&["answer", &id, "--value", "answer=me", "--as", &token]).await.code, 0);

    let link = bench.run(&["person", "link", &person, "--request", &id, "--public-base", &bench.url()]).await.out;
    let path = link.trim().strip_prefix(&bench.url()).unwrap().to_owned();
    let (head, page) = http(bench.server.address(), &format!("GET {path}"), "", "").await;
    assert!(head.contains(" 200 ") && page.contains("Ada"), "{head}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_gets_another_key_and_a_name_that_is_taken_is_said() {
    let bench = Bench::start().await;
    let first = bench.run(&["keys", "issue", "builder"]).await;
    assert!(!first.err.contains("already"), "{}", first.err);
    let other = bench.run(&["keys", "issue", "--for", "builder"]).await;
    assert_eq!(other.code, 0, "{}", other.err);
    let machines = bench.run(&["keys", "list", "--json"]).await.json();
    let keys = |machines: &Json| -> Vec<usize> {
        let named = machines.as_array().unwrap().iter();
        let named = named.filter(|machine| machine.get("name").and_then(Json::as_str) == Some("builder"));
        named.map(|machine| machine.get("keys").unwrap().as_array().unwrap().len()).collect()
    };
    assert_eq!(keys(&machines), [2], "one machine, two keys");
    let id =
        other.err.split_whitespace().find(|word| word.starts_with("sa_")).unwrap().trim_end_matches(';').to_owned();
    assert_eq!(bench.run(&["keys", "issue", "--for", &id]).await.code, 0);

    let second = bench.run(&["keys", "issue", "builder"]).await;
    assert!(second.out.starts_with("hk_") && second.err.contains("has this name already"), "{}", second.err);
    let ambiguous = bench.run(&["keys", "issue", "--for", "builder"]).await;
    assert_eq!((ambiguous.code, ambiguous.out.as_str()), (2, ""));
    assert!(ambiguous.err.contains(&id), "{}", ambiguous.err);
    let nobody = bench.run(&["keys", "issue", "--for", "nobody"]).await;
    assert_eq!(nobody.code, 1);
    assert!(nobody.err.contains("no machine of this id or name"), "{}", nobody.err);
    assert_eq!(bench.run(&["keys", "issue"]).await.code, 2);
    assert_eq!(bench.run(&["keys", "issue", "x", "--for", "builder"]).await.code, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_begins_with_the_address_that_the_server_says_people_open() {
    let bench = Bench::start().await;
    let base = bench.server.engine().public_base().to_owned();
    // Programs reach the server at another address than people do.
    let mut plain = bench.command(&["person", "link", "Ada"]);
    plain.env("HANDOFF_URL", "http://inside.example:8080");
    let link = bench::run(plain, "").await;
    assert!(link.out.starts_with(&format!("{base}/enter/hl_")), "{}{}", link.out, link.err);
    let mut named = bench.command(&["person", "link", "Ada"]);
    named.env("HANDOFF_PUBLIC_BASE", "https://h.example/");
    assert!(
        bench::run(named, "").await.out.starts_with("https://h.example/enter/hl_"),
        "what is said here comes first"
    );
    let other = bench.run(&["person", "link", "Ada", "--url", "https://b.example/v1"]).await;
    assert!(other.out.starts_with("https://b.example/enter/hl_"), "{}", other.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_is_named_only_where_there_are_several() {
    let bench = Bench::start().await;
    assert_eq!(bench.run(&["person", "list"]).await.code, 0);
    let other = bench.server.engine().create_tenant().await.unwrap().to_string();
    let ran = bench.run(&["person", "list"]).await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains(&other) && ran.err.contains(&bench.tenant.to_string()), "{}", ran.err);
    assert_eq!(bench.run(&["person", "add", "Bo"]).await.code, 2);
    assert_eq!(bench.run(&["person", "add", "Bo", "--tenant", &other]).await.code, 0);
    let people = bench.run(&["person", "list", "--tenant", &bench.tenant.to_string()]).await.out;
    assert!(people.contains("Ada") && !people.contains("Bo"), "{people}");
    assert_eq!(bench.run(&["person", "list", "--tenant", "org_01K3M7QW8ZC4YRXB2N6VD9FTHE"]).await.code, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retired_signing_key_stays_published_and_what_it_signed_verifies() {
    let bench = Bench::start().await;
    bench.answered(1).await;
    let export = bench.export("export.json").await;
    let kid = bench.run(&["keys", "signing"]).await.out;
    let kid = kid.split_whitespace().find(|word| word.starts_with("rk_")).unwrap().to_owned();
    let retired = bench::run(bench.command(&["keys", "retire", &kid]), "").await;
    assert_eq!((retired.code, retired.out), (0, format!("{kid} signs no more\n")));
    assert!(retired.err.contains("goes on signing until it is restarted"), "{}", retired.err);
    let listed = bench.run(&["keys", "signing"]).await.out;
    assert!(listed.contains("retired "), "{listed}");
    let keys = bench.path("keys.json");
    std::fs::write(&keys, bench.run(&["keys", "signing", "--json"]).await.out).unwrap();
    let verified = bench::run(bare(&["verify", &export, "--keys", &keys.display().to_string()]), "").await;
    assert_eq!(verified.code, 0, "{}", verified.out);
    assert!(!verified.out.contains("doubt"), "{}", verified.out);

    // The server still runs with the key.
    let id = bench.ask(&["Still?", "--options", "yes,no"]).await;
    assert_eq!(bench.run(&["answer", &id, "--value", "decision=yes"]).await.code, 0);
    let late = bench.export("late.json").await;
    for trust in [&["--keys", keys.to_str().unwrap()][..], &[]] {
        let verified = bench::run(bare(&[&["verify", &late], trust].concat()), "").await;
        assert_eq!(verified.code, 0, "no link is broken: {}", verified.out);
        assert!(verified.out.starts_with("verdict   consistent, IN DOUBT: "), "{}", verified.out);
        let doubt = verified.out.lines().find(|line| line.starts_with("doubt     height 2 rcpt_")).unwrap();
        assert!(doubt.contains("signed after its key was retired, at "), "{doubt}");
    }
    let told = bench::run(bare(&["verify", &late, "--json"]), "").await.json();
    assert_eq!(told.pointer("/doubts/0/kind").and_then(Json::as_str), Some("retired-key"));
    let unknown = bench.run(&["keys", "retire", "rk_unknown"]).await;
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("handoff keys signing"), "{}", unknown.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_a_server_uses_is_checked_and_damage_is_named() {
    let bench = Bench::start().await;
    let sound = bench.run(&["fsck"]).await;
    assert_eq!((sound.code, sound.err.as_str()), (0, ""));
    assert!(
        sound.out.lines().count() == 2 && sound.out.lines().all(|line| line.contains(" OK records=")),
        "{}",
        sound.out
    );
    let listed = bench.run(&["fsck", "--json"]).await;
    let first = read_str(listed.out.lines().next().unwrap()).unwrap();
    assert_eq!((first.get("sound"), first.get("tenant")), (Some(&Json::from(true)), Some(&Json::from("system"))));
    let shell = rusqlite::Connection::open(bench.path("handoff.db")).unwrap();
    assert!(shell.execute("DELETE FROM record_index WHERE tenant = 'system'", []).unwrap() > 0);
    let damaged = bench.run(&["fsck"]).await;
    assert_eq!(damaged.code, 1);
    assert!(damaged.out.contains("system BROKEN findings="), "{}", damaged.out);
    assert!(damaged.out.contains("  index (section 4): "), "{}", damaged.out);
    assert!(damaged.err.contains("1 of 2 tenants are broken"), "{}", damaged.err);
    let other = bench.run(&["fsck", "--tenant", "org_01K3M7QW8ZC4YRXB2N6VD9FTHF"]).await;
    assert_eq!((other.code, other.out.as_str()), (2, ""));
}
