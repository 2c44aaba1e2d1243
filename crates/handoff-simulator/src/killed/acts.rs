//! What each line does, and the facts that come of it.

use std::time::Duration;

use handoff_protocol::{
    decision::{
        DecisionError, WaiterRef,
        idempotency::IdempotencyKey,
        view::{RequestView, SignalView},
    },
    id::{AuthorizationId, DeliveryId, GrantHandle, ReceiptId, RequestId, SessionRef, SignalId, TenantId},
    json::Json,
    principal::Principal,
    secret::Secret,
};

use super::node::Node;
use crate::ops::bodies;

type Facts = Vec<(String, String)>;

/// The words of a line that are left.
struct Words<I>(I);

impl<'a, I: Iterator<Item = &'a str>> Words<I> {
    fn text(&mut self) -> Result<&'a str, DecisionError> {
        self.0.next().ok_or_else(missing)
    }

    fn id<T, E>(&mut self, parse: impl Fn(&str) -> Result<T, E>) -> Result<T, DecisionError> {
        parse(self.text()?).map_err(|_| missing())
    }

    fn body(&mut self) -> Result<Json, DecisionError> {
        self.text().map(bodies::json)
    }

    fn key(&mut self) -> Result<IdempotencyKey, DecisionError> {
        self.id(IdempotencyKey::parse)
    }
}

/// A line that cannot be understood is a defect of whoever wrote it.
fn missing() -> DecisionError {
    DecisionError::Internal
}

/// Does what a line says.
pub(super) async fn perform<'a>(
    node: &Node,
    verb: &str,
    words: impl Iterator<Item = &'a str>,
) -> Result<Facts, DecisionError> {
    let mut words = Words(words);
    match verb {
        "pass" => return Ok(Vec::new()),
        "calls" => return Ok(vec![fact("calls", node.store.calls())]),
        "sent" => {
            let sent = node.ports.channels.iter().flat_map(|channel| channel.sent());
            return Ok(sent.map(|delivery| fact("delivery", delivery)).collect());
        }
        "receivers" => {
            node.ports.receivers.set_down(words.text()? == "down");
            return Ok(Vec::new());
        }
        _ => {}
    }
    let principal = node.engine.authenticate(Some(words.text()?)).await?;
    match verb {
        "raise" => {
            let (body, key) = (words.body()?, words.key()?);
            let raised = node.engine.raise(&principal, body, Some(&key)).await?;
            Ok(of_request(&raised.request))
        }
        "answer" => {
            let (id, body, key) = (words.id(RequestId::parse)?, words.body()?, words.key()?);
            let result = node.engine.answer(&principal, id, body, Some(&key)).await?;
            let receipt = result.receipt.map(|receipt| fact("receipt", receipt.id));
            let authorization = result.authorization.map(|minted| fact("authorization", minted.id));
            Ok(receipt.into_iter().chain(authorization).collect())
        }
        "correct" => {
            let (id, body, key) = (words.id(ReceiptId::parse)?, words.body()?, words.key()?);
            let receipt = node.engine.correct(&principal, id, body, Some(&key)).await?;
            let id = receipt.get("id").and_then(Json::as_str).unwrap_or_default();
            Ok(vec![fact("correction", id)])
        }
        "poll" => {
            let waiter = words.id(WaiterRef::parse)?;
            let list = node.engine.signals(&principal, &waiter, Duration::ZERO).await?;
            Ok(list.data.iter().flat_map(of_signal).collect())
        }
        "acknowledge" => {
            let (id, body) = (words.id(SignalId::parse)?, words.body()?);
            node.engine.acknowledge(&principal, id, &body).await?;
            Ok(vec![fact("acknowledged", id)])
        }
        "redeem" => {
            let (id, body) = (words.id(AuthorizationId::parse)?, words.body()?);
            node.engine.redeem(&principal, id, &body).await?;
            Ok(vec![fact("redeemed", id)])
        }
        "resolve" => {
            let (handle, body, key) = (words.id(GrantHandle::parse)?, words.body()?, words.key()?);
            let session = node.engine.resolve_grant(&principal, handle, body, Some(&key)).await?;
            Ok(vec![fact("session", session.session_ref)])
        }
        "submit" => {
            let (id, body, key) = (words.id(RequestId::parse)?, Secret::new(words.body()?), words.key()?);
            node.engine.submit_values_for(&principal, id, "opaque:password", body, Some(&key)).await?;
            Ok(Vec::new())
        }
        "push" => {
            let (id, key) = (words.id(DeliveryId::parse)?, words.key()?);
            node.engine.redeliver(&principal, id, &bodies::json("{}"), Some(&key)).await?;
            Ok(Vec::new())
        }
        _ => standing(node, &principal, verb, &mut words).await,
    }
}

/// What changes how a request, a session, a delivery or a waiter stands.
async fn standing<'a>(
    node: &Node,
    principal: &Principal,
    verb: &str,
    words: &mut Words<impl Iterator<Item = &'a str>>,
) -> Result<Facts, DecisionError> {
    let engine = &node.engine;
    match verb {
        "renew" | "release" => {
            let (handle, session) = (words.id(GrantHandle::parse)?, words.id(SessionRef::parse)?);
            if verb == "renew" {
                engine.renew_session(principal, handle, session).await?;
            } else {
                engine.release_session(principal, handle, session).await?;
            }
        }
        "revoke" => {
            engine.revoke_grant(principal, words.id(GrantHandle::parse)?, &bodies::json("{}")).await?;
        }
        "seen" => {
            let (id, key) = (words.id(DeliveryId::parse)?, words.key()?);
            engine.report_grade(principal, id, bodies::json(r#"{"grade":"seen"}"#), Some(&key)).await?;
        }
        "bounced" => {
            let id = words.id(DeliveryId::parse)?;
            engine.delivery_bounced(TenantId::Org(principal.tenant), id).await?;
        }
        "look" => engine.page_opened(principal, words.id(RequestId::parse)?).await?,
        "end" => {
            engine.waiter_ended(principal, &words.id(WaiterRef::parse)?).await?;
        }
        "reattach" => {
            engine.reattach(principal, &words.id(WaiterRef::parse)?).await?;
        }
        _ => {
            let (id, body, key) = (words.id(RequestId::parse)?, words.body()?, words.key()?);
            let key = Some(&key);
            let view = match verb {
                "cancel" => engine.cancel(principal, id, body, key).await?,
                "amend" => engine.amend(principal, id, body, key).await?,
                "arm" => engine.arm_attempt(principal, id, body, key).await?,
                "escalate" => engine.escalate(principal, id, body, key).await?,
                "reassign" => engine.reassign(principal, id, body, key).await?,
                "supersede" => engine.supersede(principal, id, body, key).await?,
                _ => return Err(missing()),
            };
            return Ok(vec![fact("rendered", view.rendered_digest)]);
        }
    }
    Ok(Vec::new())
}

fn fact(name: &str, value: impl std::fmt::Display) -> (String, String) {
    (name.to_owned(), value.to_string())
}

fn of_request(view: &RequestView) -> Facts {
    let mut facts = vec![fact("request", view.id), fact("rendered", view.rendered_digest)];
    let capabilities = view.requires.get("capabilities").and_then(Json::as_array).unwrap_or_default();
    for capability in capabilities {
        let text = |name: &str| capability.get(name).and_then(Json::as_str).unwrap_or_default();
        facts.push(fact("grant", text("handle")));
        facts.push(fact("radius", text("blast_radius_digest")));
    }
    facts
}

fn of_signal(signal: &SignalView) -> Facts {
    let mut facts = vec![fact("signal", signal.id), fact("token", signal.resume_token)];
    let authorization = signal.decision.as_ref().and_then(|decision| decision.authorization_id);
    facts.extend(authorization.map(|id| fact("authorization", id)));
    facts
}
