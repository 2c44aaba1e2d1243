//! `handoffd fsck`.

use std::path::Path;

use handoff_protocol::id::OrgId;
use handoff_server::{fsck::Fsck, store};

use super::{failure::Failure, output, settings};

pub(super) async fn run(file: Option<&Path>, only: Option<OrgId>) -> Result<(), Failure> {
    let store = store::open_to_inspect(&settings::start(file, "warn")?.database_url)?;
    let mut fsck = Fsck::begin(&*store).await?;
    if let Some(only) = only
        && !fsck.only(only)
    {
        return Err(Failure::NoTenant(only));
    }
    let checked = fsck.tenants().len();
    let mut unsound: usize = 0;
    for tenant in fsck.tenants() {
        let report = fsck.check(*tenant).await?;
        if !report.is_sound() {
            unsound = unsound.saturating_add(1);
        }
        output::say(report).map_err(Failure::Output)?;
    }
    if unsound == 0 { Ok(()) } else { Err(Failure::Unsound { unsound, checked }) }
}
