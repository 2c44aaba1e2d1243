//! A story told to nodes, and what must hold when it is over.

use std::path::Path;

use handoff_engine::{
    fsck::{self, Trust},
    store::{Inspect as _, Snapshot},
};
use handoff_protocol::{
    decision::{Request, Signal, terms::RequestState},
    id::TenantId,
    json::from_text,
};
use handoff_store_sqlite::{SqliteOptions, SqliteStore};

use super::{client::Client, dying::Death, line::Answer};
use crate::{
    board::Shape,
    cast::Tenant,
    ops::{bodies, ending},
    ports::{ADDRESS, CANARY},
    script::{Script, Step},
};

/// How long a claim of a node that died holds, and then the longest that anything in a story waits, in seconds.
const LAPSES: [i64; 2] = [70, 140];

/// What a story came to.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Told {
    /// The calls of the store that the first node made, each a letter. Nothing, if it died.
    pub calls: String,
    /// What was refused before the end of the story: the verb and the code.
    pub refused: Vec<(String, String)>,
    /// How often a node died.
    pub deaths: u32,
}

/// Tells a story over a copy of a store, to a first node that dies as it is told.
///
/// # Errors
///
/// What is not as it must be.
pub fn tell(
    script: &Script,
    program: &Path,
    database: &Path,
    tenant: &Tenant,
    death: Option<Death>,
) -> Result<Told, String> {
    let mut teller = Teller { client: Client::start(program, database, tenant, death)?, tenant, shape: Shape::Choice };
    for (number, step) in script.steps.iter().enumerate() {
        teller.step(*step, &format!("step{number}"))?;
    }
    let calls = if death.is_none() { teller.ask(&["calls"])? } else { Answer::Done(Vec::new()) };
    let refused = std::mem::take(&mut teller.client.refused);
    teller.finish(script)?;
    let calls = calls.values("calls").collect();
    Ok(Told { calls, refused, deaths: teller.client.deaths })
}

struct Teller<'t> {
    client: Client<'t>,
    tenant: &'t Tenant,
    shape: Shape,
}

impl Teller<'_> {
    fn ask(&mut self, words: &[&str]) -> Result<Answer, String> {
        self.client.tell(words, &|database| sound(database, "after a node died").map(drop))
    }

    /// Asks with facts that clients know; without them there is nothing to ask about.
    fn ask_about(&mut self, verb: &str, who: &str, facts: &[&str], more: &[&str]) -> Result<(), String> {
        let known: Option<Vec<String>> = facts.iter().map(|name| self.client.last(name)).collect();
        let Some(known) = known else { return Ok(()) };
        let mut words = vec![verb, who];
        words.extend(known.iter().map(String::as_str));
        words.extend(more);
        self.ask(&words).map(drop)
    }

    fn step(&mut self, step: Step, key: &str) -> Result<(), String> {
        let machine = self.tenant.machines.first().map_or("", String::as_str);
        let person = |place: usize| self.tenant.people.get(place).map_or("", |member| member.token.as_str());
        let (first, second) = (person(0).to_owned(), person(1).to_owned());
        let machine = machine.to_owned();
        match step {
            Step::Raise(asks, more) => {
                self.shape = asks.shape();
                let body = bodies::scripted(asks.shape(), key, more).to_text();
                self.ask(&["raise", &machine, &body, key]).map(drop)
            }
            Step::Answer(place) => {
                let rendered = self.client.last("rendered").unwrap_or_default();
                let (who, body) = (person(place).to_owned(), format!("{{{}}}", ending(self.shape, rendered)));
                self.ask_about("answer", &who, &["request"], &[&body, key])
            }
            Step::Part(values) => {
                let body = format!(r#"{{"values":{values},"partial":true}}"#);
                self.ask_about("answer", &second, &["request"], &[&body, key])
            }
            Step::Dispose(members) => {
                self.ask_about("answer", &second, &["request"], &[&format!("{{{members}}}"), key])
            }
            Step::Cancel => self.ask_about("cancel", &machine, &["request"], &[r#"{"reason":"no"}"#, key]),
            Step::Amend => self.ask_about("amend", &machine, &["request"], &[r#"{"prompt":{"title":"Better"}}"#, key]),
            Step::Arm => self.ask_about("arm", &machine, &["request"], &[r#"{"ttl":"PT2S"}"#, key]),
            Step::Escalate => self.ask_about("escalate", &machine, &["request"], &["{}", key]),
            Step::Reassign => {
                let to = self.tenant.people.first().map(|person| person.id.to_string()).unwrap_or_default();
                let body = format!(r#"{{"to":{{"kind":"principal","value":"{to}"}}}}"#);
                self.ask_about("reassign", &machine, &["request"], &[&body, key])
            }
            Step::Supersede => {
                let raised = self.client.all("request");
                let [.., before, by] = raised else { return Ok(()) };
                let (before, body) = (before.clone(), format!(r#"{{"by":"{by}"}}"#));
                self.ask(&["supersede", &machine, &before, &body, key]).map(drop)
            }
            Step::Correct => {
                let body = r#"{"values":{"decision":"no"},"note":"a slip"}"#;
                self.ask_about("correct", &second, &["receipt"], &[body, key])
            }
            Step::Take => self.take(),
            Step::Poll => self.ask(&["poll", &machine, "run:0"]).map(drop),
            Step::AckOld => {
                let body = acknowledgement(&self.client.last("token").unwrap_or_default());
                self.ask_about("acknowledge", &machine, &["signal"], &[&body])
            }
            Step::Redeem(effect) => {
                let body = format!(r#"{{"effect_key":"{effect}","effect_digest":"sha256:{}"}}"#, "e".repeat(64));
                self.ask_about("redeem", &machine, &["authorization"], &[&body])
            }
            Step::Resolve => {
                let radius = self.client.last("radius").unwrap_or_default();
                let body = format!(r#"{{"scopes":["view"],"accepted_blast_radius_digest":"{radius}"}}"#);
                self.ask_about("resolve", &first, &["grant"], &[&body, key])
            }
            Step::Renew => self.ask_about("renew", &first, &["grant", "session"], &[]),
            Step::Release => self.ask_about("release", &first, &["grant", "session"], &[]),
            Step::Revoke => self.ask_about("revoke", &first, &["grant"], &[]),
            Step::Submit => {
                let body = format!(r#"{{"values":{{"password":"{CANARY}{key}"}}}}"#);
                self.ask_about("submit", &first, &["request"], &[&body, key])
            }
            Step::Push => {
                // A push is named for its signal.
                let Some(signal) = self.client.last("signal") else { return Ok(()) };
                let delivery = signal.replacen("sig_", "dlv_", 1);
                self.ask(&["push", &machine, &delivery, key]).map(drop)
            }
            Step::Seen | Step::Bounced => {
                self.ask(&["sent"])?;
                let (verb, more) = if step == Step::Seen { ("seen", &[key][..]) } else { ("bounced", &[][..]) };
                self.ask_about(verb, &machine, &["delivery"], more)
            }
            Step::Look => self.ask_about("look", &second, &["request"], &[]),
            Step::End => self.ask(&["end", &machine, "run:0"]).map(drop),
            Step::Reattach => self.ask(&["reattach", &machine, "run:0"]).map(drop),
            Step::Pass(seconds) => self.pass(i64::try_from(seconds).unwrap_or(0)),
            Step::Receivers(up) => self.ask(&["receivers", if up { "up" } else { "down" }]).map(drop),
        }
    }

    fn pass(&mut self, seconds: i64) -> Result<(), String> {
        self.client.pass(seconds);
        self.ask(&["pass"]).map(drop)
    }

    /// Polls and acknowledges until nothing waits.
    fn take(&mut self) -> Result<(), String> {
        let machine = self.tenant.machines.first().cloned().unwrap_or_default();
        for _ in 0..8 {
            let polled = self.ask(&["poll", &machine, "run:0"])?;
            let waiting: Vec<(String, String)> = polled
                .values("signal")
                .zip(polled.values("token"))
                .map(|(id, token)| (id.into(), token.into()))
                .collect();
            if waiting.is_empty() {
                return Ok(());
            }
            for (signal, token) in waiting {
                self.ask(&["acknowledge", &machine, &signal, &acknowledgement(&token)])?;
            }
        }
        Err("X-2: a waiter is never done with its signals".to_owned())
    }

    /// Ends what is still open, and holds what clients were told against what is there.
    fn finish(&mut self, script: &Script) -> Result<(), String> {
        let [claims, waits] = LAPSES;
        self.ask(&["receivers", "up"])?;
        self.pass(claims)?;
        let machine = self.tenant.machines.first().cloned().unwrap_or_default();
        for request in self.client.all("request").to_vec() {
            self.ask(&["cancel", &machine, &request, r#"{"reason":"the story is over"}"#, &format!("end {request}")])?;
        }
        self.pass(waits)?;
        self.take()?;
        self.pass(waits)?;
        self.client.stop();
        let end = sound(self.client.database(), "at the end")?;
        told_the_truth(&self.client, script, &end)
    }
}

fn acknowledgement(token: &str) -> String {
    format!(r#"{{"resume_token":"{token}","applied":true}}"#)
}

/// Opens what is left, and checks all of it.
fn sound(database: &Path, when: &str) -> Result<Vec<Snapshot>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let options = SqliteOptions { readers: 1, ..SqliteOptions::default() };
        let store = SqliteStore::open(database, options).map_err(|error| format!("{when}: {error}"))?;
        let mut snapshots = Vec::new();
        for tenant in store.tenants().await.map_err(|error| format!("{when}: {error}"))? {
            snapshots.push(store.snapshot(&tenant).await.map_err(|error| format!("{when}: {error}"))?);
        }
        let canaries = vec![CANARY.to_owned(), ADDRESS.to_owned(), "cGF5bG9hZA==".to_owned()];
        let mut trust = Trust { canaries, keys: None };
        if let Some(system) = snapshots.iter().find(|snapshot| snapshot.tenant == TenantId::System) {
            trust = trust.with_keys(&fsck::published_keys(system));
        }
        match snapshots.iter().flat_map(|snapshot| fsck::check(snapshot, &trust)).next() {
            Some(finding) => Err(format!("{when}: {finding}")),
            None => Ok(snapshots),
        }
    })
}

/// What was acknowledged is there, each thing once; everything ended, and was heard of.
fn told_the_truth(client: &Client<'_>, script: &Script, end: &[Snapshot]) -> Result<(), String> {
    let documents = |kind: &'static str| {
        let records = end.iter().flat_map(|snapshot| snapshot.records.values());
        records.filter(move |record| record.key.kind.as_str() == kind)
    };
    let requests: Vec<Request> = documents("request").filter_map(|record| from_text(&record.document).ok()).collect();
    let signals: Vec<Signal> = documents("signal").filter_map(|record| from_text(&record.document).ok()).collect();
    let mut told: Vec<&String> = client.all("request").iter().collect();
    told.sort();
    told.dedup();
    let kept: Vec<String> = requests.iter().map(|request| request.id.to_string()).collect();
    let raises = script.steps.iter().filter(|step| matches!(step, Step::Raise(..))).count();
    if kept.len() > raises || told.len() != kept.len() || told.iter().any(|id| !kept.contains(id)) {
        return Err(format!("K-1: {raises} raises, {} requests told of, {} there", told.len(), kept.len()));
    }
    if let Some(open) = requests.iter().find(|request| !request.state.is_final()) {
        return Err(format!("R7: {} did not end", open.id));
    }
    let settled = |state| requests.iter().filter(|request| request.state == state).count();
    let receipts: usize = end.iter().flat_map(|snapshot| snapshot.chains.values()).map(Vec::len).sum();
    let mut corrections: Vec<&String> = client.all("correction").iter().collect();
    corrections.sort();
    corrections.dedup();
    let due = settled(RequestState::Answered).saturating_add(settled(RequestState::Expired));
    if receipts > due.saturating_add(corrections.len()) {
        return Err(format!("E-4: {receipts} receipts, {due} endings and {} corrections", corrections.len()));
    }
    let texts: String = end
        .iter()
        .flat_map(|snapshot| snapshot.chains.values().flatten())
        .filter_map(|entry| entry.body.as_deref())
        .collect();
    let mut told_of = client.all("receipt").iter().chain(client.all("correction"));
    if let Some(lost) = told_of.find(|receipt| !texts.contains(receipt.as_str())) {
        return Err(format!("E-1: the receipt {lost} was told of and is not there"));
    }
    let acknowledged =
        |id: &String| signals.iter().any(|signal| signal.id.to_string() == *id && signal.acked_at.is_some());
    if let Some(lost) = client.all("acknowledged").iter().find(|id| !acknowledged(id)) {
        return Err(format!("X-8: the acknowledgement of {lost} was lost"));
    }
    if let Some(waiting) = signals.iter().find(|signal| signal.acked_at.is_none()) {
        return Err(format!("X-2: {} was never taken", waiting.id));
    }
    let redeemed = |id: &String| {
        documents("authorization").any(|record| record.key.id == *id && record.document.contains("redeemed_at"))
    };
    match client.all("redeemed").iter().find(|id| !redeemed(id)) {
        Some(lost) => Err(format!("Z-5: the redemption of {lost} was lost")),
        None => Ok(()),
    }
}
