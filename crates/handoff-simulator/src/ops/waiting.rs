//! What whoever waits does: poll, acknowledge, come back, end; and everything that only reads.

use std::{sync::Arc, time::Duration};

use futures::FutureExt as _;
use handoff_engine::decision::{InboxScope, ReceiptFilter};
use handoff_protocol::{
    decision::{ErrorCode, WaiterRef, view::SignalView},
    digest::Digest,
    id::{ReceiptId, RequestId, ResumeToken, SignalId},
    json::Json,
};

use super::bodies;
use crate::{
    board::Shape,
    client::{Again, Came, Doing, Who},
    history::{Acked, Held, HeldOn, Polled, Span},
    rng::Rng,
    scheduler::lock,
    world::World,
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
    if let Some(tenant) = doing.tenant_id().filter(|_| !wait.is_zero()) {
        note_held(doing, span, HeldOn::Signal(tenant, waiter.to_owned()));
    }
    note_signals(doing, span, waiter, &list.data, list.has_more);
    Some(list.data)
}

/// Notes a call that was held, unless something may have gone wrong with it.
fn note_held(doing: &Doing<'_>, span: Span, on: HeldOn) {
    if doing.world.is_steady() {
        let until = doing.world.disk.clock().millis();
        lock(&doing.world.history).held.push(Held { span, until, on });
    }
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

/// Holds polls and a wait for the end of a request, at several nodes, while the request is withdrawn: whoever waits still must
/// hear of it. It is withdrawn while they begin, at first, and the second time once one of them gave up.
pub async fn hear_of_an_end(world: &Arc<World>, tenant: usize) {
    const HELD: Duration = Duration::from_secs(25);
    const BRIEF: Duration = Duration::from_secs(1);
    let Some(token) = world.cast().and_then(|cast| cast.tenants.get(tenant)?.machines.first()) else { return };
    let who = Who(token.clone());
    let mut rng = Rng::of(world.plan.seed, "held");
    let begins = rng.below(world.plan.knobs.store_latency.saturating_mul(5).saturating_add(5));
    for (name, wait) in [("held:first", begins), ("held:then", 2_500)] {
        let waiter = format!("run:{name}");
        let raise = format!(r#"{{"waiter_ref":"{waiter}","prompt":{{"title":"held"}},"requires":{{"v":1}}}}"#);
        let mut asking = Doing::once(world, tenant, name);
        let again = super::key(name);
        super::asking::raise_as(&mut asking, &who, &again, bodies::json(&raise), Shape::Choice).await;
        let key = Some(name.to_owned());
        let raised = lock(&world.history).raised.iter().rev().find(|raised| raised.key == key).cloned();
        let Some(id) = raised.map(|raised| raised.id) else { return };
        let waits = |name: &str, node| Doing::once(world, tenant, name).from(node);
        let (mut polls, mut gives_up, mut ends) = (waits("polls", 1), waits("gives up", 1), waits("ends", 2));
        let withdraws = async {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            super::asking::cancel_as(&mut asking, &who, id, &again).await;
        };
        tokio::join!(
            poll_now(&mut polls, &who, &waiter, HELD),
            poll_now(&mut gives_up, &who, &waiter, BRIEF),
            wait_for(&mut ends, &who, id, HELD),
            withdraws,
        );
    }
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
    let who = doing.machine()?;
    if doing.rng.chance(150) {
        return trespass(doing, &who).await;
    }
    let id = doing.some_request()?.id;
    let mut reply = doing
        .call(&who, &Again::Freely, move |engine, principal| {
            async move { engine.request(&principal, id).await }.boxed()
        })
        .await;
    reply.span.from = reply.attempt_from;
    doing.saw(&reply, None, false);
    Some(())
}

/// Asks for what is another tenant's, which is not there.
async fn trespass(doing: &mut Doing<'_>, who: &Who) -> Option<()> {
    let other = usize::from(doing.tenant == 0);
    let known = lock(&doing.world.board).of(other).requests.clone();
    let id = doing.rng.pick(&known)?.id;
    let reply = doing
        .call(who, &Again::Freely, move |engine, principal| async move { engine.request(&principal, id).await }.boxed())
        .await;
    let came = match reply.came {
        Came::Done(_) => "it is served",
        Came::Refused(error) if error.code() != ErrorCode::RequestNotFound => "it is not simply not there",
        Came::Refused(_) | Came::Unknown => return Some(()),
    };
    doing.world.violation(format!("T-3: another tenant asks for {id}, and {came}"));
    Some(())
}

pub(super) async fn wait_for_the_end(doing: &mut Doing<'_>) -> Option<()> {
    let (who, request) = (doing.machine()?, doing.some_request()?);
    let wait = Duration::from_secs(doing.rng.below(31));
    wait_for(doing, &who, request.id, wait).await;
    Some(())
}

/// Waits for the end of a request, for so long at the most.
async fn wait_for(doing: &mut Doing<'_>, who: &Who, id: RequestId, wait: Duration) {
    let mut reply = doing
        .call(who, &Again::Freely, move |engine, principal| {
            async move { engine.request_settled(&principal, id, wait).await }.boxed()
        })
        .await;
    reply.span.from = reply.attempt_from;
    if matches!(reply.came, Came::Done(_)) && !wait.is_zero() {
        note_held(doing, reply.span, HeldOn::End(id));
    }
    doing.saw(&reply, None, false);
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
