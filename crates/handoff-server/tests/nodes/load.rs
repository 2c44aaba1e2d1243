//! A mixed load: raises, polls that are held at one node while another is answered at, callbacks, acknowledgements,
//! redemptions; and what was acknowledged of it.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use crate::{
    fleet::{Call, Fleet},
    support::tenant::{Tenant, YES},
    wakes::Wake,
};

/// What callers were told.
#[derive(Default)]
pub(crate) struct Acknowledged {
    pub(crate) raised: Vec<String>,
    /// Requests and their receipts' digests.
    pub(crate) answered: Vec<(String, String)>,
    /// Requests whose signal has to come as a push.
    pub(crate) pushed: Vec<String>,
    pub(crate) acked: Vec<String>,
    pub(crate) redeemed: Vec<String>,
    /// The polls that came back.
    pub(crate) wakes: Vec<Wake>,
    /// How many polls were held at a node that died.
    pub(crate) polls_again: usize,
}

impl Acknowledged {
    pub(crate) fn extend(&mut self, other: Self) {
        self.raised.extend(other.raised);
        self.answered.extend(other.answered);
        self.pushed.extend(other.pushed);
        self.acked.extend(other.acked);
        self.redeemed.extend(other.redeemed);
        self.wakes.extend(other.wakes);
        self.polls_again += other.polls_again;
    }
}

/// One caller among others.
pub(crate) struct Caller<'c> {
    pub(crate) fleet: &'c Fleet<'c>,
    pub(crate) tenant: &'c Tenant,
    pub(crate) number: usize,
    /// The port of the receiver.
    pub(crate) callbacks: u16,
}

impl Caller<'_> {
    /// Goes through one story after another until it is told to stop.
    pub(crate) fn work(&self, stop: &AtomicBool) -> Acknowledged {
        let mut told = Acknowledged::default();
        for n in 0_usize.. {
            if stop.load(Ordering::SeqCst) {
                break;
            }
            self.story(n, &mut told);
        }
        told
    }

    fn story(&self, n: usize, told: &mut Acknowledged) {
        let (tenant, fleet) = (self.tenant, self.fleet);
        let from = self.number + n;
        let waiter = format!("caller:{}:{n}", self.number);
        let callback = match n % 3 {
            2 => format!(r#","callback":{{"url":"http://127.0.0.1:{}/push"}}"#, self.callbacks),
            _ => String::new(),
        };
        let body = format!(
            r#"{{"waiter_ref":"{waiter}","mode":"gated","prompt":{{"title":"Ship it?"}}{callback},"requires":{{"v":1,"answer":{{"fields":
            [{{"name":"decision","type":"choice","required":true,"options":[{{"id":"yes","label":"Yes"}}]}}]}}}}}}"#
        );
        let key = |step: &str| format!("{step}-{}-{n}", self.number);
        let post = |from: usize, path: &str, token: &str, step: &str, body: &str| {
            let key = key(step);
            fleet.call(from, &Call { method: "POST", path, token, key: Some(&key), body })
        };
        let raised = post(from, "/v1/requests", &tenant.machine, "raise", &body);
        assert!(matches!(raised.status, 200 | 201), "{raised:?}");
        let request = raised.text("id");
        told.raised.push(request.clone());
        // Some stay pending.
        if n % 10 == 9 {
            return;
        }
        let path = format!("/v1/waiters/{waiter}/signals?wait=30");
        let poll = Call { method: "GET", path: &path, token: &tenant.machine, key: None, body: "" };
        let mut polling = fleet.connect(from + 1);
        let held = Instant::now();
        let sent = callback.is_empty() && poll.send(&mut polling).is_ok();
        let answered = post(from + 2, &format!("/v1/requests/{request}/answer"), &tenant.person, "answer", YES);
        assert_eq!(answered.status, 200, "{answered:?}");
        told.answered.push((request.clone(), answered.text("receipt.digest")));
        if callback.is_empty() {
            let answered_at = Instant::now();
            let signals = match polling.receive() {
                Ok(signals) if sent && signals.status == 200 => signals,
                // Its node died, or stopped: whoever waits asks another.
                _ => {
                    told.polls_again += 1;
                    fleet.call(from + 2, &poll)
                }
            };
            told.wakes.push(Wake { held, answered: answered_at, woken: Instant::now() });
            assert_eq!(signals.text("data.0.decision.receipt_id"), answered.text("receipt.id"), "{signals:?}");
            let (signal, token) = (signals.text("data.0.id"), signals.text("data.0.resume_token"));
            self.acknowledge(from, &signal, &token);
            told.acked.push(signal);
        } else {
            told.pushed.push(request.clone());
        }
        if n.is_multiple_of(2) {
            let authorization = answered.text("authorization.id");
            let body = format!(r#"{{"effect_key":"{request}"}}"#);
            let path = format!("/v1/authorizations/{authorization}/redeem");
            let redeemed = post(from, &path, &tenant.machine, "redeem", &body);
            assert_eq!(redeemed.status, 200, "{redeemed:?}");
            told.redeemed.push(authorization);
        }
    }

    /// Acknowledges a signal; a second time says the same.
    pub(crate) fn acknowledge(&self, from: usize, signal: &str, token: &str) {
        let path = format!("/v1/signals/{signal}/ack");
        let body = format!(r#"{{"resume_token":"{token}","applied":true}}"#);
        let call = Call { method: "POST", path: &path, token: &self.tenant.machine, key: None, body: &body };
        let acked = self.fleet.call(from, &call);
        assert_eq!(acked.status, 200, "{acked:?}");
    }
}
