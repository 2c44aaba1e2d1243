//! The steps of scripts: what other modules of this one do by chance, done as it is written.

use std::time::Duration;

use futures::FutureExt as _;
use handoff_protocol::{decision::WaiterRef, id::DeliveryId};

use super::{answer_as, bodies, key, raise_as, waiting};
use crate::{
    board::Request,
    client::{Again, Came, Doing, Who},
    history::Redeemed,
    ports::CANARY,
    scheduler::lock,
    script::Step,
};

/// Does one step of a script.
pub(super) async fn step(doing: &mut Doing<'_>, step: Step) -> Option<()> {
    doing.tenant = 0;
    let cast = doing.cast()?;
    let machine = Who(cast.machines.first()?.clone());
    let person = |place: usize| cast.people.get(place).map(|member| Who(member.token.clone()));
    let again = key(&doing.name);
    let (name, last) = (doing.name.clone(), last_request(doing));
    let id = last.as_ref().map(|request| request.id);
    match step {
        Step::Raise(asks, more) => {
            let body = bodies::scripted(asks.shape(), &name, more);
            return raise_as(doing, &machine, &again, body, asks.shape()).await;
        }
        Step::Answer(place) => {
            let request = last?;
            let body = super::ending(request.shape, request.rendered);
            return answer_as(doing, &person(place)?, request.id, body, &again).await;
        }
        Step::Part(values) => {
            let body = format!(r#""values":{values},"partial":true"#);
            return answer_as(doing, &person(1)?, id?, body, &again).await;
        }
        Step::Dispose(body) => return answer_as(doing, &person(1)?, id?, body.to_owned(), &again).await,
        Step::Pass(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
        Step::Receivers(up) => doing.world.ports.receivers.set_down(!up),
        Step::Take => {
            // Until nothing is left, as a runtime does.
            while waiting::acknowledge_all(doing, &machine, "run:0").await > 0 {}
        }
        Step::Poll => {
            waiting::poll_now(doing, &machine, "run:0", Duration::ZERO).await?;
        }
        Step::AckOld => {
            let known = lock(&doing.world.board).of(0).signals.last().cloned()?;
            waiting::acknowledge_one(doing, &machine, known.id, known.token).await;
        }
        Step::Supersede => {
            let before = lock(&doing.world.board).of(0).requests.iter().rev().nth(1)?.id;
            let by = id?;
            let body = bodies::json(&format!(r#"{{"by":"{by}"}}"#));
            let key = again.key();
            let reply = doing
                .call(&machine, &again, move |engine, principal| {
                    let (body, key) = (body.clone(), key.clone());
                    async move { engine.supersede(&principal, before, body, key.as_ref()).await }.boxed()
                })
                .await;
            doing.refused(&reply.came);
        }
        Step::Cancel | Step::Amend | Step::Arm | Step::Escalate | Step::Reassign => {
            let id = id?;
            let admin = cast.people.first()?.id;
            let key = again.key();
            let reply = doing
                .call(&machine, &again, move |engine, principal| {
                    let key = key.clone();
                    async move {
                        let json = |text: &str| bodies::json(text);
                        let key = key.as_ref();
                        match step {
                            Step::Cancel => engine.cancel(&principal, id, json(r#"{"reason":"no"}"#), key).await,
                            Step::Amend => {
                                engine.amend(&principal, id, json(r#"{"prompt":{"title":"Better"}}"#), key).await
                            }
                            Step::Arm => engine.arm_attempt(&principal, id, json(r#"{"ttl":"PT2S"}"#), key).await,
                            Step::Escalate => engine.escalate(&principal, id, json("{}"), key).await,
                            _ => {
                                let to = format!(r#"{{"to":{{"kind":"principal","value":"{admin}"}}}}"#);
                                engine.reassign(&principal, id, json(&to), key).await
                            }
                        }
                    }
                    .boxed()
                })
                .await;
            if step == Step::Amend {
                doing.mended(&reply, Some(id));
            }
            doing.saw(&reply, None, true);
        }
        Step::Redeem(effect) => {
            let minted = *lock(&doing.world.board).of(0).authorizations.last()?;
            let digest = "e".repeat(64);
            let body = bodies::json(&format!(r#"{{"effect_key":"{effect}","effect_digest":"sha256:{digest}"}}"#));
            let reply = doing
                .call(&machine, &Again::Freely, move |engine, principal| {
                    let body = body.clone();
                    async move { engine.redeem(&principal, minted, &body).await }.boxed()
                })
                .await;
            if let Came::Done(result) = reply.came {
                let (effect, at, first) = (effect.to_owned(), result.redeemed_at, result.first_redemption);
                lock(&doing.world.history).redeemed.push(Redeemed { authorization: minted, effect, at, first });
            }
        }
        Step::Correct => {
            let receipt = *lock(&doing.world.board).of(0).receipts.last()?;
            let key = again.key();
            let _corrected = doing
                .call(&person(1)?, &again, move |engine, principal| {
                    let (body, key) = (bodies::json(r#"{"values":{"decision":"no"},"note":"a slip"}"#), key.clone());
                    async move { engine.correct(&principal, receipt, body, key.as_ref()).await }.boxed()
                })
                .await;
        }
        Step::Resolve => {
            let (handle, digest) = *lock(&doing.world.board).of(0).grants.last()?;
            let body = bodies::json(&format!(r#"{{"scopes":["view"],"accepted_blast_radius_digest":"{digest}"}}"#));
            let key = again.key();
            let reply = doing
                .call(&person(0)?, &again, move |engine, principal| {
                    let (body, key) = (body.clone(), key.clone());
                    async move { engine.resolve_grant(&principal, handle, body, key.as_ref()).await }.boxed()
                })
                .await;
            if let Came::Done(session) = &reply.came {
                lock(&doing.world.board).of(0).sessions.push((handle, session.session_ref, 0));
            }
        }
        Step::Renew | Step::Release => {
            let (handle, session, _) = *lock(&doing.world.board).of(0).sessions.last()?;
            let _kept = doing
                .call(&person(0)?, &Again::Freely, move |engine, principal| {
                    async move {
                        if step == Step::Renew {
                            engine.renew_session(&principal, handle, session).await.map(|_| ())
                        } else {
                            engine.release_session(&principal, handle, session).await
                        }
                    }
                    .boxed()
                })
                .await;
        }
        Step::Revoke => {
            let (handle, _) = *lock(&doing.world.board).of(0).grants.last()?;
            let _revoked = doing
                .call(&person(0)?, &Again::Freely, move |engine, principal| {
                    async move { engine.revoke_grant(&principal, handle, &bodies::json("{}")).await }.boxed()
                })
                .await;
        }
        Step::Submit => {
            let (id, value) = (id?, format!("{CANARY}{name}"));
            let body = bodies::json(&format!(r#"{{"values":{{"password":"{value}"}}}}"#));
            let key = again.key();
            let reply = doing
                .call(&person(0)?, &again, move |engine, principal| {
                    let (body, key) = (handoff_protocol::secret::Secret::new(body.clone()), key.clone());
                    async move { engine.submit_values_for(&principal, id, "opaque:password", body, key.as_ref()).await }
                        .boxed()
                })
                .await;
            if let Came::Done(_) = reply.came {
                lock(&doing.world.history).submitted.push((id, value));
            }
        }
        Step::Push => {
            let signal = lock(&doing.world.board).of(0).signals.last()?.id;
            let delivery = DeliveryId::from_ulid(signal.ulid());
            let key = again.key();
            let _queued = doing
                .call(&machine, &again, move |engine, principal| {
                    let key = key.clone();
                    async move { engine.redeliver(&principal, delivery, &bodies::json("{}"), key.as_ref()).await }
                        .boxed()
                })
                .await;
        }
        Step::Seen | Step::Bounced => {
            let sent: Vec<DeliveryId> = doing.world.ports.channels.iter().flat_map(|channel| channel.sent()).collect();
            let (delivery, tenant, key) = (*sent.last()?, doing.tenant_id()?, again.key());
            let _told = doing
                .call(&machine, &again, move |engine, principal| {
                    let key = key.clone();
                    async move {
                        if step == Step::Bounced {
                            return engine.delivery_bounced(tenant, delivery).await;
                        }
                        let body = bodies::json(r#"{"grade":"seen"}"#);
                        engine.report_grade(&principal, delivery, body, key.as_ref()).await.map(|_| ())
                    }
                    .boxed()
                })
                .await;
        }
        Step::Look => {
            let id = id?;
            let _looked = doing
                .call(&person(1)?, &Again::Freely, move |engine, principal| {
                    async move { engine.page_opened(&principal, id).await }.boxed()
                })
                .await;
        }
        Step::End | Step::Reattach => {
            let waiter = WaiterRef::parse("run:0").ok()?;
            let _standing = doing
                .call(&machine, &Again::Freely, move |engine, principal| {
                    let waiter = waiter.clone();
                    async move {
                        if step == Step::End {
                            engine.waiter_ended(&principal, &waiter).await
                        } else {
                            engine.reattach(&principal, &waiter).await
                        }
                    }
                    .boxed()
                })
                .await;
        }
    }
    Some(())
}

fn last_request(doing: &Doing<'_>) -> Option<Request> {
    lock(&doing.world.board).of(0).requests.last().cloned()
}
