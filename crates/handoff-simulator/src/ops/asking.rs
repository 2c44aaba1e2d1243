//! What whoever asks does: raise, withdraw, mend, replace, arm.

use futures::FutureExt as _;
use handoff_protocol::{decision::terms::RequestState, id::RequestId, json::Json};

use super::bodies;
use crate::{
    board::Shape,
    client::{Again, Came, Doing, Reply, Who},
    history::Raised,
    scheduler::lock,
};

pub(super) async fn raise(doing: &mut Doing<'_>) -> Option<()> {
    let who = doing.machine()?;
    let again = doing.keyed();
    let (body, shape) = bodies::raise(doing);
    raise_as(doing, &who, &again, body, shape).await
}

/// Raises a request and notes what came of it.
pub async fn raise_as(doing: &mut Doing<'_>, who: &Who, again: &Again, body: Json, shape: Shape) -> Option<()> {
    let key = again.key();
    let name = key.as_ref().map(|_| doing.name.clone());
    let reply = doing
        .call(who, again, move |engine, principal| {
            let (body, key) = (body.clone(), key.clone());
            async move { engine.raise(&principal, body, key.as_ref()).await }.boxed()
        })
        .await;
    // The first raise of a request mends nothing; which one that was is for the check to say.
    let known = if let Came::Done(raised) = &reply.came { Some(raised.request.id) } else { None };
    doing.mended(&reply, known);
    if let Came::Done(raised) = &reply.came {
        let (tenant, id, created) = (doing.tenant_id()?, raised.request.id, raised.created);
        lock(&doing.world.history).raised.push(Raised { tenant, key: name, id, created });
    }
    let Reply { came, span, attempt_from, tries } = reply;
    let came = match came {
        Came::Done(raised) => Came::Done(raised.request),
        Came::Refused(error) => Came::Refused(error),
        Came::Unknown => Came::Unknown,
    };
    // A repeat is told how the request stands now, so it is as good as a read.
    doing.saw(&Reply { came, span, attempt_from, tries }, Some(shape), false);
    Some(())
}

pub(super) async fn cancel(doing: &mut Doing<'_>) -> Option<()> {
    let (who, request, again) = (doing.machine()?, doing.some_request()?, doing.keyed());
    cancel_as(doing, &who, request.id, &again).await;
    Some(())
}

/// Withdraws a request and notes what came of it.
pub(super) async fn cancel_as(doing: &mut Doing<'_>, who: &Who, id: RequestId, again: &Again) {
    let key = again.key();
    let reply = doing
        .call(who, again, move |engine, principal| {
            let key = key.clone();
            let body = bodies::json(r#"{"reason":"no longer needed"}"#);
            async move { engine.cancel(&principal, id, body, key.as_ref()).await }.boxed()
        })
        .await;
    if let Came::Done(view) = &reply.came
        && view.state != RequestState::Cancelled
    {
        doing.world.violation(format!("a cancellation of {id} was acknowledged, and it is {}", view.state.as_str()));
    }
    if matches!(&reply.came, Came::Refused(error) if matches!(error.code(), handoff_protocol::decision::ErrorCode::AlreadyAnswered | handoff_protocol::decision::ErrorCode::RequestExpired))
    {
        doing.cover("R11 withdrawn after its end");
    }
    doing.saw(&reply, None, reply.tries > 1);
}

pub(super) async fn amend(doing: &mut Doing<'_>) -> Option<()> {
    let (who, request, again) = (doing.machine()?, doing.some_request()?, doing.keyed());
    let key = again.key();
    let (id, words) = (request.id, doing.rng.below(1_000));
    let body = bodies::json(&format!(r#"{{"prompt":{{"title":"Better words {words}"}}}}"#));
    let reply = doing
        .call(&who, &again, move |engine, principal| {
            let (body, key) = (body.clone(), key.clone());
            async move { engine.amend(&principal, id, body, key.as_ref()).await }.boxed()
        })
        .await;
    doing.mended(&reply, Some(id));
    doing.saw(&reply, None, reply.tries > 1);
    Some(())
}

pub(super) async fn supersede(doing: &mut Doing<'_>) -> Option<()> {
    let (who, request, again) = (doing.machine()?, doing.some_request()?, doing.keyed());
    let (id, by) = (request.id, doing.some_request()?.id);
    let key = again.key();
    let body = bodies::json(&format!(r#"{{"by":"{by}"}}"#));
    let reply = doing
        .call(&who, &again, move |engine, principal| {
            let (body, key) = (body.clone(), key.clone());
            async move { engine.supersede(&principal, id, body, key.as_ref()).await }.boxed()
        })
        .await;
    doing.saw(&reply, None, reply.tries > 1);
    Some(())
}

pub(super) async fn arm(doing: &mut Doing<'_>) -> Option<()> {
    let (who, request, again) = (doing.machine()?, doing.some_request()?, doing.keyed());
    let key = again.key();
    let id = request.id;
    let ttl = doing.rng.pick(&[r#"{}"#, r#"{"ttl":"PT2S"}"#, r#"{"ttl":"PT20S"}"#]).copied()?;
    let reply = doing
        .call(&who, &again, move |engine, principal| {
            let key = key.clone();
            async move { engine.arm_attempt(&principal, id, bodies::json(ttl), key.as_ref()).await }.boxed()
        })
        .await;
    doing.saw(&reply, None, reply.tries > 1);
    Some(())
}
