//! What concerns reaching people: rungs, passing on, once more, how far a delivery got.

use futures::FutureExt as _;
use handoff_protocol::id::DeliveryId;

use super::bodies;
use crate::{
    client::{Again, Doing},
    scheduler::lock,
};

pub(super) async fn escalate(doing: &mut Doing<'_>) -> Option<()> {
    let (who, request, again) = (doing.machine()?, doing.some_request()?, doing.keyed());
    let key = again.key();
    let id = request.id;
    let body = doing.rng.pick(&["{}", r#"{"rung":1}"#, r#"{"rung":2}"#]).copied()?;
    let reply = doing
        .call(&who, &again, move |engine, principal| {
            let key = key.clone();
            async move { engine.escalate(&principal, id, bodies::json(body), key.as_ref()).await }.boxed()
        })
        .await;
    doing.saw(&reply, None, reply.tries > 1);
    Some(())
}

pub(super) async fn reassign(doing: &mut Doing<'_>) -> Option<()> {
    let (who, request, again) = (doing.machine()?, doing.some_request()?, doing.keyed());
    let key = again.key();
    let id = request.id;
    let cast = doing.cast()?;
    let to = bodies::target(&mut doing.rng, cast)?;
    let body = bodies::json(&format!(r#"{{"to":{to}}}"#));
    let reply = doing
        .call(&who, &again, move |engine, principal| {
            let (body, key) = (body.clone(), key.clone());
            async move { engine.reassign(&principal, id, body, key.as_ref()).await }.boxed()
        })
        .await;
    doing.saw(&reply, None, reply.tries > 1);
    Some(())
}

fn some_delivery(doing: &mut Doing<'_>) -> Option<DeliveryId> {
    let known = lock(&doing.world.board).of(doing.tenant).deliveries.clone();
    let latest: Vec<_> = known.iter().rev().take(12).collect();
    doing.rng.pick(&latest).map(|id| **id)
}

pub(super) async fn redeliver(doing: &mut Doing<'_>) -> Option<()> {
    let who = doing.machine()?;
    let again = doing.keyed();
    let key = again.key();
    let signals = lock(&doing.world.board).of(doing.tenant).signals.clone();
    let id = if doing.rng.chance(500) {
        some_delivery(doing)?
    } else {
        DeliveryId::from_ulid(doing.rng.pick(&signals)?.id.ulid())
    };
    let reply = doing
        .call(&who, &again, move |engine, principal| {
            let key = key.clone();
            async move { engine.redeliver(&principal, id, &bodies::json("{}"), key.as_ref()).await }.boxed()
        })
        .await;
    doing.refused(&reply.came);
    Some(())
}

pub(super) async fn grade(doing: &mut Doing<'_>) -> Option<()> {
    let who = doing.machine()?;
    let sent: Vec<DeliveryId> = doing.world.ports.channels.iter().flat_map(|channel| channel.sent()).collect();
    let id = if doing.rng.chance(800)
        && let Some(id) = doing.rng.pick(&sent)
    {
        *id
    } else {
        some_delivery(doing)?
    };
    if doing.rng.chance(300) {
        let tenant = doing.tenant_id()?;
        let _bounced = doing
            .call(&who, &Again::Freely, move |engine, _| {
                async move { engine.delivery_bounced(tenant, id).await }.boxed()
            })
            .await;
        return Some(());
    }
    let again = doing.keyed();
    let key = again.key();
    let grade = doing.rng.pick(&["delivered", "seen"]).copied()?;
    let reply = doing
        .call(&who, &again, move |engine, principal| {
            let (body, key) = (bodies::json(&format!(r#"{{"grade":"{grade}"}}"#)), key.clone());
            async move { engine.report_grade(&principal, id, body, key.as_ref()).await }.boxed()
        })
        .await;
    doing.refused(&reply.came);
    Some(())
}

pub(super) async fn look(doing: &mut Doing<'_>) -> Option<()> {
    let (_, who) = doing.person()?;
    let id = doing.some_request()?.id;
    let _looked = doing
        .call(&who, &Again::Freely, move |engine, principal| {
            async move { engine.page_opened(&principal, id).await }.boxed()
        })
        .await;
    Some(())
}

pub(super) async fn observe(doing: &mut Doing<'_>) -> Option<()> {
    let who = doing.machine()?;
    let id = doing.some_request()?.id;
    let words = doing.rng.chance(500);
    let _noted = doing
        .call(&who, &Again::Never, move |engine, principal| {
            async move {
                if words {
                    engine.receive_message(principal.tenant, id, "pager", "ok, I think").await
                } else {
                    engine.observe_change(principal.tenant, id).await
                }
            }
            .boxed()
        })
        .await;
    Some(())
}
