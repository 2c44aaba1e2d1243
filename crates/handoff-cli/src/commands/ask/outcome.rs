//! What is done with a decision: redeemed if asked to, printed, and only then acknowledged.

use handoff_client::Client;
use handoff_protocol::{
    decision::{
        Decision, Requires,
        terms::{Effective, RequestState},
    },
    id::RequestId,
    json::{Json, Object},
};

use crate::{
    exit::Exit,
    failure::Failure,
    fields::{self, TypedValue},
    output::{self, Output},
    waiting::{self, Reached},
};

/// What an answer is to be redeemed for.
pub(super) struct Redemption {
    effect: String,
    /// The values that the answer must have.
    wanted: Object,
}

impl Redemption {
    /// Reads what was asked for, before anything is asked: a condition with a slip in it would never hold.
    pub(super) fn read(
        effect: Option<String>,
        conditions: &[TypedValue],
        requires: &Json,
    ) -> Result<Option<Self>, Failure> {
        let Some(effect) = effect else { return Ok(None) };
        if conditions.is_empty() {
            return Ok(Some(Self { effect, wanted: Object::new() }));
        }
        let refuse = |problem: String| Failure::usage(format!("--redeem-if: {problem}"));
        let requires = Requires::read(requires).map_err(|error| refuse(error.to_string()))?;
        let wanted = fields::values(&requires, conditions).map_err(refuse)?;
        fields::possible(&requires, &wanted).map_err(refuse)?;
        Ok(Some(Self { effect, wanted }))
    }
}

/// Redeems if asked to, prints, and only then acknowledges.
pub(super) async fn finish(
    client: &Client,
    reached: &Reached,
    redemption: Option<&Redemption>,
    id: RequestId,
    output: Output,
) -> Result<Exit, Failure> {
    let decision = &reached.decision;
    let mut exit = waiting::exit(decision.outcome);
    let mut told = output::json(decision)?;
    if let Some(members) = told.as_object_mut() {
        members.insert("request_id", id.to_string());
    }
    match (redemption, decision.outcome) {
        (Some(redemption), RequestState::Answered) => {
            let (redeemed, ended) = redeem(client, decision, redemption).await?;
            exit = ended;
            if let Some(members) = told.as_object_mut() {
                members.insert("redemption", redeemed);
            }
        }
        (None, RequestState::Answered) => {
            if let Some(authorization) = decision.authorization_id {
                output::note(&format!(
                    "`handoff redeem {authorization} EFFECT_KEY` spends the answer on one effect, once"
                ));
            }
        }
        (redemption, _) => {
            output::note(&ending(reached));
            if redemption.is_some() {
                output::note("not redeemed: only an answer of a person authorizes anything");
            }
        }
    }
    output.result(&told, || format!("{}\n", decision.values.to_text()))?;
    if let Some(signal) = &reached.signal {
        client.acknowledge(signal.id, signal.resume_token, true, None).await?;
    }
    Ok(exit)
}

/// Redeems the authorization of an answer, if the answer is the one that the effect needs. Gives the redemption as JSON,
/// null if there was none, and what to exit with.
async fn redeem(client: &Client, decision: &Decision, redemption: &Redemption) -> Result<(Json, Exit), Failure> {
    if let Some(name) = fields::differing(&redemption.wanted, &decision.values) {
        output::note(&format!("not redeemed: `{name}` was answered otherwise than --redeem-if says"));
        return Ok((Json::Null, Exit::NotRedeemed));
    }
    let Some(authorization) = decision.authorization_id else {
        output::note("not redeemed: this answer carries no authorization");
        return Ok((Json::Null, Exit::NotRedeemed));
    };
    let redeemed = client.redeem(authorization, &redemption.effect, None).await?;
    let (effect, at) = (&redemption.effect, redeemed.redeemed_at);
    let exit = if redeemed.first_redemption {
        output::note(&format!("redeemed {authorization} for `{effect}`, at {at}: the effect may happen, once"));
        Exit::Done
    } else {
        output::note(&format!("{authorization} was redeemed for `{effect}` before, at {at}: do not repeat the effect"));
        Exit::Repeated
    };
    Ok((output::json(&redeemed)?, exit))
}

/// How it ended, where it was not answered.
fn ending(reached: &Reached) -> String {
    let decision = &reached.decision;
    match (decision.outcome, decision.effective) {
        (RequestState::Expired, Some(Effective::Default)) => {
            "nobody answered; the declared default counts, and nothing was authorized".to_owned()
        }
        (RequestState::Superseded, _) => {
            let successor = decision.superseded_by.map(|id| format!(" by {id}"));
            format!("superseded{}", successor.unwrap_or_default())
        }
        (RequestState::Cancelled, _) => {
            let reason = reached.reason.as_ref().map(|reason| format!(": {reason}"));
            format!("cancelled{}", reason.unwrap_or_default())
        }
        (outcome, effective) => {
            let effective = effective.map(|effective| format!("; in effect: {}", effective.as_str()));
            format!("{}{}", outcome.as_str(), effective.unwrap_or_default())
        }
    }
}
