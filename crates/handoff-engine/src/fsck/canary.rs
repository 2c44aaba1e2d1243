//! What must not be kept is not: secret values, addresses of sessions, continuation data in the clear (G-2, K-S4, K-9, L-4).

use super::{Facts, Report, Trust};

const CHECK: &str = "canary";

pub(super) fn check(facts: &Facts<'_>, trust: &Trust, report: &mut Report) {
    let canaries: Vec<&str> = trust.canaries.iter().map(String::as_str).filter(|canary| !canary.is_empty()).collect();
    if canaries.is_empty() {
        return;
    }
    let mut look = |subject: String, text: &str| {
        if let Some(place) = canaries.iter().position(|canary| text.contains(canary)) {
            report.find((CHECK, "K-S4"), subject, format!("holds the secret number {place}"));
        }
    };
    for record in facts.snapshot.records.values() {
        look(format!("{:?}", record.key), &record.document);
    }
    for (chain, entries) in &facts.snapshot.chains {
        for entry in entries {
            look(format!("{chain}/{}", entry.height), entry.body.as_deref().unwrap_or_default());
        }
    }
    for event in &facts.snapshot.events {
        look(format!("event {}", event.sequence), &event.data);
    }
    for (key, timer) in &facts.snapshot.timers {
        look(key.to_string(), &timer.action);
    }
}
