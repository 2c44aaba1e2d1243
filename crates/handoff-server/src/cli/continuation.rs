//! `handoffd continuation`: the keys that continuation data is sealed with.

use std::path::Path;

use handoff_engine::Engine;
use handoff_protocol::{continuation::ContinuationKeyId, decision::Policy};
use handoff_server::store;

use super::{failure::Failure, output, settings};

/// `handoffd continuation keys`: each key with what it is and how much it seals. Fails if one that is in use is missing.
pub(super) async fn keys(file: Option<&Path>) -> Result<(), Failure> {
    let engine = engine(file).await?;
    let mut used = engine.continuation_keys().await?;
    let configured: Vec<ContinuationKeyId> =
        engine.policy().continuation.iter().flat_map(|keyring| keyring.ids().cloned().collect::<Vec<_>>()).collect();
    for (place, key) in configured.iter().enumerate() {
        let count = used.remove(key).unwrap_or(0);
        let what = match (place, count) {
            (0, _) => "current",
            (_, 0) => "can be dropped",
            _ => "in use; `handoffd continuation reseal` frees it",
        };
        output::say(format_args!("{key}\t{count}\t{what}")).map_err(Failure::Output)?;
    }
    for (key, count) in &used {
        output::say(format_args!("{key}\t{count}\tin use and MISSING from the configuration"))
            .map_err(Failure::Output)?;
    }
    if used.is_empty() { Ok(()) } else { Err(Failure::KeysMissing(used.len())) }
}

/// `handoffd continuation reseal`: everything under the current key. It can run while servers do, and be repeated.
pub(super) async fn reseal(file: Option<&Path>) -> Result<(), Failure> {
    let count = engine(file).await?.reseal_continuations().await?;
    output::say(format_args!("{count} sealed anew; everything is under the current key now")).map_err(Failure::Output)
}

async fn engine(file: Option<&Path>) -> Result<Engine, Failure> {
    let config = settings::start(file, "warn")?;
    let store = store::open_existing(&config.database_url)?;
    let policy = Policy { continuation: config.continuation, ..Policy::default() };
    Ok(Engine::builder().store(store).policy(policy).build().await?)
}
