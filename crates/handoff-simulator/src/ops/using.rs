//! What people use on the way to an answer: grants, sessions, sinks.

use futures::FutureExt as _;
use handoff_protocol::secret::Secret;

use super::bodies;
use crate::{
    board::Shape,
    client::{Again, Came, Doing, Who},
    ports::CANARY,
    scheduler::lock,
};

pub(super) async fn resolve(doing: &mut Doing<'_>) -> Option<()> {
    let grants = lock(&doing.world.board).of(doing.tenant).grants.clone();
    let latest: Vec<_> = grants.iter().rev().take(4).collect();
    let (handle, digest) = **doing.rng.pick(&latest)?;
    let (place, who) = doing.person()?;
    let again = doing.keyed();
    let key = again.key();
    let scopes = if doing.rng.chance(500) { r#"["view"]"# } else { r#"["view","drive"]"# };
    let body = bodies::json(&format!(r#"{{"scopes":{scopes},"accepted_blast_radius_digest":"{digest}"}}"#));
    let reply = doing
        .call(&who, &again, move |engine, principal| {
            let (body, key) = (body.clone(), key.clone());
            async move { engine.resolve_grant(&principal, handle, body, key.as_ref()).await }.boxed()
        })
        .await;
    if let Came::Done(session) = &reply.came {
        lock(&doing.world.board).of(doing.tenant).sessions.push((handle, session.session_ref, place));
    }
    doing.refused(&reply.came);
    Some(())
}

/// One of the sessions, with its person.
fn some_session(
    doing: &mut Doing<'_>,
) -> Option<(handoff_protocol::id::GrantHandle, handoff_protocol::id::SessionRef, Who)> {
    let sessions = lock(&doing.world.board).of(doing.tenant).sessions.clone();
    let latest: Vec<_> = sessions.iter().rev().take(4).collect();
    let (handle, session, place) = **doing.rng.pick(&latest)?;
    let token = doing.cast()?.people.get(place)?.token.clone();
    Some((handle, session, Who(token)))
}

pub(super) async fn renew(doing: &mut Doing<'_>) -> Option<()> {
    let (handle, session, who) = some_session(doing)?;
    let reply = doing
        .call(&who, &Again::Freely, move |engine, principal| {
            async move { engine.renew_session(&principal, handle, session).await }.boxed()
        })
        .await;
    doing.refused(&reply.came);
    Some(())
}

pub(super) async fn release(doing: &mut Doing<'_>) -> Option<()> {
    let (handle, session, who) = some_session(doing)?;
    let reply = doing
        .call(&who, &Again::Freely, move |engine, principal| {
            async move { engine.release_session(&principal, handle, session).await }.boxed()
        })
        .await;
    if let Came::Refused(error) = &reply.came {
        doing.world.violation(format!("a session of one's own cannot be given back: {error}"));
    }
    Some(())
}

pub(super) async fn revoke(doing: &mut Doing<'_>) -> Option<()> {
    let grants = lock(&doing.world.board).of(doing.tenant).grants.clone();
    let latest: Vec<_> = grants.iter().rev().take(4).collect();
    let (handle, _) = **doing.rng.pick(&latest)?;
    let (_, who) = doing.person()?;
    let _revoked = doing
        .call(&who, &Again::Freely, move |engine, principal| {
            let body = bodies::json("{}");
            async move { engine.revoke_grant(&principal, handle, &body).await }.boxed()
        })
        .await;
    Some(())
}

pub(super) async fn submit(doing: &mut Doing<'_>) -> Option<()> {
    let known = lock(&doing.world.board).of(doing.tenant).requests.clone();
    let open: Vec<_> = known
        .iter()
        .filter(|request| request.shape == Shape::Secret && !request.ended)
        .map(|request| request.id)
        .collect();
    let id = *doing.rng.pick(&open)?;
    let (_, who) = doing.person()?;
    let again = doing.keyed();
    let key = again.key();
    let value = format!("{CANARY}{}", doing.name);
    let body = bodies::json(&format!(r#"{{"values":{{"password":"{value}"}}}}"#));
    let reply = doing
        .call(&who, &again, move |engine, principal| {
            let (body, key) = (Secret::new(body.clone()), key.clone());
            async move { engine.submit_values_for(&principal, id, "opaque:password", body, key.as_ref()).await }.boxed()
        })
        .await;
    if let Came::Done(_) = &reply.came {
        lock(&doing.world.history).submitted.push((id, value));
    }
    doing.refused(&reply.came);
    Some(())
}
