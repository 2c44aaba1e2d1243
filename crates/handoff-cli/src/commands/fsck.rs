//! `handoff fsck`: everything of a store checked, in the store itself.

use handoff_engine::store::StoreError;
use handoff_protocol::json::Json;
use handoff_server::fsck::{Fsck, TenantReport};

use crate::{exit::Exit, failure::Failure, operator::StoreArgs, output::Output};

/// Check everything that a store keeps: a line a tenant, OK or BROKEN, and one for each finding
///
/// Opens the store directly, beside the server if that runs, and changes nothing. Everything of one tenant is held in memory
/// at a time. Exits with 1 if anything is wrong.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    output: Output,
}

pub(crate) async fn run(args: Args) -> Result<Exit, Failure> {
    let (store, only) = args.store.open_to_inspect().await?;
    let failed = |error: StoreError| Failure::failed(error.to_string());
    let mut fsck = Fsck::begin(&*store).await.map_err(failed)?;
    if let Some(only) = only
        && !fsck.only(only)
    {
        return Err(Failure::usage("there is no such tenant in this store"));
    }
    let (checked, mut unsound) = (fsck.tenants().len(), 0_usize);
    for tenant in fsck.tenants() {
        let report = fsck.check(*tenant).await.map_err(failed)?;
        unsound = unsound.saturating_add(usize::from(!report.is_sound()));
        args.output.result(&as_json(&report), || format!("{report}\n"))?;
    }
    if unsound > 0 {
        return Err(Failure::failed(format!("{unsound} of {checked} tenants are broken")));
    }
    Ok(Exit::Done)
}

fn as_json(report: &TenantReport) -> Json {
    let text = |text: &str| Json::from(text);
    let findings = report.findings.iter().map(|finding| {
        Json::object([
            ("check", text(finding.check)),
            ("rule", text(finding.rule)),
            ("subject", text(&finding.subject)),
            ("message", text(&finding.message)),
        ])
    });
    let looked_at = report.looked_at.iter().map(|(name, count)| ((*name).to_owned(), Json::from(*count)));
    Json::object([
        ("tenant", text(&report.tenant.to_string())),
        ("sound", Json::from(report.is_sound())),
        ("looked_at", Json::Object(looked_at.collect())),
        ("findings", findings.collect::<Vec<_>>().into()),
    ])
}
