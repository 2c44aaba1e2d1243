//! `handoffd verify-chain`.

use std::path::Path;

use handoff_engine::Engine;
use handoff_protocol::id::OrgId;
use handoff_server::{chain_check, store};

use super::{failure::Failure, output, settings};

pub(super) async fn run(file: Option<&Path>, only: Option<OrgId>) -> Result<(), Failure> {
    let store = store::open_existing(&settings::start(file, "warn")?.database_url)?;
    // Without a signer, so that looking never publishes a key.
    let engine = Engine::builder().store(store).build().await?;
    let mut tenants = engine.tenants().await?;
    if let Some(only) = only {
        tenants.retain(|tenant| *tenant == only);
        if tenants.is_empty() {
            return Err(Failure::NoTenant(only));
        }
    }
    let checked = tenants.len();
    let mut broken: usize = 0;
    for tenant in tenants {
        let report = chain_check::check(&engine, tenant).await?;
        if !report.is_sound() {
            broken = broken.saturating_add(1);
        }
        output::say(report).map_err(Failure::Output)?;
    }
    if broken < checked {
        output::note(
            "without a head recorded elsewhere, receipts missing from the end cannot be seen (compare the heads)",
        );
    }
    if broken == 0 { Ok(()) } else { Err(Failure::Broken { broken, checked }) }
}
