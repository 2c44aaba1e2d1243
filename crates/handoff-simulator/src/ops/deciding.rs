//! What people do with a request: answer, give a part, pass it on, correct; and what a runtime does with an answer.

use futures::FutureExt as _;
use handoff_protocol::{
    decision::{ErrorCode, idempotency::IdempotencyKey},
    id::RequestId,
};

use super::bodies;
use crate::{
    board::Shape,
    client::{Again, Came, Doing, Who},
    history::{Answered, Redeemed},
    scheduler::lock,
};

pub(super) async fn answer(doing: &mut Doing<'_>) -> Option<()> {
    let (_, who) = doing.person()?;
    let (request, again) = (doing.some_request()?, doing.keyed());
    let whole = doing.rng.chance(500);
    let mut body = bodies::answer(&mut doing.rng, request.shape, whole);
    if doing.rng.chance(700) {
        body.push_str(&format!(r#","rendered_digest":"{}""#, request.rendered));
    }
    if doing.rng.chance(200) {
        let deliveries = lock(&doing.world.board).of(doing.tenant).deliveries.clone();
        if let Some(delivery) = doing.rng.pick(&deliveries) {
            body.push_str(&format!(r#","via_delivery_id":"{delivery}""#));
        }
    }
    answer_as(doing, &who, request.id, body, &again).await
}

/// Answers a request and notes what came of it.
pub async fn answer_as(doing: &mut Doing<'_>, who: &Who, id: RequestId, members: String, again: &Again) -> Option<()> {
    let key = again.key();
    let name = key.as_ref().map(|_| doing.name.clone());
    let reply = doing
        .call(who, again, move |engine, principal| {
            let (body, key) = (bodies::json(&format!("{{{members}}}")), key.clone());
            async move { engine.answer(&principal, id, body, key.as_ref()).await }.boxed()
        })
        .await;
    match &reply.came {
        Came::Done(result) => {
            if reply.tries > 1 {
                doing.cover("R9 the same answer again");
            }
            let receipt = result.receipt.map(|receipt| (receipt.id, receipt.digest));
            let authorization = result.authorization.map(|minted| minted.id);
            lock(&doing.world.history).answered.push(Answered { id, key: name, receipt, authorization });
            let mut board = lock(&doing.world.board);
            let known = board.of(doing.tenant);
            if let Some((receipt, _)) = receipt {
                known.ended(id);
                known.receipts.push(receipt);
            }
            known.authorizations.extend(authorization);
        }
        Came::Refused(error) if error.code() == ErrorCode::AlreadyAnswered => doing.cover("R10 another answer"),
        Came::Refused(_) | Came::Unknown => {}
    }
    doing.refused(&reply.came);
    Some(())
}

pub(super) async fn dispose(doing: &mut Doing<'_>) -> Option<()> {
    let (_, who) = doing.person()?;
    let (request, again) = (doing.some_request()?, doing.keyed());
    let body = if doing.rng.chance(500) {
        r#""values":{},"disposition":"unable","note":"on leave""#.to_owned()
    } else {
        let cast = doing.cast()?;
        let to = bodies::target(&mut doing.rng, cast)?;
        format!(r#""values":{{}},"disposition":"delegate","delegate_to":{to}"#)
    };
    answer_as(doing, &who, request.id, body, &again).await
}

pub(super) async fn correct(doing: &mut Doing<'_>) -> Option<()> {
    let (_, who) = doing.person()?;
    let again = doing.keyed();
    let key = again.key();
    let receipts = lock(&doing.world.board).of(doing.tenant).receipts.clone();
    let id = *doing.rng.pick(&receipts)?;
    let reply = doing
        .call(&who, &again, move |engine, principal| {
            let body = bodies::json(r#"{"values":{"decision":"no"},"note":"a slip of the finger"}"#);
            let key = key.clone();
            async move { engine.correct(&principal, id, body, key.as_ref()).await }.boxed()
        })
        .await;
    doing.refused(&reply.came);
    Some(())
}

pub(super) async fn redeem(doing: &mut Doing<'_>) -> Option<()> {
    let who = doing.machine()?;
    let known = lock(&doing.world.board).of(doing.tenant).authorizations.clone();
    let id = *doing.rng.pick(&known)?;
    let effect = format!("effect {}", doing.rng.below(3));
    let digest =
        if doing.rng.chance(500) { format!(r#","effect_digest":"sha256:{}""#, "e".repeat(64)) } else { String::new() };
    let body = bodies::json(&format!(r#"{{"effect_key":"{effect}"{digest}}}"#));
    let reply = doing
        .call(&who, &Again::Freely, move |engine, principal| {
            let body = body.clone();
            async move { engine.redeem(&principal, id, &body).await }.boxed()
        })
        .await;
    if let Came::Done(result) = &reply.came {
        let (at, first) = (result.redeemed_at, result.first_redemption);
        lock(&doing.world.history).redeemed.push(Redeemed { authorization: id, effect, at, first });
    }
    Some(())
}

/// A key of the simulator's own.
pub(crate) fn key(name: &str) -> Again {
    IdempotencyKey::parse(name).map_or(Again::Never, Again::Key)
}

/// What a person answers who wants a request to end.
pub(crate) fn ending(shape: Shape, rendered: impl std::fmt::Display) -> String {
    let mut rng = crate::rng::Rng::new(1);
    format!(r#"{},"rendered_digest":"{rendered}""#, bodies::answer(&mut rng, shape, true))
}
