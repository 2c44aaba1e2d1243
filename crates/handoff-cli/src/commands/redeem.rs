//! `handoff redeem`: one answer, one effect.

use handoff_protocol::id::AuthorizationId;

use super::names;
use crate::{
    exit::Exit,
    failure::Failure,
    output::{self, Output},
    remote::Remote,
};

/// Redeem an authorization for one effect.
///
/// Exits 0 only the first time, which is when the effect may happen; 9 when it was redeemed for the same effect before;
/// 3 when it was spent on another.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The authorization's id
    #[arg(value_name = "AUTHORIZATION", value_parser = names::authorization)]
    authorization: AuthorizationId,
    /// The name of the effect, the same however often it is tried
    #[arg(value_name = "EFFECT_KEY")]
    effect_key: String,
    /// The digest of the effect, for authorizations that are bound to one
    #[arg(long, value_name = "DIGEST")]
    effect_digest: Option<String>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) async fn run(args: &Args) -> Result<Exit, Failure> {
    let client = args.remote.machine()?;
    let redeemed = client.redeem(args.authorization, &args.effect_key, args.effect_digest.as_deref()).await?;
    let json = output::json(&redeemed)?;
    args.output.result(&json, || {
        if redeemed.first_redemption {
            format!("redeemed at {}: the effect may happen\n", redeemed.redeemed_at)
        } else {
            format!("redeemed before, at {}: do not repeat the effect\n", redeemed.redeemed_at)
        }
    })?;
    Ok(if redeemed.first_redemption { Exit::Done } else { Exit::Repeated })
}
