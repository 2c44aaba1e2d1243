//! The proof of one decision, to take along.

use handoff_protocol::{
    decision::{DecisionError, Request, check_scope},
    id::RequestId,
    json::{from_json, read_str},
    principal::{Principal, Scope},
    proof::Proof,
};

use super::{internal, read, tenant_of};
use crate::engine::Engine;

impl Engine {
    /// The receipt of a request as it was sealed, with its signature and the published keys: what
    /// [`handoff_protocol::bundle::verify`] accepts offline.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`]; [`DecisionError::RequestNotFound`] until there is a receipt.
    pub async fn proof(&self, principal: &Principal, id: RequestId) -> Result<Proof, DecisionError> {
        check_scope(principal, Scope::ReceiptsRead)?;
        let tenant = tenant_of(principal);
        let request: Request = self.document(tenant, id).await?.ok_or(DecisionError::RequestNotFound)?;
        let pointer = request.receipt.ok_or(DecisionError::RequestNotFound)?;
        let entry = self.entry(tenant, pointer.height).await?;
        let signature = match entry.attestation.as_deref() {
            Some(text) => {
                let json = read_str(text).map_err(|error| internal(&error))?;
                Some(from_json(json).map_err(|error| internal(&error))?)
            }
            None => None,
        };
        Ok(Proof {
            org_id: principal.tenant,
            made_at: self.now(),
            keys: self.key_set().await.map_err(|error| internal(&error))?,
            receipt: read::body(&entry)?,
            signature,
        })
    }
}
