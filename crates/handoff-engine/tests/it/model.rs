//! The engine beside a naive model: whatever is done in whatever order, both say the same of every request, every waiter's
//! signals, every authorization and the chain.

use std::{collections::BTreeMap, time::Duration};

use handoff_engine::{
    fsck::{Trust, check},
    store::Inspect as _,
};
use handoff_protocol::{
    decision::{DecisionError, ErrorCode, terms::RequestState, view::AuthorizationView},
    id::{AuthorizationId, RequestId, ResumeToken, SignalId, TenantId},
};
use proptest::{collection::vec, prelude::*};

use super::world::{REASON, World, YES, ask, ask_with, json};

/// How long a request with a deadline waits, in seconds.
const TTL: u64 = 20;

/// What is done. Requests are named by their place among those that were raised, and one that is not there by none.
#[derive(Clone, Debug)]
enum Op {
    /// Raise for one of two waiters, with a deadline or without.
    Raise { waiter: usize, expires: bool },
    /// Answer.
    Answer(usize),
    /// Withdraw.
    Cancel(usize),
    /// Put another in its place.
    Supersede { old: usize, by: usize },
    /// Mend the words.
    Amend(usize),
    /// Acknowledge the oldest signal of a waiter, or one that was acknowledged before.
    Acknowledge { waiter: usize, again: bool },
    /// Spend the authorization of a request on one of two effects.
    Redeem { request: usize, effect: usize },
    /// Let seconds pass, and act on what is due.
    Pass(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let place = 0..5_usize;
    prop_oneof![
        4 => (0..2_usize, any::<bool>()).prop_map(|(waiter, expires)| Op::Raise { waiter, expires }),
        4 => place.clone().prop_map(Op::Answer),
        2 => place.clone().prop_map(Op::Cancel),
        2 => (place.clone(), place.clone()).prop_map(|(old, by)| Op::Supersede { old, by }),
        2 => place.clone().prop_map(Op::Amend),
        3 => (0..2_usize, any::<bool>()).prop_map(|(waiter, again)| Op::Acknowledge { waiter, again }),
        3 => (place, 0..2_usize).prop_map(|(request, effect)| Op::Redeem { request, effect }),
        2 => (1..15_u64).prop_map(Op::Pass),
    ]
}

/// A request of the model.
#[derive(Clone, Debug)]
struct Asked {
    waiter: usize,
    state: RequestState,
    version: u64,
    deadline: Option<u64>,
    successor: Option<usize>,
    /// What its authorization was spent on.
    spent: Option<usize>,
}

/// Everything, as simple as it can be said.
#[derive(Debug, Default)]
struct Model {
    now: u64,
    asked: Vec<Asked>,
    /// The signals of each waiter: their request, and whether they were acknowledged. A signal's sequence is its place.
    signals: [Vec<(usize, bool)>; 2],
    receipts: u64,
}

impl Model {
    /// What an operation comes to: nothing, or the code of a refusal.
    fn apply(&mut self, op: &Op) -> Result<(), ErrorCode> {
        match *op {
            Op::Raise { waiter, expires } => {
                let deadline = expires.then(|| self.now + TTL);
                let state = RequestState::Pending;
                self.asked.push(Asked { waiter, state, version: 1, deadline, successor: None, spent: None });
            }
            Op::Answer(place) => {
                self.pending(place)?;
                self.end(place, RequestState::Answered);
                self.receipts += 1;
            }
            Op::Cancel(place) => {
                self.pending(place)?;
                self.end(place, RequestState::Cancelled);
            }
            Op::Supersede { old, by } => {
                self.there(by)?;
                self.pending(old)?;
                if old == by || self.asked[by].state != RequestState::Pending {
                    return Err(ErrorCode::InvalidRequest);
                }
                self.end(old, RequestState::Superseded);
                self.asked[old].successor = Some(by);
            }
            Op::Amend(place) => {
                self.pending(place)?;
                self.asked[place].version += 1;
            }
            Op::Acknowledge { waiter, again } => {
                if let Some(signal) = self.signals[waiter].iter_mut().find(|signal| signal.1 == again) {
                    signal.1 = true;
                }
            }
            Op::Redeem { request, effect } => {
                if self.there(request).is_err() || self.asked[request].state != RequestState::Answered {
                    return Err(ErrorCode::AuthorizationNotFound);
                }
                if *self.asked[request].spent.get_or_insert(effect) != effect {
                    return Err(ErrorCode::AuthorizationSpent);
                }
            }
            Op::Pass(seconds) => {
                self.now += seconds;
                let due = |asked: &Asked| asked.deadline.is_some_and(|deadline| deadline <= self.now);
                let mut late: Vec<usize> = (0..self.asked.len())
                    .filter(|place| self.asked[*place].state == RequestState::Pending && due(&self.asked[*place]))
                    .collect();
                late.sort_by_key(|place| self.asked[*place].deadline);
                for place in late {
                    self.end(place, RequestState::Expired);
                    self.receipts += 1;
                }
            }
        }
        Ok(())
    }

    fn there(&self, place: usize) -> Result<(), ErrorCode> {
        if place < self.asked.len() { Ok(()) } else { Err(ErrorCode::RequestNotFound) }
    }

    fn pending(&self, place: usize) -> Result<(), ErrorCode> {
        self.there(place)?;
        match self.asked[place].state {
            RequestState::Pending => Ok(()),
            RequestState::Answered => Err(ErrorCode::AlreadyAnswered),
            RequestState::Expired => Err(ErrorCode::RequestExpired),
            RequestState::Cancelled => Err(ErrorCode::RequestCancelled),
            RequestState::Superseded => Err(ErrorCode::RequestSuperseded),
        }
    }

    fn end(&mut self, place: usize, state: RequestState) {
        self.asked[place].state = state;
        self.signals[self.asked[place].waiter].push((place, false));
    }
}

/// The engine, with what a caller remembers of it.
struct Real {
    world: World,
    ids: Vec<RequestId>,
    authorizations: BTreeMap<usize, AuthorizationId>,
    /// The ids and tokens of every signal that was ever listed, by waiter, in order.
    signals: [Vec<(SignalId, ResumeToken)>; 2],
}

fn waiter(place: usize) -> String {
    format!("run:{place}")
}

impl Real {
    async fn new() -> Self {
        Self {
            world: World::new().await,
            ids: Vec::new(),
            authorizations: BTreeMap::new(),
            signals: [Vec::new(), Vec::new()],
        }
    }

    fn id(&self, place: usize) -> RequestId {
        self.ids.get(place).copied().unwrap_or_else(|| RequestId::parse("req_01K3M7QW8ZC4YRXB2N6VD9FTHE").unwrap())
    }

    async fn apply(&mut self, op: &Op, model: &Model) -> Result<(), ErrorCode> {
        let code = |error: DecisionError| error.code();
        let (engine, machine) = (&self.world.engine, &self.world.machine);
        match *op {
            Op::Raise { waiter: place, expires } => {
                let title = format!("question {}", self.ids.len());
                let more = format!(r#""ttl":"PT{TTL}S","ttl_policy":{{"on_expiry":"expire_and_deny"}}"#);
                let (waiter, plain) = (waiter(place), !expires);
                let body = if plain { ask(&waiter, &title) } else { ask_with(&waiter, &title, &more) };
                self.ids.push(self.world.raised(&body).await);
            }
            Op::Answer(place) => {
                let yes = json(YES);
                let answered = engine.answer(&self.world.person, self.id(place), yes, None).await.map_err(code)?;
                self.authorizations.insert(place, answered.authorization.unwrap().id);
            }
            Op::Cancel(place) => {
                engine.cancel(machine, self.id(place), json(REASON), None).await.map_err(code)?;
            }
            Op::Supersede { old, by } => {
                let body = json(&format!(r#"{{"by":"{}"}}"#, self.id(by)));
                engine.supersede(machine, self.id(old), body, None).await.map_err(code)?;
            }
            Op::Amend(place) => {
                let version = model.asked.get(place).map_or(0, |asked| asked.version);
                let body = json(&format!(r#"{{"prompt":{{"title":"question {place}, {version}"}}}}"#));
                engine.amend(machine, self.id(place), body, None).await.map_err(code)?;
            }
            Op::Acknowledge { waiter, again } => {
                // The model chose before it changed; it is asked for the place as it was.
                let Some(place) = model.signals[waiter].iter().position(|signal| signal.1 == again) else {
                    return Ok(());
                };
                let (id, token) = self.signals[waiter][place];
                let body = json(&format!(r#"{{"resume_token":"{token}","applied":true}}"#));
                let acked = engine.acknowledge(machine, id, &body).await.map_err(code)?;
                assert_eq!(acked.first_ack, !again, "{op:?}");
            }
            Op::Redeem { request, effect } => {
                let unknown = || AuthorizationId::parse("auth_01K3M7QW8ZC4YRXB2N6VD9FTHE").unwrap();
                let id = self.authorizations.get(&request).copied().unwrap_or_else(unknown);
                let body = json(&format!(r#"{{"effect_key":"effect {effect}"}}"#));
                let redeemed = engine.redeem(machine, id, &body).await.map_err(code)?;
                assert_eq!(redeemed.first_redemption, model.asked[request].spent.is_none(), "{op:?}");
            }
            Op::Pass(seconds) => {
                self.world.clock.advance(Duration::from_secs(seconds));
                engine.run_due_timers().await.unwrap();
                engine.outbound_idle().await;
            }
        }
        Ok(())
    }

    /// Holds everything that is served against the model.
    async fn compare(&mut self, model: &Model) {
        for (place, asked) in model.asked.iter().enumerate() {
            let view = self.world.request(self.ids[place]).await;
            assert_eq!((view.state, view.version), (asked.state, asked.version), "request {place}");
            let successor = asked.successor.map(|by| self.ids[by]);
            assert_eq!(view.superseded_by, successor, "request {place}");
            let recorded = matches!(asked.state, RequestState::Answered | RequestState::Expired);
            assert_eq!(view.receipt.is_some(), recorded, "the receipt of request {place}");
            let authorization = view.authorization.as_ref();
            let known = self.authorizations.get(&place).copied();
            assert_eq!(authorization.map(|minted| minted.id), known, "the authorization of request {place}");
            let spent = |minted: &AuthorizationView| {
                minted.redemptions.iter().map(|spent| spent.effect_key.clone()).collect::<Vec<_>>()
            };
            let expected: Vec<String> = asked.spent.map(|effect| format!("effect {effect}")).into_iter().collect();
            assert_eq!(authorization.map(spent).unwrap_or_default(), expected, "what request {place} was spent on");
        }
        // A waiter is there from its first raise on.
        for place in (0..2).filter(|place| model.asked.iter().any(|asked| asked.waiter == *place)) {
            let listed = self.world.signals(&waiter(place)).await;
            for signal in &listed {
                if !self.signals[place].iter().any(|(id, _)| *id == signal.id) {
                    self.signals[place].push((signal.id, signal.resume_token));
                }
            }
            let listed: Vec<(u64, RequestId)> =
                listed.iter().map(|signal| (signal.sequence, signal.request_id)).collect();
            let expected: Vec<(u64, RequestId)> = (1..)
                .zip(&model.signals[place])
                .filter(|(_, (_, acked))| !acked)
                .map(|(sequence, (request, _))| (sequence, self.ids[*request]))
                .collect();
            assert_eq!(listed, expected, "the signals of waiter {place}");
        }
        let receipts = self.world.receipts().await;
        let heights = receipts.iter().filter_map(|receipt| receipt.get("chain")?.get("height")?.as_i64());
        let top = heights.max().unwrap_or(0);
        assert_eq!(u64::try_from(top), Ok(model.receipts), "the height of the chain");
    }

    async fn sound(&self) {
        let store = self.world.store.inner();
        for tenant in [TenantId::Org(self.world.tenant), TenantId::System] {
            assert_eq!(check(&store.snapshot(&tenant).await.unwrap(), &Trust::default()), []);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_does_what_a_naive_model_does(ops in vec(op(), 1..30)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (mut real, mut model) = (Real::new().await, Model::default());
            for op in &ops {
                let came = real.apply(op, &model).await;
                let expected = model.apply(op);
                assert_eq!(came, expected, "{op:?} in {ops:?}");
                real.compare(&model).await;
            }
            real.sound().await;
        });
    }
}
