//! Answers that do not settle, over the wire: parts, passing on, inability, agreement (R12 to R14).

use std::time::Duration;

use handoff_protocol::{
    duration::ExactDuration,
    json::{Json, read_str},
    principal::Role,
};

use crate::{
    client::Reply,
    world::{Tenant, World, question},
};

const PENDING: &str = r#","receipt":null,"authorization":null}"#;

fn answering(world: &World, request: &str, token: &str, body: &str) -> crate::client::Call {
    world.post(&format!("/v1/requests/{request}/answer"), body).token(token)
}

async fn read(world: &World, path: String) -> Reply {
    world.get(&path).token(&world.home.machine).expect(200).await
}

async fn signals(world: &World) -> usize {
    let signals = read(world, "/v1/waiters/run:1/signals".to_owned()).await;
    signals.at("data").as_array().unwrap().len()
}

/// A question that two editors must agree on.
async fn for_two(world: &World) -> String {
    let body = question("run:1", "Ship it?").replace(r#""min_role":"editor""#, r#""min_role":"editor","quorum":2"#);
    world.post("/v1/requests", body).token(&world.home.machine).expect(201).await.str("id")
}

#[tokio::test]
async fn an_answer_in_parts_is_whole_on_its_receipt_and_signals_once() {
    let world = World::new().await;
    let raised = world.raise("run:1").await;
    let request = raised.str("id");
    let part = r#"{"values":{"amount":3.0},"partial":true,"note":"the sum"}"#;
    let given = answering(&world, &request, &world.home.editor, part).key("k").expect(200).await;
    assert_eq!(
        given.text(),
        format!(r#"{{"request":{{"id":"{request}","state":"pending","answered_at":null}}{PENDING}"#)
    );
    let asked = read(&world, format!("/v1/requests/{request}")).await;
    assert_eq!((asked.at("version"), asked.str("state")), (Json::from(2), "pending".to_owned()));
    assert_eq!(asked.at("requires.answer.fields").as_array().unwrap().len(), 1);
    assert_eq!(asked.at("steps.0.fields_provided").to_text(), r#"["amount"]"#);
    assert!(!asked.text().contains("the sum") && asked.at("attempt_expires_at").as_str().is_some());
    assert_eq!(signals(&world).await, 0);
    let none = world.get(&format!("/v1/requests/{request}/receipt")).token(&world.home.machine).expect(404).await;
    assert_eq!(none.code(), "request_not_found");

    let settled = answering(&world, &request, &world.home.editor, r#"{"values":{"decision":"approve"}}"#);
    let settled = settled.key("l").expect(200).await;
    let receipt = read(&world, format!("/v1/receipts/{}", settled.str("receipt.id"))).await;
    assert_eq!(receipt.at("decision.values").to_text(), r#"{"amount":3,"decision":"approve"}"#);
    assert_eq!((receipt.at("steps.0.n"), receipt.at("steps.1.n")), (Json::from(1), Json::from(2)));
    assert_eq!(receipt.at("steps.1.fields_provided").to_text(), r#"["decision"]"#);
    assert_eq!(signals(&world).await, 1);
    // The same call again is the same again, also now (rule K-6).
    let again = answering(&world, &request, &world.home.editor, part).key("k").expect(200).await;
    assert_eq!(again.body, given.body);
    let other = answering(&world, &request, &world.home.editor, &part.replace('3', "4")).key("k").expect(409).await;
    assert_eq!(other.code(), "idempotency_key_reused");
}

#[tokio::test]
async fn a_program_that_asks_the_same_again_finds_what_is_being_answered() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    answering(&world, &request, &world.home.editor, r#"{"values":{"amount":3},"partial":true}"#).expect(200).await;
    let asked = read(&world, format!("/v1/requests/{request}")).await;
    let raise = |body: String| world.post("/v1/requests", body).token(&world.home.machine);
    let body = question("run:1", "Ship it?");
    assert_eq!(raise(body.clone()).key("fresh").expect(200).await.body, asked.body);
    let reworded = body.replace(r#""title":"Ship it?""#, r#""title":"Ship it?","body":"now""#);
    let refused = raise(reworded).expect(409).await;
    assert_eq!((refused.code(), refused.str("error.request_id")), ("request_in_progress".into(), request));
}

#[tokio::test]
async fn who_it_is_passed_on_to_answers_and_the_receipt_says_so() {
    let world = World::new().await;
    let boss = world.engine.create_person(world.home.id, "Bo", Role::Admin).await.unwrap();
    let link = world.engine.issue_link(world.home.id, boss, ExactDuration::from_hours(1), None).await.unwrap();
    let boss_token = world.engine.enter(link.expose()).await.unwrap().session.expose().clone();
    let me = world.principal(&world.home.editor).await;
    let assigned = format!(r#""min_role":"editor","assignees":[{{"kind":"principal","value":"{me}"}}]"#);
    let body = question("run:1", "Ship it?").replace(r#""min_role":"editor""#, &assigned);
    let request = world.post("/v1/requests", body).token(&world.home.machine).expect(201).await.str("id");
    let yes = r#"{"values":{"decision":"approve"}}"#;
    let refused = answering(&world, &request, &boss_token, yes).expect(403).await;
    assert_eq!(refused.code(), "insufficient_authority");

    // The body that the contract's use case passes on with.
    let pass_on = r#"{"values":{},"disposition":"delegate","delegate_to":{"kind":"role","value":"admin"},"note":"Above my limit."}"#;
    let passed = answering(&world, &request, &world.home.editor, pass_on).key("k").expect(200).await;
    assert!(passed.text().ends_with(PENDING), "{}", passed.text());
    let unable = r#"{"values":{},"disposition":"unable","note":"on leave"}"#;
    let unable = answering(&world, &request, &boss_token, unable).expect(200).await;
    assert!(unable.text().ends_with(PENDING), "{}", unable.text());
    let asked = read(&world, format!("/v1/requests/{request}")).await;
    assert_eq!((asked.str("state"), asked.at("version")), ("pending".into(), Json::from(1)));
    assert_eq!(asked.at("also_assigned").to_text(), r#"[{"kind":"role","value":"admin"}]"#);
    let deliveries = read(&world, format!("/v1/requests/{request}/deliveries")).await;
    assert_eq!(deliveries.at("data.1.target").to_text(), r#"{"kind":"role","value":"admin"}"#);
    assert!(!asked.text().contains("limit"));

    let listed = read(&world, format!("/v1/requests/{request}/dispositions?limit=1")).await;
    assert_eq!((listed.at("has_more"), listed.str("next_cursor")), (Json::from(true), "1".to_owned()));
    assert_eq!(
        (listed.str("data.0.disposition"), listed.str("data.0.note")),
        ("delegate".into(), "Above my limit.".into())
    );
    assert_eq!(listed.at("data.0.delivery_id"), deliveries.at("data.1.id"));
    let rest = read(&world, format!("/v1/requests/{request}/dispositions?cursor=1")).await;
    assert_eq!((rest.str("data.0.by.display"), rest.at("data.0.delegate_to")), ("Bo".into(), Json::Null));
    assert_eq!((rest.at("has_more"), rest.at("next_cursor")), (Json::from(false), Json::Null));

    let settled = answering(&world, &request, &boss_token, yes).expect(200).await;
    let receipt = read(&world, format!("/v1/receipts/{}", settled.str("receipt.id"))).await;
    assert_eq!(receipt.at("decision.delegated_to").to_text(), r#"{"kind":"role","value":"admin"}"#);
    assert_eq!(signals(&world).await, 1);
    let again = answering(&world, &request, &world.home.editor, pass_on).key("k").expect(200).await;
    assert_eq!(again.body, passed.body);
}

#[tokio::test]
async fn the_dispositions_of_another_tenant_are_not_found() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let unable = r#"{"values":{},"disposition":"unable","note":"s3cret"}"#;
    answering(&world, &request, &world.home.editor, unable).expect(200).await;
    let foreign = Tenant::new(&world.engine).await;
    let path = |id: &str| format!("/v1/requests/{id}/dispositions");
    let hidden = world.get(&path(&request)).token(&foreign.machine).expect(404).await;
    let unknown = world.get(&path("nonsense")).token(&foreign.machine).expect(404).await;
    assert_eq!((hidden.code(), hidden.body), ("request_not_found".into(), unknown.body));
    for bad in ["cursor=x", "cursor=", "limit=x"] {
        let refused = world.get(&format!("{}?{bad}", path(&request))).token(&world.home.machine).expect(400).await;
        assert_eq!(refused.code(), "invalid_request", "{bad}");
    }
}

#[tokio::test]
async fn two_who_agree_settle_with_one_receipt_that_names_both() {
    let world = World::new().await;
    let request = for_two(&world).await;
    let other = world.editor_with(handoff_engine::identity::NewCredential::default()).await;
    let yes = r#"{"values":{"decision":"approve"},"note":"fine"}"#;
    let first = answering(&world, &request, &world.home.editor, yes).key("k").expect(200).await;
    assert!(first.text().ends_with(PENDING), "{}", first.text());
    // Once more, by the same key and by another: still one person.
    let again = answering(&world, &request, &world.home.editor, yes).key("k").expect(200).await;
    assert_eq!(again.body, first.body);
    let twice = answering(&world, &request, &world.home.editor, yes).key("l").expect(200).await;
    assert!(twice.text().ends_with(PENDING), "{}", twice.text());
    let asked = read(&world, format!("/v1/requests/{request}")).await;
    assert_eq!(asked.at("endorsements").as_array().unwrap().len(), 1);
    assert_eq!(asked.str("endorsements.0.principal_id"), world.principal(&world.home.editor).await.to_string());
    assert!(!asked.text().contains("fine"));
    assert_eq!(signals(&world).await, 0);

    let settled = answering(&world, &request, &other, r#"{"values":{"decision":"approve"}}"#).expect(200).await;
    let receipt = read(&world, format!("/v1/receipts/{}", settled.str("receipt.id"))).await;
    let both = [&world.home.editor, &other];
    for (place, token) in both.into_iter().enumerate() {
        let endorser = receipt.str(&format!("authority.endorsements.{place}.principal_id"));
        assert_eq!(endorser, world.principal(token).await.to_string());
    }
    let kinds = read(&world, "/v1/receipts".to_owned()).await;
    assert_eq!((kinds.at("data").as_array().unwrap().len(), signals(&world).await), (1, 1));
    // One of the two does not change what both decided.
    let path = format!("/v1/receipts/{}/corrections", settled.str("receipt.id"));
    let body = r#"{"values":{"decision":"reject"},"note":"no"}"#;
    let refused = world.post(&path, body).token(&other).expect(400).await;
    assert_eq!(refused.code(), "invalid_request");
}

#[tokio::test]
async fn a_quorum_beyond_the_servers_is_refused_by_its_name_and_creates_nothing() {
    let world = World::new().await;
    for quorum in ["0", "6", "-1", "1.5", "9007199254740993"] {
        let more = format!(r#""min_role":"editor","quorum":{quorum}"#);
        let body = question("run:1", "Ship it?").replace(r#""min_role":"editor""#, &more);
        let refused = world.post("/v1/requests", body).token(&world.home.machine).expect(400).await;
        assert_eq!(refused.code(), "invalid_request");
        assert!(refused.str("error.message").contains("requires.authority.quorum"), "{quorum}: {}", refused.text());
    }
    let listed = read(&world, "/v1/requests".to_owned()).await;
    assert_eq!(listed.at("data"), read_str("[]").unwrap());
}

#[tokio::test]
async fn a_lapse_after_a_step_is_told_once_and_the_next_step_arms_anew() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let part = |amount: u8| format!(r#"{{"values":{{"amount":{amount}}},"partial":true}}"#);
    for round in 1..=2 {
        answering(&world, &request, &world.home.editor, &part(round)).expect(200).await;
        world.pass(Duration::from_secs(15 * 60)).await;
        world.pass(Duration::from_secs(60)).await;
        assert_eq!(signals(&world).await, usize::from(round));
    }
}
