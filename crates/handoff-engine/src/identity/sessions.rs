//! Sessions: how one ends when its browser enters anew, and how a person ends all of them.

use handoff_protocol::{
    digest::Digest,
    id::{OrgId, PrincipalId, TenantId},
    timestamp::Timestamp,
};

use super::{
    IdentityError,
    documents::{CredentialRecord, LinkRecord, PrincipalRecord},
    tokens,
};
use crate::{
    decision::apply::Writes,
    document::{self, Document as _},
    engine::{Engine, SYSTEM},
    store::RecordKey,
    transaction::{Halt, Outcome, View},
};

impl Engine {
    /// Ends every session of a person, on every device, at once. Bearer tokens and links that were not used yet stay:
    /// they are not sessions. Repeating it is harmless.
    ///
    /// # Errors
    ///
    /// [`IdentityError::NotFound`] if the tenant has no such member.
    pub async fn end_sessions(&self, tenant: OrgId, person: PrincipalId) -> Result<(), IdentityError> {
        self.change(TenantId::Org(tenant), move |view, _| {
            let kept = view.get::<PrincipalRecord, _>(person)?.ok_or(IdentityError::NotFound("person"))?;
            let mut record = kept.document.clone();
            record.session_epoch = record.session_epoch.saturating_add(1);
            let mut writes = Writes::default();
            writes.put(Some(&kept), &record).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await
    }

    /// Ends one session. What is no session, a bearer token say, is left alone, and so is what ended already.
    ///
    /// # Errors
    ///
    /// [`IdentityError`] if the store fails.
    pub async fn end_session(&self, token: &str) -> Result<(), IdentityError> {
        let digest = tokens::digest(token);
        self.change(SYSTEM, move |view, moment| {
            let mut writes = Writes::default();
            let is_ended = end(view, &mut writes, digest, moment.now)?;
            Ok(if is_ended { Outcome::Write(writes.finish(&view.mint()), ()) } else { Outcome::Nothing(()) })
        })
        .await
    }

    /// The epoch in which a session that begins now belongs.
    pub(super) async fn session_epoch(&self, tenant: OrgId, person: PrincipalId) -> Result<u64, IdentityError> {
        let key = RecordKey::new(PrincipalRecord::KIND, person);
        let found = self.inner.store.get(&TenantId::Org(tenant), &[key]).await?;
        let record = found.into_iter().next().flatten();
        Ok(record
            .map(|record| document::read::<PrincipalRecord>(&record))
            .transpose()?
            .map_or(0, |kept| kept.document.session_epoch))
    }

    /// What is kept of a link.
    pub(super) async fn link(&self, digest: Digest) -> Result<Option<LinkRecord>, IdentityError> {
        let found = self.inner.store.get(&SYSTEM, &[RecordKey::new(LinkRecord::KIND, digest.hex())]).await?;
        let record = found.into_iter().next().flatten();
        Ok(record.map(|record| document::read::<LinkRecord>(&record)).transpose()?.map(|kept| kept.document))
    }
}

/// Ends one session within a commit; tells whether there was one. What is none, a bearer token in a cookie say, is left
/// alone.
pub(super) fn end(
    view: &View<'_>,
    writes: &mut Writes,
    digest: Digest,
    now: Timestamp,
) -> Result<bool, Halt<IdentityError>> {
    let Some(kept) = view.get::<CredentialRecord, _>(digest.hex())? else { return Ok(false) };
    if kept.document.presented_at.is_none() || kept.document.revoked_at.is_some() {
        return Ok(false);
    }
    let mut record = kept.document.clone();
    record.revoked_at = Some(now);
    writes.put(Some(&kept), &record).map_err(Halt::Broken)?;
    Ok(true)
}
