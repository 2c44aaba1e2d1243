//! Export: a tenant's receipts with everything that an offline verifier needs.

use handoff_protocol::{
    bundle::{Bundle, BundleReceipt},
    chain::Head,
    decision::{DecisionError, check_scope},
    id::{OrgId, TenantId},
    json::{from_json, read_str},
    principal::{Principal, Scope},
    signature::ReceiptSignature,
};

use crate::{
    decision::{RECEIPTS, internal},
    engine::Engine,
    identity::IdentityError,
    store::{HeightRange, StoreError},
};

/// How many receipts one read brings.
const PAGE: usize = 1000;

impl Engine {
    /// Exports the receipts of the caller's own tenant.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`] without the scope to read receipts.
    pub async fn export_own(&self, principal: &Principal) -> Result<Bundle, DecisionError> {
        check_scope(principal, Scope::ReceiptsRead)?;
        self.export(principal.tenant).await.map_err(|error| internal(&error))
    }

    /// Exports the receipts of a tenant, their signatures, the published keys and the chain's head.
    ///
    /// Receipts that are minted while this runs may or may not be in it; what is in it is a whole chain up to the head
    /// that it names.
    ///
    /// # Errors
    ///
    /// If the store fails or holds something unreadable.
    pub async fn export(&self, tenant: OrgId) -> Result<Bundle, IdentityError> {
        let keys = self.key_set().await?;
        let mut receipts = Vec::new();
        let mut head = Head::GENESIS;
        loop {
            let range = HeightRange { from: head.height.saturating_add(1), limit: PAGE };
            let entries = self.inner.store.read_chain(&TenantId::Org(tenant), &RECEIPTS, range).await?;
            let full = entries.len() == PAGE;
            for entry in entries {
                let unreadable = |reason: String| StoreError::Corrupt(format!("receipt {}: {reason}", entry.height));
                let body = entry.body.as_deref().ok_or_else(|| unreadable("its body is gone".to_owned()))?;
                let receipt = read_str(body).map_err(|error| unreadable(error.to_string()))?;
                let signature: Option<ReceiptSignature> = entry
                    .attestation
                    .as_deref()
                    .map(|text| read_str(text).map_err(|error| unreadable(error.to_string())))
                    .transpose()?
                    .map(|json| from_json(json).map_err(|error| unreadable(error.to_string())))
                    .transpose()?;
                receipts.push(BundleReceipt { receipt, signature });
                head = Head { height: entry.height, digest: entry.digest };
            }
            if !full {
                break;
            }
        }
        Ok(Bundle { org_id: tenant, exported_at: self.inner.clock.now(), head, keys, receipts })
    }
}
