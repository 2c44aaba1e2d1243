//! What clients know: everything that any of them was told, and that another can act on.

use std::collections::BTreeMap;

use handoff_protocol::{
    decision::{terms::RequestState, view::RequestView},
    digest::Digest,
    id::{AuthorizationId, DeliveryId, GrantHandle, ReceiptId, RequestId, ResumeToken, SessionRef, SignalId},
    json::Json,
};

use crate::rng::Rng;

/// What is known, a tenant.
#[derive(Debug, Default)]
pub struct Board {
    tenants: BTreeMap<usize, Known>,
}

/// What is known of one tenant.
#[derive(Debug, Default)]
pub struct Known {
    /// Requests, the latest last.
    pub requests: Vec<Request>,
    /// Waiters that something was raised under.
    pub waiters: Vec<String>,
    /// Signals that somebody saw.
    pub signals: Vec<Signal>,
    /// Authorizations.
    pub authorizations: Vec<AuthorizationId>,
    /// Receipts.
    pub receipts: Vec<ReceiptId>,
    /// Grants, with what their person accepts.
    pub grants: Vec<(GrantHandle, Digest)>,
    /// Sessions, with whose they are.
    pub sessions: Vec<(GrantHandle, SessionRef, usize)>,
    /// Deliveries.
    pub deliveries: Vec<DeliveryId>,
}

/// A request that somebody was told of.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its id.
    pub id: RequestId,
    /// Whether somebody was told that it ended.
    pub ended: bool,
    /// What it asks.
    pub shape: Shape,
    /// Its waiter.
    pub waiter: String,
    /// What a person was shown last.
    pub rendered: Digest,
}

/// A signal that somebody saw.
#[derive(Clone, Debug)]
pub struct Signal {
    /// Its id.
    pub id: SignalId,
    /// What acknowledges it.
    pub token: ResumeToken,
    /// Whether somebody was told that it is acknowledged.
    pub acked: bool,
}

/// What a request asks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shape {
    /// Yes or no.
    Choice,
    /// Two fields, which two people may give.
    Parts,
    /// Yes or no, and two must agree.
    Council,
    /// A password, for a sink.
    Secret,
    /// Yes or no, with a resource to look at.
    Surface,
}

impl Board {
    /// What is known of a tenant.
    pub fn of(&mut self, tenant: usize) -> &mut Known {
        self.tenants.entry(tenant).or_default()
    }
}

impl Known {
    /// One of the requests: mostly one of the latest that are pending, as far as is known.
    #[must_use]
    pub fn request(&self, rng: &mut Rng) -> Option<Request> {
        let latest = self.requests.iter().rev();
        let some: Vec<&Request> = match rng.below(10) {
            0 => self.requests.iter().collect(),
            1 => latest.filter(|request| request.ended).take(6).collect(),
            _ => latest.filter(|request| !request.ended).take(8).collect(),
        };
        rng.pick(&some).map(|request| (*request).clone())
    }

    /// Notes what a view of a request says.
    pub fn saw(&mut self, view: &RequestView, shape: Option<Shape>) {
        let waiter = view.waiter_ref.as_str().to_owned();
        if !self.waiters.contains(&waiter) {
            self.waiters.push(waiter.clone());
        }
        let ended = view.state != RequestState::Pending;
        match self.requests.iter_mut().find(|known| known.id == view.id) {
            Some(known) => {
                known.ended |= ended;
                known.rendered = view.rendered_digest;
                known.shape = shape.unwrap_or(known.shape);
            }
            None => self.requests.push(Request {
                id: view.id,
                ended,
                shape: shape.unwrap_or(Shape::Choice),
                waiter,
                rendered: view.rendered_digest,
            }),
        }
        for delivery in &view.deliveries {
            if !self.deliveries.contains(&delivery.id) {
                self.deliveries.push(delivery.id);
            }
        }
        if let Some(authorization) = &view.authorization
            && !self.authorizations.contains(&authorization.id)
        {
            self.authorizations.push(authorization.id);
        }
        let capabilities = view.requires.get("capabilities").and_then(Json::as_array).unwrap_or_default();
        for capability in capabilities {
            let text = |name: &str| capability.get(name).and_then(Json::as_str);
            let handle = text("handle").and_then(|handle| GrantHandle::parse(handle).ok());
            let digest = text("blast_radius_digest").and_then(|digest| Digest::parse(digest).ok());
            if let (Some(handle), Some(digest)) = (handle, digest)
                && !self.grants.iter().any(|(known, _)| *known == handle)
            {
                self.grants.push((handle, digest));
            }
        }
    }

    /// Notes that somebody was told that a request ended.
    pub fn ended(&mut self, id: RequestId) {
        if let Some(known) = self.requests.iter_mut().find(|known| known.id == id) {
            known.ended = true;
        }
    }

    /// Notes a signal.
    pub fn signal(&mut self, id: SignalId, token: &ResumeToken) {
        if !self.signals.iter().any(|known| known.id == id) {
            self.signals.push(Signal { id, token: *token, acked: false });
        }
    }

    /// Notes that a signal is acknowledged.
    pub fn acked(&mut self, id: SignalId) {
        if let Some(known) = self.signals.iter_mut().find(|known| known.id == id) {
            known.acked = true;
        }
    }
}
