//! Each code that can be reached today, under its status and with its extra members.

use std::time::Duration;

use handoff_protocol::{json::Json, principal::Scope};

use crate::world::{Tenant, World, question};

const APPROVE: &str = r#"{"values":{"decision":"approve"}}"#;

#[tokio::test]
async fn a_raise_names_what_this_server_does_not_know_and_creates_nothing() {
    let world = World::new().await;
    let good = question("run:1", "Ship it?");
    let cases = [
        (good.replace(r#""v":1"#, r#""v":2"#), "unsupported_requires_version"),
        (good.replace(r#""type":"number""#, r#""type":"hologram""#), "unsupported_field_type"),
        (
            good.replace(r#""requires":{"#, r#""requires":{"capabilities":[{"type":"teleport"}],"#),
            "unsupported_capability_type",
        ),
        (good.replace("PT1H", "P1M"), "invalid_request"),
        (good.replace("Ship it?", ""), "invalid_request"),
        (good.replace(r#""ttl":"#, r#""metadata":{"x":0.5},"ttl":"#), "invalid_request"),
        (good.replace(r#""ttl":"#, r#""id":"req_01K3M7QW9A8ZC4YRXB2N6VD9FT","ttl":"#), "invalid_request"),
    ];
    for (body, code) in cases {
        let reply = world.post("/v1/requests", body).token(&world.home.machine).expect(400).await;
        assert_eq!(reply.code(), code, "{}", reply.text());
    }
    let listed = world.get("/v1/requests").token(&world.home.machine).expect(200).await;
    assert_eq!(listed.at("data").as_array().map(<[_]>::len), Some(0));
}

#[tokio::test]
async fn each_kind_of_principal_is_kept_to_what_it_may_do() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let answer = format!("/v1/requests/{request}/answer");
    let machine = world.post(&answer, APPROVE).token(&world.home.machine).expect(403).await;
    assert_eq!(machine.code(), "requester_may_not_answer");
    let viewer = world.post(&answer, APPROVE).token(&world.home.viewer).expect(403).await;
    assert_eq!((viewer.code(), viewer.str("error.request_id")), ("insufficient_authority".into(), request.clone()));
    let person = world.post("/v1/requests", question("run:2", "?")).token(&world.home.editor).expect(403).await;
    assert_eq!(person.code(), "insufficient_scope");

    let narrow = world.machine_with(&[Scope::ReceiptsRead]).await;
    world.get("/v1/receipts").token(&narrow).expect(200).await;
    let refused = [
        world.post("/v1/requests", question("run:2", "?")),
        world.get("/v1/requests"),
        world.get(&format!("/v1/requests/{request}")),
        world.get(&format!("/v1/requests/{request}/receipt")),
        world.get(&format!("/v1/requests/{request}/deliveries")),
        world.post(&format!("/v1/requests/{request}/cancel"), r#"{"reason":"x"}"#),
        world.get("/v1/waiters/run:1/signals?wait=30"),
        world.get("/v1/waiters/%FF/signals"),
        world.post("/v1/waiters/run:1/reattach", ""),
        world.post("/v1/signals/sig_x/ack", "{}"),
        world.get("/v1/authorizations/auth_x"),
        world.post("/v1/authorizations/auth_x/redeem", r#"{"effect_key":"x"}"#),
    ];
    for call in refused {
        assert_eq!(call.token(&narrow).expect(403).await.code(), "insufficient_scope");
    }
    let reader = world.machine_with(&[Scope::RequestsRead]).await;
    for path in [
        "/v1/receipts",
        "/v1/receipts/chain-head",
        "/v1/receipts/rcpt_x",
        "/v1/receipts/rcpt_x/signature",
        "/v1/export",
    ] {
        assert_eq!(world.get(path).token(&reader).expect(403).await.code(), "insufficient_scope", "{path}");
    }
}

#[tokio::test]
async fn what_is_not_there_has_the_code_of_its_resource() {
    let world = World::new().await;
    let ulid = "01K3M7QW9A8ZC4YRXB2N6VD9FT";
    // An id that is none is as unknown as one that nobody has.
    for id in [ulid, "nonsense", "01k3m7qw9a8zc4yrxb2n6vd9ft", "%00", "%FF"] {
        let cases = [
            (world.get(&format!("/v1/requests/req_{id}")), "request_not_found"),
            (world.get(&format!("/v1/requests/req_{id}?wait=30")), "request_not_found"),
            (world.get(&format!("/v1/requests/req_{id}/receipt")), "request_not_found"),
            (world.get(&format!("/v1/requests/req_{id}/deliveries")), "request_not_found"),
            (world.post(&format!("/v1/requests/req_{id}/cancel"), r#"{"reason":"x"}"#), "request_not_found"),
            (world.get(&format!("/v1/receipts/rcpt_{id}")), "request_not_found"),
            (world.get(&format!("/v1/receipts/rcpt_{id}/signature")), "request_not_found"),
            (world.get(&format!("/v1/authorizations/auth_{id}")), "authorization_not_found"),
            (
                world.post(&format!("/v1/authorizations/auth_{id}/redeem"), r#"{"effect_key":"x"}"#),
                "authorization_not_found",
            ),
            (
                world.post(
                    &format!("/v1/signals/sig_{id}/ack"),
                    format!(r#"{{"resume_token":"rt_{ulid}","applied":true}}"#),
                ),
                "signal_not_found",
            ),
        ];
        for (call, code) in cases {
            let reply = call.token(&world.home.machine).expect(404).await;
            assert_eq!(reply.code(), code, "{id}");
            assert!(!reply.text().contains(ulid), "{}", reply.text());
        }
        let answer = world.post(&format!("/v1/requests/req_{id}/answer"), APPROVE).token(&world.home.editor);
        assert_eq!(answer.expect(404).await.code(), "request_not_found");
    }
}

#[tokio::test]
async fn a_settled_request_says_how_it_was_settled() {
    let world = World::new().await;
    let answered = world.raise("run:1").await.str("id");
    let cancelled = world.raise("run:2").await.str("id");
    let expired = world.raise("run:3").await.str("id");
    let receipt = world.approve(&answered).await.str("receipt.id");
    let cancel = world.post(&format!("/v1/requests/{cancelled}/cancel"), r#"{"reason":"no need"}"#);
    cancel.token(&world.home.machine).expect(200).await;
    world.pass(Duration::from_secs(3600)).await;

    let late = async |id: &str| {
        let path = format!("/v1/requests/{id}/answer");
        let reply = world.post(&path, APPROVE).token(&world.home.editor).expect(409).await;
        assert_eq!(reply.str("error.request_id"), id);
        let cancel = world.post(&format!("/v1/requests/{id}/cancel"), r#"{"reason":"late"}"#);
        let same = cancel.token(&world.home.machine).expect(409).await;
        assert_eq!(same.code(), reply.code());
        reply
    };
    let reply = late(&answered).await;
    assert_eq!((reply.code(), reply.str("error.receipt_id")), ("already_answered".into(), receipt));
    let reply = late(&cancelled).await;
    assert_eq!(reply.code(), "request_cancelled");
    assert!(reply.str("error.message").contains("no need"));
    let reply = late(&expired).await;
    assert_eq!(reply.code(), "request_expired");
    let policy = world.get(&format!("/v1/requests/{expired}/receipt")).token(&world.home.machine).expect(200).await;
    assert_eq!(reply.str("error.receipt_id"), policy.str("id"));
}

#[tokio::test]
async fn each_value_that_breaks_the_declaration_is_named_and_none_is_repeated() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let path = format!("/v1/requests/{request}/answer");
    let cases = [
        (r#"{"decision":"t0p-s3cret","amount":1}"#, r#"[["decision","not_an_option"]]"#),
        (r#"{"decision":"approve","amount":0.5}"#, r#"[["amount","out_of_range"]]"#),
        (r#"{"decision":"approve","amount":9007199254740992}"#, r#"[["amount","out_of_range"]]"#),
        (r#"{"decision":"approve","amount":99999999999999999999999}"#, r#"[["amount","out_of_range"]]"#),
        (r#"{"amount":"t0p-s3cret"}"#, r#"[["decision","required"],["amount","wrong_type"]]"#),
    ];
    for (values, wanted) in cases {
        let call = world.post(&path, format!(r#"{{"values":{values}}}"#)).token(&world.home.editor);
        let reply = call.expect(422).await;
        assert_eq!(reply.code(), "answer_validation_failed");
        let fields = reply.at("error.fields");
        let mut named: Vec<String> = fields
            .as_array()
            .unwrap()
            .iter()
            .map(|field| format!("[{},{}]", field.get("name").unwrap().to_text(), field.get("code").unwrap().to_text()))
            .collect();
        named.sort();
        let mut expected: Vec<String> =
            wanted[1..wanted.len() - 1].split("],").map(|part| format!("{}]", part.trim_end_matches(']'))).collect();
        expected.sort();
        assert_eq!(named, expected);
        assert!(!reply.text().contains("s3cret"), "{}", reply.text());
    }
    let still = world.get(&format!("/v1/requests/{request}")).token(&world.home.machine).expect(200).await;
    assert_eq!((still.str("state"), still.at("receipt")), ("pending".into(), Json::Null));
}

#[tokio::test]
async fn an_authorization_refuses_another_effect_another_digest_and_a_late_one() {
    let world = World::new().await;
    let digest = |digit: char| format!("sha256:{}", digit.to_string().repeat(64));
    let body =
        question("run:1", "Ship it?").replace(r#""ttl":"#, &format!(r#""effect_digest":"{}","ttl":"#, digest('a')));
    let request = world.post("/v1/requests", body).token(&world.home.machine).expect(201).await.str("id");
    let bound = world.approve(&request).await.str("authorization.id");
    let redeem = async |id: &str, body: String, status: u16| {
        let call = world.post(&format!("/v1/authorizations/{id}/redeem"), body).token(&world.home.machine);
        call.expect(status).await
    };
    for body in
        [r#"{"effect_key":"e"}"#.to_owned(), format!(r#"{{"effect_key":"e","effect_digest":"{}"}}"#, digest('b'))]
    {
        let reply = redeem(&bound, body, 409).await;
        assert_eq!((reply.code(), reply.str("error.request_id")), ("effect_digest_mismatch".into(), request.clone()));
    }
    redeem(&bound, format!(r#"{{"effect_key":"e","effect_digest":"{}"}}"#, digest('a')), 200).await;
    let other = world.raise("run:2").await.str("id");
    let late = world.approve(&other).await.str("authorization.id");
    world.pass(Duration::from_secs(25 * 3600)).await;
    let reply = redeem(&late, r#"{"effect_key":"e"}"#.to_owned(), 409).await;
    assert_eq!((reply.code(), reply.str("error.request_id")), ("authorization_expired".into(), other));
    assert_eq!(redeem(&late, r#"{"effect_key":""}"#.to_owned(), 400).await.code(), "invalid_request");
    // What was redeemed in time is still told when its time is over (rule Z-4).
    let again = redeem(&bound, format!(r#"{{"effect_key":"e","effect_digest":"{}"}}"#, digest('a')), 200).await;
    assert_eq!(again.at("first_redemption"), Json::Bool(false));
}

#[tokio::test]
async fn a_wrong_resume_token_takes_no_signal_out_of_the_queue() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    world.approve(&request).await;
    let poll = || world.get("/v1/waiters/run:1/signals").token(&world.home.machine).expect(200);
    let before = poll().await;
    let path = format!("/v1/signals/{}/ack", before.str("data.0.id"));
    for token in ["rt_01K3M7QW9A8ZC4YRXB2N6VD9FT", "nonsense"] {
        let body = format!(r#"{{"resume_token":"{token}","applied":true}}"#);
        let reply = world.post(&path, body).token(&world.home.machine).expect(400).await;
        assert_eq!(reply.code(), "invalid_request");
    }
    assert_eq!(poll().await.body, before.body);
}

#[tokio::test]
async fn a_refusal_names_the_request_that_it_is_about_also_when_the_body_is_at_fault() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let other = Tenant::new(&world.engine).await;
    let narrow = world.machine_with(&[Scope::ReceiptsRead]).await;
    for (verb, body, token, status) in [
        ("cancel", "{}", &world.home.machine, 400),
        ("cancel", r#"{"reason":"x"}"#, &world.home.editor, 403),
        ("cancel", r#"{"reason":"x"}"#, &narrow, 403),
        ("amend", r#"{"x":1}"#, &world.home.machine, 400),
        ("attempt", r#"{"ttl":"x"}"#, &world.home.machine, 400),
        ("supersede", r#"{"by":7}"#, &world.home.machine, 400),
        ("answer", r#"{"values":{},"x":1}"#, &world.home.editor, 400),
        ("answer", r#"{"values":{"decision":0.5}}"#, &world.home.editor, 422),
        ("answer", APPROVE, &world.home.machine, 403),
    ] {
        let path = format!("/v1/requests/{request}/{verb}");
        let refused = world.post(&path, body).token(token).expect(status).await;
        assert_eq!(refused.str("error.request_id"), request, "{verb} {body}");
        // What another tenant has is not known here, and neither is what nobody has.
        let token = if *token == world.home.editor { &other.editor } else { &other.machine };
        let nowhere = world.post(&path, body).token(token).send().await;
        let nothing =
            world.post(&path.replace(&request, "req_01K3M7QW9A8ZC4YRXB2N6VD9FT"), body).token(token).send().await;
        assert_eq!((nowhere.status, &nowhere.body), (nothing.status, &nothing.body), "{verb} {body}");
        assert!(nowhere.at("error").get("request_id").is_none(), "{verb} {body}");
    }
}
