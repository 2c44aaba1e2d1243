//! What is counted for whoever watches the server, in the text format that Prometheus reads.

use std::{fmt, sync::Arc, time::Duration};

use axum::http::{Method, StatusCode};
use handoff_engine::{outbound::OutboundStats, worker::SweepStats};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{
        counter::{ConstCounter, Counter},
        family::Family,
        gauge::{ConstGauge, Gauge},
        histogram::Histogram,
    },
    registry::Registry,
};

/// Seconds; the last ones are for polls, which are held for up to 30.
const BUCKETS: [f64; 11] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 5.0, 15.0, 31.0];

/// The counts of one server. Clones share them: the router that is given one counts, and
/// [`operations`](crate::operations) that is given the same tells.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    calls: Family<Call, Counter>,
    durations: Family<Route, Histogram>,
    held: Gauge,
}

/// Labels come from routes and from a closed list of methods, so nobody can make more of them by calling.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Call {
    route: String,
    method: &'static str,
    status: u16,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Route {
    route: String,
}

/// A call that is held; dropping it ends the count, however the call ends.
#[derive(Debug)]
pub(crate) struct Held(Gauge);

impl Metrics {
    /// Counts a call that was answered.
    pub(crate) fn answered(&self, route: &str, method: &Method, status: StatusCode, took: Duration) {
        let route = route.to_owned();
        self.0.durations.get_or_create(&Route { route: route.clone() }).observe(took.as_secs_f64());
        self.0.calls.get_or_create(&Call { route, method: known(method), status: status.as_u16() }).inc();
    }

    /// Counts a call as held until what this returns is dropped; nothing for a call that does not wait.
    pub(crate) fn hold(&self, wait: Duration) -> Option<Held> {
        (!wait.is_zero()).then(|| {
            self.0.held.inc();
            Held(self.0.held.clone())
        })
    }

    /// Everything as text.
    pub(crate) fn text(&self, sweeps: SweepStats, outbound: OutboundStats) -> Result<String, fmt::Error> {
        let mut registry = Registry::with_prefix("handoff");
        let counts = &self.0;
        registry.register("http_requests", "Calls answered, by route, method and status", counts.calls.clone());
        registry.register("http_request_duration_seconds", "How long calls took, by route", counts.durations.clone());
        registry.register("held_polls", "Calls that are being held", counts.held.clone());
        registry.register("timers_acted", "Timers that were acted on", ConstCounter::new(sweeps.acted));
        registry.register("timers_failed", "Timers whose action failed, each try", ConstCounter::new(sweeps.failed));
        let lag = ConstGauge::new(sweeps.lag.as_secs_f64());
        registry.register("sweep_lag_seconds", "How late the last sweep that found timers was", lag);
        for (name, help, count) in [
            ("sends_started", "Sends to the world that got a place", outbound.started),
            ("sends_succeeded", "Sends that the receiver took", outbound.succeeded),
            ("sends_failed", "Sends that the receiver did not take, each try", outbound.failed),
            ("sends_postponed", "Sends that got no place in time and were put off", outbound.postponed),
            ("callback_endpoints_disabled", "Endpoints that failed for a day", outbound.endpoints_disabled),
        ] {
            registry.register(name, help, ConstCounter::new(count));
        }
        let mut text = String::new();
        encode(&mut text, &registry)?;
        Ok(text)
    }
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            calls: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            held: Gauge::default(),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
