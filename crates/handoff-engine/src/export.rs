//! Export: a tenant's receipts with everything that an offline verifier needs, a page at a time.

use std::sync::Arc;

use handoff_protocol::{
    bundle::BundleWriter,
    chain::Head,
    decision::{DecisionError, check_scope},
    id::{OrgId, TenantId},
    principal::{Principal, Scope},
};

use crate::{
    decision::{RECEIPTS, internal},
    engine::Engine,
    identity::IdentityError,
    store::{ChainEntry, HeightRange, Store, StoreError},
};

/// How many receipts one read brings, and one piece of text holds.
const PAGE: u64 = 64;

/// An export on its way: the pieces of its text, one after another, are a [bundle](handoff_protocol::bundle).
///
/// No more than one page of receipts is held at a time, however long the chain is.
pub struct Export {
    store: Arc<dyn Store>,
    tenant: TenantId,
    head: Head,
    /// The last receipt that was written.
    reached: Head,
    /// Nothing once the end was written.
    writer: Option<BundleWriter>,
    /// What is written and not handed out yet.
    text: String,
}

impl Engine {
    /// Exports the receipts of the caller's own tenant.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`] without the scope to read receipts.
    pub async fn export_own(&self, principal: &Principal) -> Result<Export, DecisionError> {
        check_scope(principal, Scope::ReceiptsRead)?;
        self.export(principal.tenant).await.map_err(|error| internal(&error))
    }

    /// Exports the receipts of a tenant, their signatures, the published keys and the chain's head.
    ///
    /// It holds the receipts up to the head at the moment of this call; those that are minted later are not in it.
    ///
    /// # Errors
    ///
    /// If the store fails or holds something unreadable.
    pub async fn export(&self, tenant: OrgId) -> Result<Export, IdentityError> {
        let store = Arc::clone(&self.inner.store);
        let head = store.chain_head(&TenantId::Org(tenant), &RECEIPTS).await?;
        let head = head.map_or(Head::GENESIS, |head| Head { height: head.height, digest: head.digest });
        // After the head, so that the keys of all its receipts are among them.
        let keys = self.key_set().await?;
        let mut text = String::new();
        let writer = BundleWriter::begin(tenant, self.inner.clock.now(), head, &keys, &mut text)
            .map_err(|error| StoreError::Corrupt(format!("an export cannot be written: {error}")))?;
        let tenant = TenantId::Org(tenant);
        Ok(Export { store, tenant, head, reached: Head::GENESIS, writer: Some(writer), text })
    }
}

impl Export {
    /// The next piece of the text; nothing behind the last. After a failure the export is over: what came before is no
    /// bundle.
    ///
    /// # Errors
    ///
    /// If the store fails, or a receipt that the head covers is missing or unreadable.
    pub async fn next(&mut self) -> Result<Option<String>, StoreError> {
        let Some(mut writer) = self.writer.take() else { return Ok(None) };
        let left = self.head.height.saturating_sub(self.reached.height);
        if left > 0 {
            let limit = usize::try_from(left.min(PAGE)).unwrap_or(usize::MAX);
            let range = HeightRange { from: self.reached.height.saturating_add(1), limit };
            let entries = self.store.read_chain(&self.tenant, &RECEIPTS, range).await?;
            if entries.is_empty() {
                return Err(missing(self.reached.height.saturating_add(1)));
            }
            for entry in &entries {
                self.write(&mut writer, entry)?;
            }
        }
        if self.reached.height < self.head.height {
            self.writer = Some(writer);
        } else if self.reached == self.head {
            writer.finish(&mut self.text);
        } else {
            return Err(StoreError::Corrupt("the receipts do not come to the head of their chain".to_owned()));
        }
        Ok(Some(std::mem::take(&mut self.text)))
    }

    /// The whole text, for those that are known to be short.
    ///
    /// # Errors
    ///
    /// As for [`next`](Self::next).
    pub async fn text(mut self) -> Result<String, StoreError> {
        let mut text = String::new();
        while let Some(piece) = self.next().await? {
            text.push_str(&piece);
        }
        Ok(text)
    }

    fn write(&mut self, writer: &mut BundleWriter, entry: &ChainEntry) -> Result<(), StoreError> {
        let due = self.reached.height.saturating_add(1);
        let body = entry.body.as_deref().filter(|_| entry.height == due).ok_or_else(|| missing(due))?;
        writer
            .receipt(body, entry.attestation.as_deref(), &mut self.text)
            .map_err(|error| StoreError::Corrupt(format!("receipt {due}: {error}")))?;
        self.reached = Head { height: due, digest: entry.digest };
        Ok(())
    }
}

fn missing(height: u64) -> StoreError {
    StoreError::Corrupt(format!("receipt {height}: its body is gone"))
}
