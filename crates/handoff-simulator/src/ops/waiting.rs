//! What whoever waits does: poll, acknowledge, come back, end; and everything that only reads.

use std::time::Duration;

use futures::FutureExt as _;
use handoff_engine::decision::{InboxScope, ReceiptFilter};
use handoff_protocol::{
    decision::{WaiterRef, view::SignalView},
    digest::Digest,
    id::{ReceiptId, ResumeToken, SignalId},
    json::Json,
};

use super::bodies;
use crate::{
    client::{Again, Came, Doing, Who},
    history::{Acked, Polled, Span},
    scheduler::lock,
};

pub(super) async fn poll(doing: &mut Doing<'_>) -> Option<()> {
    let who = doing.machine()?;
    let waiters = lock(&doing.world.board).of(doing.tenant).waiters.clone();
    let waiter = doing.rng.pick(&waiters)?.clone();
    let wait = if doing.rng.chance(400) { doing.rng.between(1, 30) } else { 0 };
    poll_now(doing, &who, &waiter, Duration::from_secs(wait)).await.map(|_| ())
}

/// Asks a waiter's signals, and gives those that came.
pub async fn poll_now(doing: &mut Doing<'_>, who: &Who, waiter: &str, wait: Duration) -> Option<Vec<SignalView>> {
    let reference = WaiterRef::parse(waiter).ok()?;
    let reply = doing
        .call(who, &Again::Freely, move |engine, principal| {
            let reference = reference.clone();
            async move { engine.signals(&principal, &reference, wait).await }.boxed()
        })
        .await;
    let Came::Done(list) = reply.came else { return Some(Vec::new()) };
    let span = Span { from: reply.attempt_from, to: reply.span.to };
    note_signals(doing, span, waiter, &list.data, list.has_more);
    Some(list.data)
}

fn note_signals(doing: &Doing<'_>, span: Span, waiter: &str, signals: &[SignalView], more: bool) {
    let Some(tenant) = doing.tenant_id() else { return };
    let mut board = lock(&doing.world.board);
    let known = board.of(doing.tenant);
    for signal in signals {
        known.signal(signal.id, &signal.resume_token);
        if let Some(decision) = &signal.decision {
            known.ended(signal.request_id);
            let authorization = decision.authorization_id.filter(|id| !known.authorizations.contains(id));
            known.authorizations.extend(authorization);
        }
    }
    let listed = signals.iter().map(|signal| (signal.id, signal.sequence)).collect();
    let polled = Polled { span, tenant, waiter: waiter.to_owned(), signals: listed, more };
    doing.world.note(|| format!("{} -> {polled:?}", doing.name));
    lock(&doing.world.history).polled.push(polled);
}

pub(super) async fn acknowledge(doing: &mut Doing<'_>) -> Option<()> {
    let who = doing.machine()?;
    let pushed = doing.world.ports.receivers.pushed();
    let (id, token) = if doing.rng.chance(300)
        && let Some(push) = doing.rng.pick(&pushed)
    {
        (push.signal, push.token)
    } else {
        let signals = lock(&doing.world.board).of(doing.tenant).signals.clone();
        // An old token, at times, of a signal that is acknowledged long since.
        let open: Vec<_> = signals.iter().filter(|known| !known.acked || doing.rng.chance(100)).cloned().collect();
        let known = doing.rng.pick(&open)?;
        (known.id, known.token)
    };
    acknowledge_one(doing, &who, id, token).await;
    Some(())
}

pub(super) async fn acknowledge_one(doing: &mut Doing<'_>, who: &Who, id: SignalId, token: ResumeToken) {
    let applied = doing.rng.chance(800);
    let body = bodies::json(&format!(r#"{{"resume_token":"{token}","applied":{applied}}}"#));
    let reply = doing
        .call(who, &Again::Freely, move |engine, principal| {
            let body = body.clone();
            async move { engine.acknowledge(&principal, id, &body).await }.boxed()
        })
        .await;
    if let Came::Done(result) = &reply.came {
        lock(&doing.world.board).of(doing.tenant).acked(id);
        let (at, first) = (result.acked_at, result.first_ack);
        lock(&doing.world.history).acked.push(Acked { signal: id, at, first });
    }
}

/// Acknowledges everything that a waiter has, and says how much that was.
pub async fn acknowledge_all(doing: &mut Doing<'_>, who: &Who, waiter: &str) -> usize {
    let signals = poll_now(doing, who, waiter, Duration::ZERO).await.unwrap_or_default();
    for signal in &signals {
        acknowledge_one(doing, who, signal.id, signal.resume_token).await;
    }
    signals.len()
}

fn some_waiter(doing: &mut Doing<'_>) -> Option<(String, WaiterRef)> {
    let waiters = lock(&doing.world.board).of(doing.tenant).waiters.clone();
    let waiter = doing.rng.pick(&waiters)?.clone();
    let reference = WaiterRef::parse(&waiter).ok()?;
    Some((waiter, reference))
}

pub(super) async fn reattach(doing: &mut Doing<'_>) -> Option<()> {
    let who = doing.machine()?;
    let (_, reference) = some_waiter(doing)?;
    let reply = doing
        .call(&who, &Again::Freely, move |engine, principal| {
            let reference = reference.clone();
            async move { engine.reattach(&principal, &reference).await }.boxed()
        })
        .await;
    if let Came::Done(standing) = &reply.came {
        let mut board = lock(&doing.world.board);
        let known = board.of(doing.tenant);
        standing.signals.iter().for_each(|signal| known.signal(signal.id, &signal.resume_token));
    }
    Some(())
}

pub(super) async fn end_waiter(doing: &mut Doing<'_>) -> Option<()> {
    let who = doing.machine()?;
    let (_, reference) = some_waiter(doing)?;
    let _ended = doing
        .call(&who, &Again::Freely, move |engine, principal| {
            let reference = reference.clone();
            async move { engine.waiter_ended(&principal, &reference).await }.boxed()
        })
        .await;
    Some(())
}

pub(super) async fn read(doing: &mut Doing<'_>) -> Option<()> {
    let (who, request) = (doing.machine()?, doing.some_request()?);
    let id = request.id;
    let mut reply = doing
        .call(&who, &Again::Freely, move |engine, principal| {
            async move { engine.request(&principal, id).await }.boxed()
        })
        .await;
    reply.span.from = reply.attempt_from;
    doing.saw(&reply, None, false);
    Some(())
}

pub(super) async fn wait_for_the_end(doing: &mut Doing<'_>) -> Option<()> {
    let (who, request) = (doing.machine()?, doing.some_request()?);
    let (id, wait) = (request.id, Duration::from_secs(doing.rng.below(31)));
    let mut reply = doing
        .call(&who, &Again::Freely, move |engine, principal| {
            async move { engine.request_settled(&principal, id, wait).await }.boxed()
        })
        .await;
    reply.span.from = reply.attempt_from;
    doing.saw(&reply, None, false);
    Some(())
}

pub(super) async fn inbox(doing: &mut Doing<'_>) -> Option<()> {
    let (_, who) = doing.person()?;
    let scope = if doing.rng.chance(500) { InboxScope::All } else { InboxScope::Mine };
    let reply = doing
        .call(&who, &Again::Freely, move |engine, principal| {
            async move { engine.inbox(&principal, scope, None, 20).await }.boxed()
        })
        .await;
    if let Came::Done(inbox) = &reply.came {
        let mut board = lock(&doing.world.board);
        inbox.requests.iter().for_each(|view| {
            let known = board.of(doing.tenant);
            if known.requests.iter().any(|request| request.id == view.id) {
                known.saw(view, None);
            }
        });
        // What an index names is read with it, so none of these can have ended before it was asked for.
        let from = reply.attempt_from;
        let span = Span { from, to: reply.span.to };
        let mut history = lock(&doing.world.history);
        history.read.extend(inbox.requests.iter().map(|view| crate::history::Read {
            span,
            id: view.id,
            state: view.state,
            version: view.version,
            waiter: view.waiter.state,
        }));
    }
    Some(())
}

pub(super) async fn receipts(doing: &mut Doing<'_>) -> Option<()> {
    let who = doing.machine()?;
    if doing.rng.chance(500) {
        let reply = doing
            .call(&who, &Again::Freely, move |engine, principal| {
                async move { engine.chain_head(&principal).await }.boxed()
            })
            .await;
        if let Came::Done(head) = &reply.came {
            let span = Span { from: reply.attempt_from, to: reply.span.to };
            lock(&doing.world.history).heads.push((doing.tenant, span, head.height, head.head_digest));
        }
        return Some(());
    }
    let reply = doing
        .call(&who, &Again::Freely, move |engine, principal| {
            async move { engine.receipts(&principal, ReceiptFilter::default()).await }.boxed()
        })
        .await;
    if let Came::Done(page) = &reply.came {
        let mut served = Vec::new();
        for receipt in &page.data {
            let text = receipt.as_str();
            let id = bodies::json(text).get("id").and_then(Json::as_str).and_then(|id| ReceiptId::parse(id).ok());
            served.extend(id.map(|id| (id, Digest::of(text))));
        }
        let mut board = lock(&doing.world.board);
        let known = board.of(doing.tenant);
        for (id, _) in &served {
            if !known.receipts.contains(id) {
                known.receipts.push(*id);
            }
        }
        lock(&doing.world.history).served.extend(served);
    }
    Some(())
}
