//! The three keys: identity, retry safety, ask once (rules K-1 to K-7).

use crate::world::{World, question};

#[tokio::test]
async fn a_raise_goes_through_the_four_cases_in_their_order() {
    let world = World::new().await;
    let raise = |key: &str, body: String| world.post("/v1/requests", body).token(&world.home.machine).key(key);
    let body = question("run:1", "Ship it?");

    let created = raise("k1", body.clone()).expect(201).await;
    // The same members in another order and spacing are the same body.
    let respelled = body.replacen(r#"{"waiter_ref":"run:1","#, "{ ", 1);
    let respelled = format!(r#"{} , "waiter_ref": "run:1"}}"#, &respelled[..respelled.len() - 1]);
    let replayed = raise("k1", respelled).expect(200).await;
    assert_eq!(replayed.body, created.body);

    let reused = raise("k1", question("run:1", "Something else?")).expect(409).await;
    assert_eq!(reused.code(), "idempotency_key_reused");
    let path = format!("/v1/requests/{}", created.str("id"));
    let untouched = world.get(&path).token(&world.home.machine).expect(200).await;
    assert_eq!(untouched.body, created.body);

    let with_metadata = body.replace(r#""ttl":"#, r#""metadata":{"try":2},"ttl":"#);
    let joined = raise("k2", with_metadata.clone()).expect(200).await;
    assert_eq!(joined.str("id"), created.str("id"));
    let without_key = world.post("/v1/requests", body.clone()).token(&world.home.machine).expect(200).await;
    assert_eq!(without_key.str("id"), created.str("id"));

    world.approve(&created.str("id")).await;
    let now = raise("k2", with_metadata).expect(200).await;
    assert_eq!((now.str("id"), now.str("state")), (created.str("id"), "answered".into()));
    assert!(!now.str("receipt.id").is_empty());
    let anew = raise("k3", body).expect(201).await;
    assert_ne!(anew.str("id"), created.str("id"));
}

#[tokio::test]
async fn a_newer_wording_of_the_same_question_replaces_the_older_at_the_next_version() {
    let world = World::new().await;
    let worded = |title: &str| question("run:1", title).replace(r#""ttl":"#, r#""dedupe_key":"deploy","ttl":"#);
    let first = world.post("/v1/requests", worded("Ship?")).token(&world.home.machine).key("a").expect(201).await;
    let second = world.post("/v1/requests", worded("Ship v2?")).token(&world.home.machine).key("b").expect(200).await;
    assert_eq!(first.str("id"), second.str("id"));
    assert_eq!(second.str("prompt.title"), "Ship v2?");
    assert_eq!((first.at("version").as_i64(), second.at("version").as_i64()), (Some(1), Some(2)));
}

#[tokio::test]
async fn one_key_on_two_requests_acts_on_both() {
    let world = World::new().await;
    let (one, two) = (world.raise("run:1").await.str("id"), world.raise("run:2").await.str("id"));
    let answer = |id: &str, choice: &str| {
        let body = format!(r#"{{"values":{{"decision":"{choice}"}}}}"#);
        world.post(&format!("/v1/requests/{id}/answer"), body).token(&world.home.editor).key("same")
    };
    let first = answer(&one, "approve").expect(200).await;
    let second = answer(&two, "approve").expect(200).await;
    assert_ne!(first.str("receipt.id"), second.str("receipt.id"));
    assert_eq!(answer(&one, "approve").expect(200).await.body, first.body);
    let reused = answer(&one, "reject").expect(409).await;
    assert_eq!((reused.code(), reused.str("error.request_id")), ("idempotency_key_reused".into(), one));
}

#[tokio::test]
async fn a_key_must_be_one_printable_text() {
    let world = World::new().await;
    let raise = || world.post("/v1/requests", question("run:1", "Ship it?")).token(&world.home.machine);
    let bad = [
        raise().key(""),
        raise().key(&"k".repeat(256)),
        raise().key("one").key("two"),
        raise().header_bytes("idempotency-key", b"\xff\xfe"),
        raise().key("tab\there"),
    ];
    for call in bad {
        let reply = call.expect(400).await;
        assert_eq!(reply.code(), "invalid_request");
        assert!(reply.str("error.message").contains("Idempotency-Key"));
    }
    raise().key(&"k".repeat(255)).expect(201).await;
    raise().header_bytes("idempotency-key", "schlüssel".as_bytes()).expect(200).await;
}
