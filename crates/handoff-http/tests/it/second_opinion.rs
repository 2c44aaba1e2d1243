//! A second implementation agrees: Python's standard library computes every digest of a chain from what is served.

use std::{
    env,
    io::{ErrorKind, Write as _},
    process::{Command, Stdio},
    time::Duration,
};

use crate::world::World;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/verify_chain.py");

const NO_PYTHON: &str = "there is no python3 here to give a second opinion";

/// Names that sort otherwise by code points, by bytes or as numbers than by UTF-16 units, each its own value.
const NAMES: [&str; 9] = ["\u{1F600}", "\u{FB33}", "\u{20AC}", "\u{80}", "\r", "1", "10", "9", ""];

/// What the script says of a listing: its line if the chain verifies, its complaint if not, nothing without Python.
fn opinion(listing: &str, arguments: &[&str]) -> Option<Result<String, String>> {
    let spawned = Command::new("python3")
        .arg("-I")
        .arg(SCRIPT)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            assert_ne!(env::var("CI").as_deref(), Ok("true"), "{NO_PYTHON}");
            return None;
        }
        Err(error) => panic!("python3 does not start: {error}"),
    };
    child.stdin.take().unwrap().write_all(listing.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = |bytes: &[u8]| str::from_utf8(bytes).unwrap().trim().to_owned();
    Some(if output.status.success() { Ok(said(&output.stdout)) } else { Err(said(&output.stderr)) })
}

/// A document with all the names, in an order that is no order, two levels deep.
fn document() -> String {
    let level = |value: &str| {
        let members: Vec<String> = NAMES
            .iter()
            .map(|name| format!("{}:{value}", handoff_protocol::json::Json::from(*name).to_text()))
            .collect();
        format!("{{{}}}", members.join(","))
    };
    level(&level(r#"[-0.0,1.0,1e2,9007199254740991,"\u0001\u007f\u2028 caf\u00e9 \/"]"#))
}

#[tokio::test]
async fn python_confirms_every_digest_of_documents_with_difficult_names() {
    let world = World::new().await;
    let document = document();
    let ask = |waiter: &str| {
        format!(
            r#"{{"waiter_ref":"{waiter}","prompt":{{"title":"Check it"}},"requires":{{"v":1,"answer":{{"fields":[
            {{"name":"d","type":"document","required":true}}]}}}},
            "ttl":"PT1H","ttl_policy":{{"on_expiry":"default","default_answer":{{"d":{document}}}}}}}"#
        )
    };
    let raise = async |waiter| {
        let call = world.post("/v1/requests", ask(waiter)).token(&world.home.machine);
        call.expect(201).await.str("id")
    };
    let values = format!(r#"{{"values":{{"d":{document}}},"note":"\u20ac \ud83d\ude00"}}"#);
    let person = async |path: String| world.post(&path, values.as_str()).token(&world.home.editor).expect(200).await;
    let (answered, expired) = (raise("run:1").await, raise("run:2").await);
    let decision = person(format!("/v1/requests/{answered}/answer")).await.str("receipt.id");
    world.pass(Duration::from_secs(3600)).await;
    person(format!("/v1/receipts/{decision}/corrections")).await;
    let seen = world.get(&format!("/v1/requests/{expired}")).token(&world.home.machine).expect(200).await;
    assert_eq!(seen.str("receipt.kind"), "policy");

    let head = world.get("/v1/receipts/chain-head").token(&world.home.machine).expect(200).await;
    let listing = world.get("/v1/receipts").token(&world.home.machine).expect(200).await;
    let listing = listing.text();
    let Some(agreed) = opinion(listing, &[]) else {
        println!("skipped: {NO_PYTHON}");
        return;
    };
    assert_eq!(agreed, Ok(format!("3 {}", head.str("head_digest"))));
    for kind in ["decision", "policy", "correction"] {
        assert!(listing.contains(&format!(r#""kind":"{kind}""#)));
    }

    // The names are difficult enough, and the opinion is one that can be against.
    let complaint = |listing: &str, arguments: &[&str]| opinion(listing, arguments).unwrap().unwrap_err();
    assert!(complaint(listing, &["--by-code-points"]).contains("not what was sealed"));
    for (sealed, altered, said) in [
        (r#""request_version":1"#, r#""request_version":1.0"#, "fraction"),
        (r#""request_version":1"#, r#""request_version":2"#, "not what was sealed"),
        (r#""height":2"#, r#""height":3"#, "comes 3"),
        (r#""kind":"policy""#, r#""kind":"policy","kind":"policy""#, "twice"),
        (r#""has_more":false"#, r#""has_more":true"#, "page"),
        ("9007199254740991", "9007199254740992", "bare integer"),
    ] {
        assert!(listing.contains(sealed), "{sealed}");
        let altered = listing.replacen(sealed, altered, 1);
        assert!(complaint(&altered, &[]).contains(said), "{said}");
    }
}

#[tokio::test]
async fn python_agrees_that_an_empty_chain_is_one() {
    let world = World::new().await;
    let listing = world.get("/v1/receipts").token(&world.home.machine).expect(200).await;
    let Some(agreed) = opinion(listing.text(), &[]) else {
        println!("skipped: {NO_PYTHON}");
        return;
    };
    assert_eq!(agreed, Ok(format!("0 sha256:{}", "0".repeat(64))));
}
