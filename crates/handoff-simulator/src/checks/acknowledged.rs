//! Whatever a client was told was done is done, and once.

use std::collections::{BTreeMap, BTreeSet};

use handoff_protocol::{
    decision::terms::RequestState,
    id::{RequestId, TenantId},
};

use super::Final;
use crate::{
    history::{History, Mended},
    ports::Taken,
};

/// Holds what was acknowledged against what is there.
#[must_use]
pub fn check(history: &History, end: &Final, taken: &[Taken], keys_lapse: bool) -> Vec<String> {
    let mut found = Vec::new();
    raised(history, end, &mut found);
    mended(history, end, keys_lapse, &mut found);
    answered(history, end, &mut found);
    refused(history, end, &mut found);
    spent(history, end, &mut found);
    for (request, value) in &history.submitted {
        let reached = taken.iter().any(|taken| taken.request == *request && taken.values.contains(value.as_str()));
        if !reached {
            found.push(format!("K-S4: values for {request} were acknowledged, and no sink has them"));
        }
    }
    found
}

fn raised(history: &History, end: &Final, found: &mut Vec<String>) {
    let mut keys: BTreeMap<&str, BTreeSet<RequestId>> = BTreeMap::new();
    let mut created: BTreeMap<RequestId, u32> = BTreeMap::new();
    for raised in &history.raised {
        let there = end.snapshots.iter().find(|snapshot| snapshot.tenant == raised.tenant);
        let there = there.is_some_and(|snapshot| {
            snapshot.records.keys().any(|key| key.kind.as_str() == "request" && key.id == raised.id.to_string())
        });
        if !there {
            found.push(format!("R1: {} was acknowledged and is not there", raised.id));
        }
        if let Some(key) = &raised.key {
            keys.entry(key).or_default().insert(raised.id);
        }
        if raised.created {
            let times = created.entry(raised.id).or_default();
            *times = times.saturating_add(1);
        }
    }
    for (key, ids) in keys.iter().filter(|(_, ids)| ids.len() > 1) {
        found.push(format!("K-4: one key, {key}, came to {} requests", ids.len()));
    }
    for (id, times) in created.iter().filter(|(_, times)| **times > 1) {
        found.push(format!("K-2: {id} is said to have been created {times} times"));
    }
}

/// A repeat mends nothing: of one raise and one amendment come at most one version each. Where so much time passed that keys
/// lapsed, each attempt counts.
fn mended(history: &History, end: &Final, keys_lapse: bool, found: &mut Vec<String>) {
    let worth = |mended: &Mended| if keys_lapse { u64::from(mended.tries) } else { 1 };
    for request in end.requests.values() {
        let tenant = TenantId::Org(request.org_id);
        let of_it = |mended: &&Mended| mended.tenant == tenant && mended.id.is_none_or(|id| id == request.id);
        let operations: u64 = history.mended.iter().filter(of_it).map(worth).sum();
        let subject = request.id.to_string();
        let events = end.snapshots.iter().filter(|snapshot| snapshot.tenant == tenant).flat_map(|kept| &kept.events);
        let amended =
            events.filter(|event| event.subject == subject && event.event_type.as_str() == "request.amended").count();
        let amended = u64::try_from(amended).unwrap_or(u64::MAX);
        // One of the operations raised it.
        if amended > operations.saturating_sub(1) {
            found.push(format!(
                "K-1: {subject} was mended {amended} times by {operations} operations, its raise included"
            ));
        }
    }
}

fn answered(history: &History, end: &Final, found: &mut Vec<String>) {
    let mut deciding: BTreeMap<RequestId, BTreeSet<Option<&str>>> = BTreeMap::new();
    for answer in &history.answered {
        let Some((receipt, digest)) = answer.receipt else { continue };
        deciding.entry(answer.id).or_default().insert(answer.key.as_deref());
        let Some(request) = end.requests.get(&answer.id) else {
            found.push(format!("R5: {} was answered and is not there", answer.id));
            continue;
        };
        if request.state != RequestState::Answered || request.receipt.map(|kept| kept.id) != Some(receipt) {
            found.push(format!("R5: the answer {receipt} to {} was acknowledged and does not stand", answer.id));
        }
        if request.authorization != answer.authorization {
            found.push(format!("Z-1: another authorization of {} was acknowledged than there is", answer.id));
        }
        let height = request.receipt.map(|kept| kept.height);
        let sealed = end.snapshots.iter().flat_map(|snapshot| snapshot.chains.values()).flatten();
        if !sealed.into_iter().any(|entry| Some(entry.height) == height && entry.digest == digest) {
            found.push(format!("E-7: the receipt {receipt} was acknowledged and is not in the chain"));
        }
    }
    for (id, keys) in deciding.iter().filter(|(_, keys)| keys.len() > 1) {
        found.push(format!("R10: {} answers to {id} were told that they decided", keys.len()));
    }
}

fn refused(history: &History, end: &Final, found: &mut Vec<String>) {
    for refused in &history.refused {
        let Some(request) = end.requests.get(&refused.id) else {
            found.push(format!("R11: {} was said to have ended and is not there", refused.id));
            continue;
        };
        let agrees = request.state == refused.state
            && refused.superseded_by.is_none_or(|by| request.superseded_by == Some(by))
            && refused.receipt.is_none_or(|receipt| request.receipt.map(|kept| kept.id) == Some(receipt));
        if !agrees {
            found.push(format!(
                "R11: {} was said to be {}, and is {}",
                refused.id,
                refused.state.as_str(),
                request.state.as_str()
            ));
        }
    }
}

fn spent(history: &History, end: &Final, found: &mut Vec<String>) {
    let mut first_acks = BTreeMap::new();
    for acked in &history.acked {
        let kept = end.signals.get(&acked.signal).and_then(|signal| signal.acked_at);
        if kept != Some(acked.at) {
            found.push(format!("X-8: {} was acknowledged at {}, and the record says {kept:?}", acked.signal, acked.at));
        }
        if acked.first {
            let times = first_acks.entry(acked.signal).or_insert(0_u32);
            *times = times.saturating_add(1);
        }
    }
    for (signal, times) in first_acks.iter().filter(|(_, times)| **times > 1) {
        found.push(format!("X-8: {signal} was acknowledged first {times} times"));
    }
    let mut first_effects = BTreeMap::new();
    for redeemed in &history.redeemed {
        let kept = end.authorizations.get(&redeemed.authorization);
        let kept = kept.and_then(|kept| kept.redemptions.iter().find(|spent| spent.effect_key == redeemed.effect));
        if kept.map(|spent| spent.redeemed_at) != Some(redeemed.at) {
            found.push(format!("Z-3: {} was redeemed and its record does not say so", redeemed.authorization));
        }
        if redeemed.first {
            let times = first_effects.entry(redeemed.authorization).or_insert(0_u32);
            *times = times.saturating_add(1);
        }
    }
    for (authorization, times) in first_effects.iter().filter(|(_, times)| **times > 1) {
        found.push(format!("Z-3: {authorization} let {times} effects happen"));
    }
}
