//! Reaching people over HTTP: ladders, deliveries, grades, who may do what, and what is never told to whom.

use std::time::Duration;

use handoff_protocol::principal::Scope;

use crate::world::{World, question};

const UNKNOWN: &str = "01K3M7QW9A8ZC4YRXB2N6VD9FT";

fn routed(routing: &str) -> String {
    question("run:1", "Ship it?").replace(r#""ttl":"#, &format!(r#""routing":{routing},"ttl":"#))
}

#[tokio::test]
async fn a_raise_is_served_queued_and_climbs_by_itself() {
    let world = World::new().await;
    let raised = world.raise("run:1").await;
    assert_eq!(raised.str("deliveries.0.state"), "queued");
    assert_eq!(raised.str("routing.ladder.1.channels.0"), "email");
    let path = format!("/v1/requests/{}", raised.str("id"));
    let read = async || world.get(&path).token(&world.home.machine).expect(200).await;
    assert_eq!(read().await.body, raised.body);
    world.pass(Duration::from_secs(1)).await;
    assert_eq!(read().await.str("deliveries.0.state"), "dispatched");
    world.pass(Duration::from_secs(15 * 60)).await;
    let request = read().await;
    assert_eq!(request.at("deliveries").as_array().unwrap().len(), 3);
    for (place, state) in [(0, "dispatched"), (1, "suppressed"), (2, "suppressed")] {
        let of = |member: &str| request.at(&format!("deliveries.{place}.{member}"));
        assert_eq!(of("state").as_str(), Some(state));
        assert!(!of("max_grade").is_null() && !of("can_authenticate_person").is_null());
        assert_eq!(of("request_id"), request.at("id"));
        if place > 0 {
            assert_eq!(of("suppressed_reason").as_str(), Some("channel_unknown"));
            assert!(of("grade_reached").is_null(), "nothing is claimed without evidence");
        }
    }
    let listed = world.get("/v1/requests?channel=email").token(&world.home.machine).expect(200).await;
    assert_eq!(listed.str("data.0.id"), request.str("id"));
    let meta = world.get("/v1/meta").expect(200).await;
    assert_eq!(meta.at("channels").to_text(), r#"["inapp"]"#);
}

#[tokio::test]
async fn choosing_who_is_reached_needs_the_scope_for_it() {
    let world = World::new().await;
    let narrow = world.machine_with(&[Scope::RequestsWrite, Scope::RequestsRead]).await;
    let said = routed(r#"{"targets":[{"kind":"role","value":"admin"}]}"#);
    let refused = world.post("/v1/requests", said.clone()).token(&narrow).expect(403).await;
    assert_eq!(refused.code(), "insufficient_scope");
    let raised = world.post("/v1/requests", said).token(&world.home.machine).expect(201).await;
    assert_eq!(raised.str("routing.ladder.2.channels.0"), "slack", "targets alone keep the rungs");
    assert_eq!(raised.str("deliveries.0.target.value"), "admin");
    let nothing = world.post("/v1/requests", routed("{}").replace("run:1", "run:2")).token(&narrow);
    nothing.expect(201).await;
    let id = raised.str("id");
    let delivery = raised.str("deliveries.0.id");
    for (path, body) in [
        (format!("/v1/requests/{id}/escalate"), "{}"),
        (format!("/v1/requests/{id}/reassign"), r#"{"to":{"kind":"role","value":"admin"}}"#),
        (format!("/v1/deliveries/{delivery}/redeliver"), ""),
        (format!("/v1/deliveries/{delivery}/grade"), r#"{"grade":"seen"}"#),
    ] {
        assert_eq!(world.post(&path, body).token(&narrow).expect(403).await.code(), "insufficient_scope", "{path}");
    }
    let escalated_by_a_person = world.post(&format!("/v1/requests/{id}/escalate"), "").token(&world.home.editor);
    assert_eq!(escalated_by_a_person.expect(403).await.code(), "insufficient_scope");
    let reassign = world.post(&format!("/v1/requests/{id}/reassign"), r#"{"to":{"kind":"role","value":"admin"}}"#);
    reassign.token(&world.home.editor).expect(200).await;
}

#[tokio::test]
async fn climbing_the_whole_ladder_leaves_one_request_and_in_the_end_one_receipt() {
    let world = World::new().await;
    let id = world.raise("run:1").await.str("id");
    let escalate = async |body: &str| {
        world.post(&format!("/v1/requests/{id}/escalate"), body).token(&world.home.machine).send().await
    };
    for count in [2, 3] {
        let reply = escalate("").await;
        assert_eq!((reply.status.as_u16(), reply.str("state")), (200, "pending".to_owned()));
        assert_eq!(reply.at("deliveries").as_array().unwrap().len(), count);
        assert!(reply.at("receipt").is_null());
    }
    for body in ["", "{}", r#"{"rung":3}"#] {
        let refused = escalate(body).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (400, "invalid_request"));
    }
    let answered = world.approve(&id).await;
    let receipt = world.get(&format!("/v1/receipts/{}", answered.str("receipt.id"))).token(&world.home.machine);
    let receipt = receipt.expect(200).await;
    assert_eq!(receipt.str("via.channel"), "inapp");
    assert_eq!(receipt.str("via.grade_reached"), "acted");
    let listed = world.get("/v1/requests").token(&world.home.machine).expect(200).await;
    assert_eq!(listed.at("data").as_array().unwrap().len(), 1);
    assert_eq!(escalate("").await.code(), "already_answered");
}

#[tokio::test]
async fn a_delivery_of_nowhere_or_of_another_tenant_is_the_same_404() {
    let world = World::new().await;
    let other = crate::world::Tenant::new(&world.engine).await;
    let raised = world.post("/v1/requests", question("run:1", "?")).token(&other.machine).expect(201).await;
    let theirs = raised.str("deliveries.0.id");
    for (method, suffix, body) in
        [("GET", "", ""), ("POST", "/redeliver", ""), ("POST", "/grade", r#"{"grade":"seen"}"#)]
    {
        let mut answers = Vec::new();
        for id in [theirs.clone(), format!("dlv_{UNKNOWN}"), "nonsense".to_owned()] {
            let call = world.call(method, &format!("/v1/deliveries/{id}{suffix}")).body(body);
            let reply = call.token(&world.home.machine).expect(404).await;
            assert_eq!(reply.code(), "request_not_found");
            answers.push(reply.body);
        }
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{method} {suffix}");
    }
}

#[tokio::test]
async fn grades_rise_and_redelivery_is_accepted_and_both_repeat_under_their_keys() {
    let world = World::new().await;
    let raised = world.raise("run:1").await;
    let delivery = format!("/v1/deliveries/{}", raised.str("deliveries.0.id"));
    let machine = world.home.machine.as_str();
    let grade = async |grade: &str, key: &str, status: u16| {
        let body = format!(r#"{{"grade":"{grade}"}}"#);
        world.post(&format!("{delivery}/grade"), body).token(machine).key(key).expect(status).await
    };
    let seen = grade("seen", "g", 200).await;
    assert_eq!((seen.str("state"), seen.str("grade_reached")), ("seen".to_owned(), "seen".to_owned()));
    assert_eq!(grade("seen", "g", 200).await.body, seen.body);
    assert_eq!(grade("delivered", "g", 409).await.code(), "idempotency_key_reused");
    assert_eq!(grade("delivered", "h", 200).await.body, seen.body, "it is past that already");
    for wrong in ["dispatched", "acted", "read"] {
        assert_eq!(grade(wrong, wrong, 400).await.code(), "invalid_request");
    }
    let redeliver = async || world.post(&format!("{delivery}/redeliver"), "").token(machine).key("r").expect(202).await;
    let queued = redeliver().await;
    world.pass(Duration::from_secs(60)).await;
    assert_eq!(redeliver().await.body, queued.body);
    world.approve(&raised.str("id")).await;
    let settled = world.post(&format!("{delivery}/redeliver"), "").token(machine).expect(409).await;
    assert_eq!(settled.code(), "already_answered");
    let shown = world.get(&delivery).token(machine).expect(200).await;
    assert_eq!(shown.str("state"), "acted");
}

#[tokio::test]
async fn whoever_a_request_is_passed_to_may_answer_it() {
    let world = World::new().await;
    let viewer = world.principal(&world.home.viewer).await;
    let asked = question("run:1", "Ship it?").replace(
        r#""min_role":"editor""#,
        r#""assignees":[{"kind":"principal","value":"usr_01K3M7QW9A8ZC4YRXB2N6VD9FT"}]"#,
    );
    let id = world.post("/v1/requests", asked).token(&world.home.machine).expect(201).await.str("id");
    let answer = || {
        let path = format!("/v1/requests/{id}/answer");
        world.post(&path, r#"{"values":{"decision":"approve"}}"#).token(&world.home.viewer)
    };
    assert_eq!(answer().expect(403).await.code(), "insufficient_authority");
    let to = format!(r#"{{"to":{{"kind":"principal","value":"{viewer}"}}}}"#);
    let passed = world.post(&format!("/v1/requests/{id}/reassign"), to).token(&world.home.machine).expect(200).await;
    assert_eq!(passed.str("state"), "pending");
    let mine = world.get(&format!("/v1/requests?assignee={viewer}")).token(&world.home.machine).expect(200).await;
    assert_eq!(mine.str("data.0.id"), id);
    answer().expect(200).await;
}
