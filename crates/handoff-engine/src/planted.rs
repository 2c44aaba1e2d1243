//! What the planted faults of this crate do (see [`handoff_protocol::planted`]), where a line at their place does not say it.

use std::{
    collections::{HashMap, HashSet},
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

use handoff_protocol::{
    callback::{SEQUENCE_HEADER, SIGNATURE_HEADER},
    decision::{
        self, Authorization, Context, DecisionError, Effects, Push, Request, Signal, Waiter,
        idempotency::IdempotencyKey,
        terms::RequestState,
        view::{SignalList, SinkValuesResult},
    },
    id::{AuthorizationId, DeliveryId, RequestId, SignalId, TenantId, Ulid},
    json::Json,
    planted::Fault,
    principal::Principal,
    secret::Secret,
    timestamp::Timestamp,
};

use crate::{
    decision::{RECEIPTS, Raised, RequestFilter, TimerAction, keys, read_action},
    document::Kept,
    engine::Engine,
    store::{RecordKind, RecordWrite, TimerWrite, WriteSet},
    transaction::{Halt, View},
};

/// What a process remembers that it should not.
static MEMORY: LazyLock<Mutex<Memory>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Memory {
    /// Who raised under a key first, whatever its tenant.
    keys: HashMap<String, TenantId>,
    /// What was shown of a request first, at a version.
    titles: HashMap<(RequestId, u64), Json>,
    /// What was polled.
    signals: HashSet<SignalId>,
}

fn memory() -> MutexGuard<'static, Memory> {
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// Refuses a key that another tenant raised under.
    pub(crate) fn claim_key(&self, principal: &Principal, key: Option<&IdempotencyKey>) -> Result<(), DecisionError> {
        let tenant = TenantId::Org(principal.tenant);
        let Some(key) = key.filter(|_| Fault::KeyWithoutTenant.is_planted()) else { return Ok(()) };
        let first = *memory().keys.entry(key.text().to_owned()).or_insert(tenant);
        if first == tenant { Ok(()) } else { Err(DecisionError::IdempotencyKeyReused { request_id: None }) }
    }

    /// Raises something under the waiter of a raise that was refused.
    pub(crate) async fn leave_a_row(&self, principal: &Principal, refused: &Json) {
        let waiter = refused.get("waiter_ref").and_then(Json::as_str);
        let Some(waiter) = waiter.filter(|_| Fault::RefusedRaiseLeavesARow.is_planted()) else { return };
        let prompt = Json::object([("title", Json::from("left behind"))]);
        // What cannot be raised either leaves nothing.
        if refused.get("prompt") == Some(&prompt) {
            return;
        }
        let requires = Json::object([("v", Json::from(1_u64))]);
        let body = Json::object([("waiter_ref", Json::from(waiter)), ("prompt", prompt), ("requires", requires)]);
        let _ = Box::pin(self.raise(principal, body, None)).await;
    }

    /// What a raise came to before, as it was then.
    pub(crate) async fn raised_as_it_was(&self, tenant: TenantId, id: RequestId) -> Result<Raised, DecisionError> {
        let mut request = self.request_view(tenant, id).await?;
        request.state = RequestState::Pending;
        (request.receipt, request.authorization, request.answered_at) = (None, None, None);
        Ok(Raised { request, created: false })
    }
}

/// What was read before a transaction, to be taken for what is there in it.
#[derive(Default)]
pub(crate) struct Early {
    request: Option<Request>,
    waiter: Option<Waiter>,
}

impl Early {
    pub(crate) fn in_place_of(&self, request: Kept<Request>, waiter: Kept<Waiter>) -> (Kept<Request>, Kept<Waiter>) {
        let document = self.request.clone().unwrap_or(request.document);
        let request = Kept { version: request.version, document };
        (request, Kept { version: waiter.version, document: self.waiter.clone().unwrap_or(waiter.document) })
    }
}

/// What the record of a push is made from.
pub(crate) struct BeganWith {
    pub(crate) push: Push,
    pub(crate) signal: Signal,
}

/// A signal as it was before its push.
pub(crate) fn written_over(early: &Signal, signal: Kept<Signal>) -> Kept<Signal> {
    let document = if Fault::PushRecordsWhatItRead.is_planted() { early.clone() } else { signal.document };
    Kept { version: signal.version, document }
}

impl Engine {
    /// What an operation reads too early.
    pub(crate) async fn read_early(&self, tenant: TenantId, id: RequestId) -> Result<Early, DecisionError> {
        let numbers = Fault::WaiterReadEarly.is_planted();
        if !numbers && !Fault::OperationsReadEarly.is_planted() {
            return Ok(Early::default());
        }
        let Some(request) = self.document::<Request>(tenant, id).await? else { return Ok(Early::default()) };
        let waiter = self.document::<Waiter>(tenant, request.waiter_ref.digest().hex()).await?;
        Ok(Early { request: Some(request).filter(|_| !numbers), waiter: waiter.filter(|_| numbers) })
    }

    /// What a sweep reads too early.
    pub(crate) async fn swept_early(&self, tenant: TenantId, id: RequestId) -> Result<Early, DecisionError> {
        if !Fault::SweepReadsEarly.is_planted() {
            return Ok(Early::default());
        }
        Ok(Early { request: self.document(tenant, id).await?, waiter: None })
    }

    /// An authorization, read too early.
    pub(crate) async fn authorization_early(
        &self,
        tenant: TenantId,
        id: AuthorizationId,
    ) -> Result<Option<Authorization>, DecisionError> {
        if Fault::RedeemReadsEarly.is_planted() { self.document(tenant, id).await } else { Ok(None) }
    }
}

/// A write-set without something that belongs to it.
pub(crate) fn lose(set: &mut WriteSet) {
    let Some(fault) = handoff_protocol::planted::planted() else { return };
    let mut requests = 0;
    set.records.retain_mut(|write| match write {
        RecordWrite::Put { key, seen, unindex, index, .. } => {
            requests += u32::from(key.kind == keys::REQUEST);
            match fault {
                Fault::StaleRowsStay => unindex.clear(),
                Fault::FreshRowsMissing if seen.is_some() => index.clear(),
                _ => {}
            }
            !match fault {
                Fault::WaiterNotWritten => key.kind == keys::WAITER && seen.is_some(),
                Fault::GrantsNotWritten => key.kind == keys::GRANT && seen.is_some(),
                Fault::SessionsNotWritten => key.kind == keys::SESSION && seen.is_some(),
                Fault::SuccessorNotWritten => key.kind == keys::REQUEST && requests == 2,
                Fault::ReceiptPlaceMissing => key.kind == keys::RECEIPT,
                _ => false,
            }
        }
        RecordWrite::Delete { key, .. } => key.kind != keys::CONTINUATION || fault != Fault::ContinuationKeptForever,
    });
    if fault == Fault::AttestationMissing {
        set.chain.iter_mut().for_each(|append| append.attestation = None);
    }
    if fault == Fault::EventsAfterTheFirstLost {
        set.events.truncate(1);
    }
    if fault == Fault::RequestTopicSilent {
        set.wakes.retain(|topic| !keys::is_request_topic(topic));
    }
    set.timers.retain(|write| match write {
        TimerWrite::Put { action, .. } => !is_forgotten(fault, action),
        TimerWrite::Settle { .. } | TimerWrite::Remove { .. } => true,
    });
}

fn is_forgotten(fault: Fault, action: &str) -> bool {
    let forgetful = match read_action(action) {
        Ok(TimerAction::Expire { .. }) => Fault::DeadlineTimerForgotten,
        Ok(TimerAction::Lapse { .. }) => Fault::AttemptTimerForgotten,
        Ok(TimerAction::LapseLease { .. }) => Fault::LeaseTimerForgotten,
        Ok(TimerAction::LapseSession { .. }) => Fault::SessionTimerForgotten,
        Ok(TimerAction::CloseSession { .. }) => Fault::CloseTimerForgotten,
        Ok(TimerAction::Push { .. }) => Fault::PushTimerForgotten,
        Ok(TimerAction::PurgeReplays) => Fault::PurgeTimerForgotten,
        Ok(TimerAction::Tend { .. } | TimerAction::SendDelivery { .. }) => Fault::OutreachTimersForgotten,
        Ok(TimerAction::TellChange { .. } | TimerAction::WakePushes { .. }) | Err(_) => return false,
    };
    forgetful == fault
}

/// Takes an observation, or words of a channel, for more than they are.
pub(crate) fn infer(
    kind: &RecordKind,
    view: &View<'_>,
    effects: Effects,
    context: &mut Context<'_>,
) -> Result<Effects, Halt<DecisionError>> {
    let fault = match kind.as_str() {
        "observation" => Fault::PageChangeMintsAReceipt,
        _ => Fault::ChannelTextSettles,
    };
    if !fault.is_planted() || effects.request.state != RequestState::Pending {
        return Ok(effects);
    }
    let head = view.chain(&RECEIPTS)?;
    Ok(decision::infer(effects, &head, context)?)
}

/// A receipt without one of its members.
pub(crate) fn trimmed(mut receipt: Option<Json>) -> Option<Json> {
    if let (true, Some(members)) =
        (Fault::RequestTrimsItsReceipt.is_planted(), receipt.as_mut().and_then(Json::as_object_mut))
    {
        members.remove("corrects");
    }
    receipt
}

/// A request with the words that it was served with first.
pub(crate) fn remembered(mut request: Request) -> Request {
    if Fault::TitlesFromACache.is_planted() {
        let shown = (request.id, request.version);
        request.prompt = memory().titles.entry(shown).or_insert_with(|| request.prompt.clone()).clone();
    }
    request
}

/// A filter that lets every waiter through.
pub(crate) fn widened(filter: &RequestFilter) -> RequestFilter {
    let mut filter = filter.clone();
    filter.waiter_ref = filter.waiter_ref.filter(|_| !Fault::WaiterFilterIgnored.is_planted());
    filter
}

/// The signals that no poll had before.
pub(crate) fn consumed(mut list: SignalList) -> SignalList {
    if Fault::PollConsumes.is_planted() {
        let polled = &mut memory().signals;
        list.data.retain(|signal| polled.insert(signal.id));
    }
    list
}

/// A result that says more than names, and a log that does.
pub(crate) fn indiscreet(mut result: SinkValuesResult, values: &Secret<Json>) -> SinkValuesResult {
    let text = values.expose().to_text();
    if Fault::SecretLogged.is_planted() {
        tracing::info!(values = text, "values go to a sink");
    }
    if Fault::SinkEchoesValues.is_planted() {
        result.accepted.push(text);
    }
    result
}

/// A push under another name at each attempt.
pub(crate) fn renamed(push: &Push, now: Timestamp) -> Push {
    let mut push = push.clone();
    if Fault::DeliveryIdPerAttempt.is_planted() {
        push.delivery_id = DeliveryId::from_ulid(Ulid::from_parts(now, u128::from(push.attempts)));
    }
    push
}

/// A body that names the tenant.
pub(crate) fn naming(tenant: TenantId, body: String) -> String {
    match body.strip_prefix('{') {
        Some(members) if Fault::CallbackNamesTheTenant.is_planted() => format!(r#"{{"org_id":"{tenant}",{members}"#),
        _ => body,
    }
}

/// Headers and a body that are not what was signed.
pub(crate) fn missent(headers: &mut Vec<(&'static str, String)>, body: String) -> String {
    if Fault::CallbackUnsigned.is_planted() {
        headers.retain(|(name, _)| *name != SIGNATURE_HEADER);
    }
    if Fault::KeyIdsInHeader.is_planted() {
        headers.push(("Handoff-Signature-Key-Ids", "whsec".to_owned()));
    }
    let sequence = headers.iter_mut().find(|(name, _)| *name == SEQUENCE_HEADER);
    if let Some((_, sequence)) = sequence.filter(|_| Fault::SequenceHeaderDiffers.is_planted()) {
        sequence.push('0');
    }
    if Fault::OtherBytesSigned.is_planted() { body + "\n" } else { body }
}
