//! How soon polls come back across nodes: one question after another, each asked at one node and answered at another.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use crate::{
    fleet::{Call, Fleet},
    support::tenant::Tenant,
};

/// A poll that came back: since when it was held, when the answer was acknowledged, and when it came back.
#[derive(Clone, Copy)]
pub(crate) struct Wake {
    pub(crate) held: Instant,
    pub(crate) answered: Instant,
    pub(crate) woken: Instant,
}

/// Asks until it is told to stop.
pub(crate) fn probe(fleet: &Fleet<'_>, tenant: &Tenant, stop: &AtomicBool) -> Vec<Wake> {
    let mut wakes = Vec::new();
    for n in 0_usize.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        // Whatever dies in between makes this one none.
        if let Ok(Some(wake)) = once(fleet, tenant, n) {
            wakes.push(wake);
        }
    }
    wakes
}

fn once(fleet: &Fleet<'_>, tenant: &Tenant, n: usize) -> std::io::Result<Option<Wake>> {
    let waiter = format!("probe:{n}");
    let raised = tenant.raise(&mut fleet.connect(n), &waiter)?;
    if raised.status != 201 {
        return Ok(None);
    }
    let path = format!("/v1/waiters/{waiter}/signals?wait=30");
    let mut polling = fleet.connect(n + 1);
    Call { method: "GET", path: &path, token: &tenant.machine, key: None, body: "" }.send(&mut polling)?;
    let held = Instant::now();
    let answer = tenant.answer(&mut fleet.connect(n + 2), &raised.text("id"))?;
    let answered = Instant::now();
    let well = answer.status == 200 && polling.receive()?.status == 200;
    Ok(well.then(|| Wake { held, answered, woken: Instant::now() }))
}

/// How long after a moment the first one came back that was held since later.
pub(crate) fn back_after(wakes: &[Wake], moment: Instant) -> Option<Duration> {
    wakes.iter().filter(|wake| wake.held >= moment).map(|wake| wake.woken - moment).min()
}
