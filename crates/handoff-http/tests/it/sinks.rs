//! Secrets over HTTP: a unique text is sent in every way there is and looked for everywhere (section 17).

use handoff_protocol::json::Json;

use crate::{
    client::Reply,
    logs::Log,
    world::{World, sign_in},
};

const CANARY: &str = "c4nary-hunter2";
const GIVEN: &str = r#"{"values":{"user":{"provided":true},"password":{"provided":true}}}"#;

fn text(reply: &Reply) -> String {
    let headers = reply.headers.iter().map(|(name, value)| format!("{name}: {value:?}\n"));
    headers.collect::<String>() + reply.text()
}

#[tokio::test]
async fn a_secret_is_found_in_no_response_no_log_and_no_metric() {
    let log = Log::capture();
    let world = World::new().await;
    let admin = world.home.admin.as_str();
    let raised = world.post("/v1/requests", sign_in("run:1")).token(&world.home.machine).expect(201).await;
    let request = raised.str("id");
    let answer = async |body: String, status: u16| {
        world.post(&format!("/v1/requests/{request}/answer"), body).token(admin).key("a").expect(status).await
    };
    let submit = async |body: String, key: &str, status: u16| {
        world.post("/v1/sinks/vault%2F1/values", body).token(admin).key(key).expect(status).await
    };

    let raw = answer(format!(r#"{{"values":{{"password":"{CANARY}"}}}}"#), 422).await;
    assert_eq!(
        (raw.str("error.fields.0.name"), raw.str("error.fields.0.code")),
        ("password".to_owned(), "secret_value_not_permitted".to_owned())
    );
    let values = format!(r#"{{"values":{{"password":"{CANARY}","user":"{CANARY}"}}}}"#);
    let accepted = submit(values.clone(), "k", 202).await;
    assert_eq!(accepted.text(), r#"{"accepted":["password","user"],"state":"pending"}"#);
    let repeated = submit(values.clone(), "k", 202).await;
    assert_eq!((accepted.body.clone(), world.vault.count()), (repeated.body.clone(), 1));
    let mut replies = vec![raw, accepted, repeated];
    replies.push(submit(values.replace("user", "smuggled"), "s", 400).await);
    replies.push(submit(format!(r#"{{"values":{{"password":"{CANARY}x"}}}}"#), "k", 409).await);
    replies.push(submit(format!(r#"{{"values":{{"password":"{CANARY}""#), "b", 400).await);
    replies.push(submit(format!(r#"{{"values":{{"password":"{CANARY}","password":"{CANARY}"}}}}"#), "b", 400).await);
    replies.push(submit(format!(r#"{{"values":"{CANARY}"}}"#), "b", 400).await);
    replies.push(submit(format!(r#"{{"values":{{"password":{{"{CANARY}":0.5}}}}}}"#), "b", 400).await);
    replies.push(submit(format!(r#"{{"values":{{}},"x":"{CANARY}"}}"#), "b", 400).await);
    world.vault.fail(true);
    replies.push(submit(values.clone(), "f", 503).await);
    world.vault.fail(false);
    replies.push(answer(GIVEN.to_owned(), 200).await);
    replies.push(submit(values, "late", 409).await);
    world.pass(std::time::Duration::from_secs(60)).await;

    let machine = world.home.machine.as_str();
    for path in [
        format!("/v1/requests/{request}"),
        "/v1/requests".to_owned(),
        format!("/v1/requests/{request}/receipt"),
        format!("/v1/requests/{request}/deliveries"),
        "/v1/receipts".to_owned(),
        "/v1/waiters/run:1/signals".to_owned(),
        "/v1/export".to_owned(),
        "/metrics".to_owned(),
        "/v1/meta".to_owned(),
    ] {
        replies.push(world.get(&path).token(machine).expect(200).await);
    }
    for reply in &replies {
        assert!(!text(reply).contains("c4nary"), "{}", text(reply));
    }
    let log = log.text();
    assert!(log.contains(r#"route="/v1/sinks/{sink_ref}/values""#), "{log}");
    assert!(!log.contains("c4nary") && !log.contains("vault"), "{log}");
}

#[tokio::test]
async fn a_place_is_found_by_its_decoded_name_and_by_people_alone() {
    let world = World::new().await;
    world.post("/v1/requests", sign_in("run:1")).token(&world.home.machine).expect(201).await;
    let submit = |place: &str| world.post(&format!("/v1/sinks/{place}/values"), r#"{"values":{"user":"x"}}"#);
    submit("vault%2F1").expect(401).await;
    let machine = submit("vault%2F1").token(&world.home.machine).expect(403).await;
    assert_eq!(machine.code(), "requester_may_not_answer");
    let editor = submit("vault%2F1").token(&world.home.editor).expect(403).await;
    assert_eq!(editor.code(), "insufficient_authority");
    submit("vault%2F1").token(&world.home.admin).expect(202).await;
    for unknown in ["vault", "%FF", "snk_01K3M7QW8ZC4YRXB2N6VD9FTHF"] {
        let refused = submit(unknown).token(&world.home.admin).expect(404).await;
        assert_eq!(refused.code(), "request_not_found", "{unknown}");
    }
    world.post("/v1/sinks/vault/1/values", "{}").token(&world.home.admin).expect(404).await;
    assert_eq!(world.vault.look(|all| all[0].values.expose().to_text()), r#"{"user":"x"}"#);
}

#[tokio::test]
async fn values_for_a_request_go_to_it_whatever_newer_one_declares_the_same_place() {
    let world = World::new().await;
    let raise = async |waiter: &str| {
        world.post("/v1/requests", sign_in(waiter)).token(&world.home.machine).expect(201).await.str("id")
    };
    let (old, new) = (raise("run:1").await, raise("run:2").await);
    let submit =
        |query: &str| world.post(&format!("/v1/sinks/vault%2F1/values{query}"), r#"{"values":{"user":"x"}}"#).key("k");
    let last = || world.vault.look(|all| all.last().unwrap().request.to_string());
    submit(&format!("?request_id={old}")).token(&world.home.admin).expect(202).await;
    assert_eq!(last(), old);
    submit("").token(&world.home.admin).expect(202).await;
    assert_eq!((last(), world.vault.count()), (new, 2), "one key on two requests acts on both");
    submit(&format!("?request_id={old}")).token(&world.home.admin).expect(202).await;
    assert_eq!(world.vault.count(), 2);
    // Who may not answer hears of the request that was meant.
    let refused = submit(&format!("?request_id={old}")).token(&world.home.editor).expect(403).await;
    assert_eq!(refused.str("error.request_id"), old);

    let elsewhere = world.raise("run:3").await.str("id");
    let other_place = submit(&format!("?request_id={elsewhere}")).token(&world.home.admin).expect(400).await;
    assert!(other_place.str("error.message").contains("request_id"), "{}", other_place.text());
    submit("?request_id=req_1").token(&world.home.admin).expect(400).await;
    let unknown = submit("?request_id=req_01K3M7QW9A8ZC4YRXB2N6VD9FT").token(&world.home.admin).expect(404).await;
    assert_eq!(unknown.code(), "request_not_found");
    assert_eq!(world.vault.count(), 2);
}

#[tokio::test]
async fn a_submission_survives_a_restart_as_names_alone() {
    let mut world = World::new().await;
    world.post("/v1/requests", sign_in("run:1")).token(&world.home.machine).expect(201).await;
    let body = format!(r#"{{"values":{{"password":"{CANARY}"}}}}"#);
    let admin = world.home.admin.clone();
    let submit = |world: &World| world.post("/v1/sinks/vault%2F1/values", body.clone()).token(&admin).key("k");
    let first = submit(&world).expect(202).await;
    world.restart().await;
    let again = submit(&world).expect(202).await;
    assert_eq!((first.body, world.vault.count()), (again.body.clone(), 1));
    assert_eq!(again.at("state"), Json::from("pending"));
}
