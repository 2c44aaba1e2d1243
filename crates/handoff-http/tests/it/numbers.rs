//! Numbers over HTTP: integers that every parser keeps, in one spelling, and nothing else (rules N-1 to N-4).

use handoff_protocol::json::Json;

use crate::world::{World, question};

/// Integers that some JSON parser changes: 2^53 and beyond, 2^64 - 1, one with an exponent.
const UNSAFE: [&str; 8] = [
    "9007199254740992",
    "9007199254740993",
    "-9007199254740992",
    "-9007199254740993",
    "18446744073709551615",
    "1e30",
    "1E400",
    "0.5",
];

#[tokio::test]
async fn integers_that_a_parser_could_change_are_refused_in_a_raise_by_their_place() {
    let world = World::new().await;
    let before = world.store.transactions();
    for number in UNSAFE {
        for value in [number.to_owned(), format!(r#"{{"deep":[1,{{"er":{number}}}]}}"#)] {
            let ask = question("run:1", "Ship it?");
            for (body, place) in [
                (ask.replace(r#""ttl":"#, &format!(r#""metadata":{{"m":{value}}},"ttl":"#)), "metadata.m"),
                (ask.replace(r#""requires":{"#, &format!(r#""requires":{{"x-own":{value},"#)), "requires.x-own"),
                (
                    ask.replace(
                        r#""on_expiry":"expire_and_deny""#,
                        &format!(r#""on_expiry":"default","default_answer":{{"amount":{value}}}"#),
                    ),
                    "ttl_policy.default_answer.amount",
                ),
            ] {
                let reply = world.post("/v1/requests", body).token(&world.home.machine).key("k").expect(400).await;
                assert_eq!(reply.code(), "invalid_request");
                assert!(reply.str("error.message").contains(place), "{place}: {}", reply.text());
                assert!(!reply.text().contains(number), "{}", reply.text());
            }
        }
    }
    assert_eq!(world.store.transactions(), before, "refused before anything is looked up");
    let listed = world.get("/v1/requests").token(&world.home.machine).expect(200).await;
    assert_eq!(listed.at("data"), Json::Array(Vec::new()));
}

#[tokio::test]
async fn integers_that_a_parser_could_change_are_refused_in_an_answer_by_their_field() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let path = format!("/v1/requests/{request}/answer");
    for number in UNSAFE {
        for value in [number.to_owned(), format!(r#"{{"deep":[1,{{"er":{number}}}]}}"#)] {
            let body = format!(r#"{{"values":{{"decision":"approve","amount":{value},"other":{value}}}}}"#);
            let reply = world.post(&path, body).token(&world.home.editor).key("k").expect(422).await;
            assert_eq!(reply.code(), "answer_validation_failed");
            for (place, name) in ["amount", "other"].into_iter().enumerate() {
                let named = (
                    reply.str(&format!("error.fields.{place}.name")),
                    reply.str(&format!("error.fields.{place}.code")),
                );
                assert_eq!(named, (name.to_owned(), "out_of_range".to_owned()), "{number}");
            }
            assert!(!reply.text().contains(number), "{}", reply.text());
        }
    }
    let head = world.get("/v1/receipts/chain-head").token(&world.home.machine).expect(200).await;
    assert_eq!(head.at("height"), Json::from(0));
    world.approve(&request).await;
}

#[tokio::test]
async fn integers_in_other_spellings_come_back_bare_in_the_raw_text() {
    let world = World::new().await;
    let spellings = [("-0.0", "0"), ("1.0", "1"), ("1e2", "100"), ("-9007199254740991.0", "-9007199254740991")];
    for (place, (sent, bare)) in spellings.into_iter().enumerate() {
        let body = question(&format!("run:{place}"), "Ship it?")
            .replace(r#""ttl":"#, &format!(r#""metadata":{{"m":[{sent}]}},"ttl":"#));
        let raised = world.post("/v1/requests", body).token(&world.home.machine).expect(201).await;
        assert!(raised.text().contains(&format!(r#""metadata":{{"m":[{bare}]}}"#)), "{}", raised.text());
        let request = raised.str("id");
        let values = format!(r#"{{"values":{{"decision":"approve","amount":{sent}}}}}"#);
        let answer = world.post(&format!("/v1/requests/{request}/answer"), values).token(&world.home.editor);
        let answered = answer.expect(200).await;
        for path in [
            format!("/v1/requests/{request}"),
            format!("/v1/requests/{request}/receipt"),
            format!("/v1/receipts/{}", answered.str("receipt.id")),
            format!("/v1/authorizations/{}", answered.str("authorization.id")),
            format!("/v1/waiters/run:{place}/signals"),
        ] {
            let read = world.get(&path).token(&world.home.machine).expect(200).await;
            assert!(read.text().contains(&format!(r#""amount":{bare}}}"#)), "{path}: {}", read.text());
        }
    }
}
