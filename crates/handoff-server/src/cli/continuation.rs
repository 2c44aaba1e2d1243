//! `handoffd continuation`: the keys that continuation data is sealed with.

use std::path::Path;

use handoff_engine::{
    Engine,
    decision::{Forget, Sealings, Unreadable},
};
use handoff_protocol::{continuation::ContinuationKeyId, decision::Policy};
use handoff_server::store;

use super::{failure::Failure, output, settings};

/// `handoffd continuation keys`: each key with what it is and how much it seals. Fails if one that is in use is missing, is
/// another one than it was, or sealed something that does not open.
pub(super) async fn keys(file: Option<&Path>) -> Result<(), Failure> {
    let engine = engine(file).await?;
    let mut used = engine.continuation_keys().await?;
    let configured: Vec<ContinuationKeyId> =
        engine.policy().continuation.iter().flat_map(|keyring| keyring.ids().cloned().collect::<Vec<_>>()).collect();
    let mut unreadable: u64 = 0;
    let mut changed = Vec::new();
    for (place, key) in configured.iter().enumerate() {
        let Sealings { all, unreadable: altered, under_another } = used.remove(key).unwrap_or_default();
        let mut what = match (place, all) {
            (0, _) => "current".to_owned(),
            (_, 0) => "can be dropped".to_owned(),
            _ if all == altered.saturating_add(under_another) => "opens nothing".to_owned(),
            _ => "in use; `handoffd continuation reseal` frees it".to_owned(),
        };
        if altered > 0 {
            what.push_str(&format!("; {altered} UNREADABLE, altered; `handoffd continuation reseal` names them"));
        }
        if under_another > 0 {
            what.push_str(&format!("; {under_another} sealed with ANOTHER key of this name"));
            changed.push(key.clone());
        }
        unreadable = unreadable.saturating_add(altered);
        output::say(format_args!("{key}\t{all}\t{what}")).map_err(Failure::Output)?;
    }
    for (key, sealings) in &used {
        output::say(format_args!("{key}\t{}\tin use and MISSING from the configuration", sealings.all))
            .map_err(Failure::Output)?;
    }
    match (used.len(), changed.len()) {
        (0, 0) if unreadable == 0 => Ok(()),
        (0, 0) => Err(Failure::Unreadable(unreadable)),
        (0, _) => Err(Failure::KeysChanged(names(&changed))),
        _ => Err(Failure::KeysMissing(names(&used.into_keys().collect::<Vec<_>>()))),
    }
}

/// `handoffd continuation reseal`: everything under the current key. What does not open is told, and does not hold up the
/// rest; it is given up where that is asked for. It can run while servers do, and be repeated.
pub(super) async fn reseal(file: Option<&Path>, forget: &Forget) -> Result<(), Failure> {
    let done = engine(file).await?.reseal_continuations(forget).await?;
    for Unreadable { request, error } in &done.forgotten {
        output::say(format_args!("{request}: given up: {error}")).map_err(Failure::Output)?;
    }
    for Unreadable { request, error } in &done.left {
        output::say(format_args!("{request}: left as it is: {error}")).map_err(Failure::Output)?;
    }
    let left = u64::try_from(done.left.len()).unwrap_or(u64::MAX);
    let rest = if left == 0 { "everything" } else { "everything else" };
    output::say(format_args!("{} sealed anew; {rest} is under the current key now", done.sealed))
        .map_err(Failure::Output)?;
    if left == 0 { Ok(()) } else { Err(Failure::Unreadable(left)) }
}

fn names(keys: &[ContinuationKeyId]) -> String {
    keys.iter().map(ContinuationKeyId::as_str).collect::<Vec<_>>().join("`, `")
}

async fn engine(file: Option<&Path>) -> Result<Engine, Failure> {
    let config = settings::start(file, "warn")?;
    let store = store::open_existing(&config.database_url)?;
    let policy = Policy { continuation: config.continuation, ..Policy::default() };
    Ok(Engine::builder().store(store).policy(policy).build().await?)
}
