//! What a run tells: a line a case, and the whole as JSON.

use std::{fmt::Write as _, time::Duration};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{case::Suite, profile::Profile, run::Verdict};

/// The version of the protocol that the cases are written for.
pub const PROTOCOL: &str = "0.1";

/// A case's line, and below it how each scenario failed.
#[must_use]
pub fn lines(verdict: &Verdict, profile: &Profile) -> String {
    let word = if verdict.passed() { "PASS" } else { "FAIL" };
    let mut text = format!("{word} {} {} ({:.2} s)\n", verdict.id, verdict.title, verdict.took.as_secs_f64());
    if !verdict.passed() && verdict.scenarios.iter().all(|scenario| !scenario.applied) {
        text.push_str("     no scenario applies to this deployment\n");
    }
    for scenario in &verdict.scenarios {
        let Some(failure) = &scenario.failure else { continue };
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "     scenario `{}`", scenario.name);
        for line in failure.to_string().lines() {
            let _ = writeln!(text, "       {line}");
        }
    }
    profile.redact(&text)
}

/// The last line of a run.
#[must_use]
pub fn totals(verdicts: &[Verdict], took: Duration) -> String {
    let passed = verdicts.iter().filter(|verdict| verdict.passed()).count();
    let failed = verdicts.len() - passed;
    format!("{}: {passed} passed, {failed} failed ({:.1} s)\n", cases(verdicts.len()), took.as_secs_f64())
}

/// So many cases, in words.
#[must_use]
pub fn cases(number: usize) -> String {
    if number == 1 { "1 case".to_owned() } else { format!("{number} cases") }
}

/// What was run.
#[derive(Clone, Debug)]
pub struct Occasion<'run> {
    /// The deployment.
    pub profile: &'run Profile,
    /// What the server said of itself.
    pub meta: Option<&'run Value>,
    /// The cases.
    pub suite: &'run Suite,
    /// What tells the map that they agreed with from others; none where it was not compared.
    pub map: Option<String>,
    /// Whether only these were run, and which; else all, and they agreed with the map.
    pub only: &'run [String],
    /// When it began.
    pub started: Timestamp,
    /// How long it took.
    pub took: Duration,
}

/// The whole run, as the report file has it.
#[must_use]
pub fn document(verdicts: &[Verdict], occasion: Occasion<'_>) -> Value {
    let Occasion { profile, meta, suite, map, only, started, took } = occasion;
    let passed = verdicts.iter().filter(|verdict| verdict.passed()).count();
    let cases: Vec<_> = verdicts.iter().map(|verdict| case(verdict, profile)).collect();
    json!({
        "specification": PROTOCOL,
        "runner": env!("CARGO_PKG_VERSION"),
        "deployment": {
            "base_url": profile.base_url,
            "level": profile.level,
            "choices": { "link_only": profile.choices.link_only },
        },
        "server": meta,
        "started_at": started.to_string(),
        "milliseconds": milliseconds(took),
        "only": if only.is_empty() { Value::Null } else { json!(only) },
        "cases_digest": suite.digest(),
        "map_digest": map,
        "totals": { "cases": verdicts.len(), "passed": passed, "failed": verdicts.len() - passed },
        "cases": cases,
    })
}

fn case(verdict: &Verdict, profile: &Profile) -> Value {
    let scenarios = verdict.scenarios.iter().map(|scenario| {
        let failure = scenario.failure.as_ref().map(|failure| redacted(failure.value(), profile));
        let milliseconds = milliseconds(scenario.took);
        json!({
            "name": scenario.name, "applied": scenario.applied, "failure": failure, "milliseconds": milliseconds,
        })
    });
    json!({
        "case": verdict.id,
        "title": verdict.title,
        "passed": verdict.passed(),
        "milliseconds": milliseconds(verdict.took),
        "scenarios": scenarios.collect::<Vec<_>>(),
    })
}

fn redacted(value: Value, profile: &Profile) -> Value {
    match value {
        Value::String(text) => Value::String(profile.redact(&text)),
        Value::Array(items) => items.into_iter().map(|item| redacted(item, profile)).collect(),
        Value::Object(members) => members.into_iter().map(|(name, item)| (name, redacted(item, profile))).collect(),
        value => value,
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
