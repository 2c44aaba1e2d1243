//! Every code of section 20, provoked over HTTP one after the other: a code that is added has to be provoked as well.

use std::time::Duration;

use handoff_engine::identity::NewCredential;
use handoff_http::HttpOptions;
use handoff_protocol::{
    decision::ErrorCode,
    principal::{AuthStrength, Scope},
};
use handoff_testkit::Fault;

use crate::{
    client::Reply,
    world::{World, question, sign_in, take_over},
};

const UNKNOWN: &str = "01K3M7QW9A8ZC4YRXB2N6VD9FT";
const APPROVE: &str = r#"{"values":{"decision":"approve"}}"#;

/// The status of each code, written down once more so that a slip in the table is seen.
fn status_of(code: ErrorCode) -> u16 {
    match code.as_str() {
        "invalid_request"
        | "unsupported_field_type"
        | "unsupported_capability_type"
        | "unsupported_requires_version" => 400,
        "invalid_api_key" | "authentication_required" => 401,
        "insufficient_scope"
        | "insufficient_authority"
        | "requester_may_not_answer"
        | "auth_strength_not_permitted" => 403,
        "capability_expired" => 410,
        "capability_not_found"
        | "request_not_found"
        | "waiter_not_found"
        | "signal_not_found"
        | "authorization_not_found" => 404,
        "answer_validation_failed" => 422,
        "rate_limited" => 429,
        "internal_error" => 500,
        "delivery_unavailable" => 503,
        _ => 409,
    }
}

#[tokio::test]
async fn every_code_can_be_provoked_but_those_that_nothing_may_produce() {
    let mut absent = Vec::new();
    for code in ErrorCode::ALL {
        let Some(reply) = provoke(code).await else {
            absent.push(code.as_str());
            continue;
        };
        assert_eq!(
            (reply.code().as_str(), reply.status.as_u16()),
            (code.as_str(), status_of(code)),
            "{}",
            reply.text()
        );
        assert!(!reply.str("error.message").is_empty());
    }
    assert_eq!(
        absent,
        [
            // What nothing may ever produce.
            "product_not_entitled",
            "tenant_mismatch",
        ]
    );
}

/// Calls a server of its own until it refuses with this code; none for a code that cannot come.
async fn provoke(code: ErrorCode) -> Option<Reply> {
    let world = World::with(HttpOptions::default().rate_limit_per_minute(20)).await;
    let machine = world.home.machine.as_str();
    let raise = async |body: String| world.post("/v1/requests", body).token(machine).send().await;
    let asked = question("run:1", "Ship it?");
    let answer = async |id: &str, token: &str, body: &str| {
        world.post(&format!("/v1/requests/{id}/answer"), body).token(token).send().await
    };
    let editor = world.home.editor.as_str();
    Some(match code {
        ErrorCode::InvalidRequest => raise("{}".to_owned()).await,
        ErrorCode::UnsupportedFieldType => raise(asked.replace(r#""number""#, r#""hologram""#)).await,
        ErrorCode::UnsupportedCapabilityType => {
            raise(asked.replace(r#""requires":{"#, r#""requires":{"capabilities":[{"type":"teleport"}],"#)).await
        }
        ErrorCode::UnsupportedRequiresVersion => raise(asked.replace(r#""v":1"#, r#""v":2"#)).await,
        ErrorCode::InvalidApiKey => world.get("/v1/requests").token("hk_unknown").send().await,
        ErrorCode::AuthenticationRequired => world.get("/v1/requests").send().await,
        ErrorCode::InsufficientScope => {
            let narrow = world.machine_with(&[Scope::RequestsRead]).await;
            world.get("/v1/receipts").token(&narrow).send().await
        }
        ErrorCode::InsufficientAuthority => {
            answer(&world.raise("run:1").await.str("id"), &world.home.viewer, APPROVE).await
        }
        ErrorCode::RequesterMayNotAnswer => answer(&world.raise("run:1").await.str("id"), machine, APPROVE).await,
        ErrorCode::AuthStrengthNotPermitted => {
            let open = asked.replace(r#""min_role":"editor""#, r#""min_role":"editor","auth_strength":"link_only""#);
            let request = raise(open).await.str("id");
            let weak = NewCredential { strength: AuthStrength::LinkOnly, ..NewCredential::default() };
            answer(&request, &world.editor_with(weak).await, APPROVE).await
        }
        ErrorCode::RequestNotFound => world.get(&format!("/v1/requests/req_{UNKNOWN}")).token(machine).send().await,
        ErrorCode::WaiterNotFound => world.get("/v1/waiters/never/signals").token(machine).send().await,
        ErrorCode::SignalNotFound => {
            let body = format!(r#"{{"resume_token":"rt_{UNKNOWN}","applied":true}}"#);
            world.post(&format!("/v1/signals/sig_{UNKNOWN}/ack"), body).token(machine).send().await
        }
        ErrorCode::AuthorizationNotFound => {
            world.get(&format!("/v1/authorizations/auth_{UNKNOWN}")).token(machine).send().await
        }
        ErrorCode::CapabilityNotFound => {
            world.get(&format!("/v1/grants/hg_{UNKNOWN}")).token(&world.home.admin).send().await
        }
        ErrorCode::CapabilityExpired => {
            let grant = raise(take_over("run:1")).await.str("requires.capabilities.0.handle");
            world.time.advance(Duration::from_secs(15 * 60));
            world.get(&format!("/v1/grants/{grant}")).token(&world.home.admin).send().await
        }
        ErrorCode::BlastRadiusMismatch => {
            let grant = raise(take_over("run:1")).await.str("requires.capabilities.0.handle");
            let digest = "a".repeat(64);
            let body = format!(r#"{{"scopes":["view"],"accepted_blast_radius_digest":"sha256:{digest}"}}"#);
            world.post(&format!("/v1/grants/{grant}/sessions"), body).token(editor).send().await
        }
        ErrorCode::GrantAlreadyHeld => {
            let raised = raise(take_over("run:1")).await;
            let (grant, digest) = (
                raised.str("requires.capabilities.0.handle"),
                raised.str("requires.capabilities.0.blast_radius_digest"),
            );
            let body = format!(r#"{{"scopes":["view"],"accepted_blast_radius_digest":"{digest}"}}"#);
            let resolve = |token: &str| world.post(&format!("/v1/grants/{grant}/sessions"), body.clone()).token(token);
            resolve(editor).expect(200).await;
            resolve(&world.home.admin).send().await
        }
        ErrorCode::AlreadyAnswered => {
            let request = world.raise("run:1").await.str("id");
            world.approve(&request).await;
            answer(&request, editor, r#"{"values":{"decision":"reject"}}"#).await
        }
        ErrorCode::RequestExpired => {
            let request = world.raise("run:1").await.str("id");
            world.pass(Duration::from_secs(3600)).await;
            answer(&request, editor, APPROVE).await
        }
        ErrorCode::RequestCancelled => {
            let request = world.raise("run:1").await.str("id");
            let cancel = world.post(&format!("/v1/requests/{request}/cancel"), r#"{"reason":"x"}"#).token(machine);
            cancel.expect(200).await;
            answer(&request, editor, APPROVE).await
        }
        ErrorCode::RequestSuperseded => {
            let (old, new) = (world.raise("run:1").await.str("id"), world.raise("run:2").await.str("id"));
            let body = format!(r#"{{"by":"{new}"}}"#);
            world.post(&format!("/v1/requests/{old}/supersede"), body).token(machine).expect(200).await;
            answer(&old, editor, APPROVE).await
        }
        ErrorCode::RequestInProgress => {
            let request = world.raise("run:1").await.str("id");
            let begun = answer(&request, editor, r#"{"values":{"amount":1},"partial":true}"#).await;
            assert_eq!(begun.status.as_u16(), 200);
            let path = format!("/v1/requests/{request}/amend");
            world.post(&path, r#"{"prompt":{"title":"Other?"}}"#).token(machine).send().await
        }
        ErrorCode::IdempotencyKeyReused => {
            world.post("/v1/requests", asked).token(machine).key("k").expect(201).await;
            world.post("/v1/requests", question("run:1", "Other?")).token(machine).key("k").send().await
        }
        ErrorCode::AuthorizationSpent => {
            let authorization = world.approve(&world.raise("run:1").await.str("id")).await.str("authorization.id");
            let redeem = |key: &str| {
                let body = format!(r#"{{"effect_key":"{key}"}}"#);
                world.post(&format!("/v1/authorizations/{authorization}/redeem"), body).token(machine)
            };
            redeem("one").expect(200).await;
            redeem("another").send().await
        }
        ErrorCode::AuthorizationExpired => {
            let authorization = world.approve(&world.raise("run:1").await.str("id")).await.str("authorization.id");
            world.time.advance(Duration::from_secs(25 * 3600));
            let path = format!("/v1/authorizations/{authorization}/redeem");
            world.post(&path, r#"{"effect_key":"e"}"#).token(machine).send().await
        }
        ErrorCode::EffectDigestMismatch => {
            let digest = format!(r#""effect_digest":"sha256:{}","ttl":"#, "a".repeat(64));
            let request = raise(asked.replace(r#""ttl":"#, &digest)).await.str("id");
            let authorization = world.approve(&request).await.str("authorization.id");
            let path = format!("/v1/authorizations/{authorization}/redeem");
            world.post(&path, r#"{"effect_key":"e"}"#).token(machine).send().await
        }
        ErrorCode::PresentationStale => {
            let strict = asked.replace(r#""ttl":"#, r#""presentation_binding":"strict","ttl":"#);
            answer(&raise(strict).await.str("id"), editor, APPROVE).await
        }
        ErrorCode::AnswerValidationFailed => {
            answer(&world.raise("run:1").await.str("id"), editor, r#"{"values":{}}"#).await
        }
        ErrorCode::RateLimited => {
            for _ in 0..20 {
                world.get("/v1/requests").token(machine).expect(200).await;
            }
            world.get("/v1/requests").token(machine).send().await
        }
        ErrorCode::InternalError => {
            world.store.fail_next(Fault::LostAfterCommit);
            raise(asked).await
        }
        ErrorCode::DeliveryUnavailable => {
            raise(sign_in("run:1")).await;
            world.vault.fail(true);
            let values = r#"{"values":{"password":"hunter2"}}"#;
            world.post("/v1/sinks/vault%2F1/values", values).token(&world.home.admin).send().await
        }
        ErrorCode::ProductNotEntitled | ErrorCode::TenantMismatch => return None,
    })
}
