//! Answering a request: section 8, steps 5 to 11.

use handoff_protocol::{
    decision::{
        Answer, DecisionError, Request, answer,
        idempotency::{IdempotencyKey, Operation},
        view::{AnswerResult, MintedReceipt},
    },
    id::RequestId,
    json::Json,
    principal::Principal,
};

use super::{
    keys,
    known::check_person,
    operate::{Done, Operate},
    tenant_of,
};
use crate::{
    engine::Engine,
    identity::documents::{PRINCIPAL, PrincipalRecord},
    store::{Reads, RecordKey},
};

impl Engine {
    /// Takes a person's answer. Of any number that decide, one settles the request; the others learn whose receipt
    /// stands. One that gives a part, passes the request on, says that its person is unable, or is not enough for the
    /// quorum yet is recorded and leaves it pending, without a receipt. Repeating it under the same key returns the first
    /// result.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /requests/{id}/answer`. None of them has an effect.
    pub async fn answer(
        &self,
        principal: &Principal,
        id: RequestId,
        body: Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<AnswerResult, DecisionError> {
        match Answer::read(principal, body) {
            Ok(command) => self.carry_out(principal, id, command, key).await,
            Err(refusal) => Err(self.about(principal, id, refusal).await?),
        }
    }

    /// Takes an answer as [`answer`](Self::answer) does, from a surface that can show the question again: it is refused as
    /// stale unless its `rendered_digest` is that of what is asked at the moment of the commit, whatever the request's
    /// binding is (rule S-5 lets advisory answers stand; whoever looks at a page would not know what theirs became).
    ///
    /// # Errors
    ///
    /// As [`answer`](Self::answer); [`DecisionError::PresentationStale`] under any binding.
    pub async fn answer_as_shown(
        &self,
        principal: &Principal,
        id: RequestId,
        body: Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<AnswerResult, DecisionError> {
        match Answer::read(principal, body) {
            Ok(command) => self.carry_out(principal, id, command.only_as_shown(), key).await,
            Err(refusal) => Err(self.about(principal, id, refusal).await?),
        }
    }

    async fn carry_out(
        &self,
        principal: &Principal,
        id: RequestId,
        command: Answer,
        key: Option<&IdempotencyKey>,
    ) -> Result<AnswerResult, DecisionError> {
        let mut reads = Reads::none().chain(keys::RECEIPTS);
        if let Some(id) = principal.id() {
            reads = reads.record(RecordKey::new(PRINCIPAL, id));
        }
        let digest = command.digest();
        let operate = Operate { principal, operation: Operation::Answer, id, key, digest, reads };
        let answerer = principal.clone();
        self.operate(operate, move |view, request, waiter, context| {
            // The answerer as it stands at this moment (rule A-1).
            let mut answerer = answerer.clone();
            if let Some(id) = answerer.id() {
                let record = view.get::<PrincipalRecord, _>(id)?.ok_or(DecisionError::InvalidApiKey)?;
                record.document.refresh(&mut answerer).ok_or(DecisionError::InvalidApiKey)?;
            }
            let head = view.chain(&keys::RECEIPTS)?;
            if let Some(to) = command.delegate_to() {
                check_person(view, to, context.policy, "delegate_to")?;
            }
            let effects = answer(request, &command, &answerer, waiter, &head, context)?;
            let minted = effects.receipt.as_ref();
            let minted = minted.map(|receipt| MintedReceipt { id: receipt.id, digest: receipt.link.digest });
            let result = AnswerResult::new(&effects.request, minted, effects.authorization.as_ref());
            Ok(Done { label: Some("answer_after_state_write"), ..Done::new(effects, result) })
        })
        .await
    }

    /// Names the request in a refusal that was decided before anything was looked up, if this tenant has it (section
    /// 20). The code stays what it is either way.
    pub(super) async fn about(
        &self,
        principal: &Principal,
        id: RequestId,
        refusal: DecisionError,
    ) -> Result<DecisionError, DecisionError> {
        let nameless = matches!(
            refusal,
            DecisionError::RequesterMayNotAnswer { request_id: None }
                | DecisionError::AnswerValidationFailed { request_id: None, .. }
        );
        if !nameless || self.document::<Request>(tenant_of(principal), id).await?.is_none() {
            return Ok(refusal);
        }
        Ok(match refusal {
            DecisionError::AnswerValidationFailed { fields, .. } => {
                DecisionError::AnswerValidationFailed { request_id: Some(id), fields }
            }
            _ => DecisionError::RequesterMayNotAnswer { request_id: Some(id) },
        })
    }
}
