//! Waiting for a decision through everything that may happen meanwhile: restarts of the server, lost connections.

use std::time::{Duration, Instant};

use handoff_client::{Client, ClientError};
use handoff_protocol::{
    decision::{
        Decision,
        terms::{DecisionSource, Effective, RequestState, SignalType},
        view::{RequestView, SignalView},
    },
    id::ReceiptId,
    json::Json,
};

use crate::{exit::Exit, failure::Failure, output};

/// How long one poll is held.
const WINDOW: u64 = 30;
/// The least time between two polls, for a server that does not hold them.
const PAUSE: Duration = Duration::from_secs(1);

/// A decision that was reached.
#[derive(Debug)]
pub(crate) struct Reached {
    pub(crate) decision: Decision,
    /// The signal to acknowledge; none if it was acknowledged before.
    pub(crate) signal: Option<SignalView>,
    /// Why it was cancelled, in words of whoever did it.
    pub(crate) reason: Option<String>,
}

/// Waits until a request has ended, however long that takes.
///
/// Polling goes on through transport failures and failures of the server itself; what the server refuses is final.
pub(crate) async fn decision(client: &Client, mut request: RequestView) -> Result<Reached, Failure> {
    let mut in_trouble = false;
    let mut signals = None;
    // The signal is fetched before anything is returned, so a restart between the two reads is waited through as well.
    while signals.is_none() {
        let began = Instant::now();
        let polled = match request.state {
            RequestState::Pending => client.settled_request(request.id, WINDOW).await.map(|view| request = view),
            _ => client.poll(&request.waiter_ref, 0).await.map(|list| signals = Some(list)),
        };
        match polled {
            Ok(()) if in_trouble => {
                output::note("the server is back");
                in_trouble = false;
            }
            Ok(()) => {}
            Err(error) if !passes(&error) => return Err(error.into()),
            Err(error) => {
                if !in_trouble {
                    output::note(&format!("{error}; still waiting"));
                }
                in_trouble = true;
            }
        }
        if signals.is_none() && (in_trouble || request.state == RequestState::Pending) {
            tokio::time::sleep(PAUSE.saturating_sub(began.elapsed())).await;
        }
    }
    let ours = signals.into_iter().flat_map(|list| list.data).find(|signal| {
        signal.request_id == request.id && signal.signal_type != SignalType::AttemptLapsed && signal.decision.is_some()
    });
    let decision = ours.as_ref().and_then(|signal| signal.decision.clone()).unwrap_or_else(|| recorded(&request));
    Ok(Reached { decision, signal: ours, reason: request.cancel_reason })
}

/// Whether a failure may pass by itself.
fn passes(error: &ClientError) -> bool {
    match error {
        ClientError::Transport(_) => true,
        ClientError::Refused(refusal) => refusal.status >= 500 || refusal.status == 429,
        ClientError::Malformed { status, .. } => *status >= 500,
        _ => false,
    }
}

/// The decision as the request itself records it, for a signal that was acknowledged before.
fn recorded(request: &RequestView) -> Decision {
    let receipt = request.receipt.as_ref();
    let member = |path: &str| receipt.and_then(|receipt| receipt.pointer(path));
    let by_policy = member("/kind").and_then(Json::as_str) == Some("policy");
    let source = match request.state {
        RequestState::Answered if !by_policy => DecisionSource::Human,
        _ => DecisionSource::Policy,
    };
    let mut decision = Decision::bare(request.state, source);
    if let Some(values) = member("/decision/values") {
        decision.values = values.clone();
    }
    let effective = member("/decision/effective").and_then(Json::as_str);
    decision.effective =
        Effective::ALL.iter().find(|(name, _)| Some(*name) == effective).map(|(_, effective)| *effective);
    decision.receipt_id = member("/id").and_then(Json::as_str).and_then(|id| ReceiptId::parse(id).ok());
    decision.authorization_id = request.authorization.as_ref().map(|authorization| authorization.id);
    decision.superseded_by = request.superseded_by;
    decision
}

/// What an outcome exits with.
pub(crate) const fn exit(outcome: RequestState) -> Exit {
    match outcome {
        RequestState::Answered => Exit::Done,
        RequestState::Expired => Exit::Expired,
        RequestState::Cancelled => Exit::Cancelled,
        RequestState::Superseded => Exit::Superseded,
        RequestState::Pending => Exit::Failed,
    }
}
