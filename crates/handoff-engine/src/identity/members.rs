//! Tenants, people and machines, and the credentials that they are given.

use handoff_protocol::{
    digest::Digest,
    duration::ExactDuration,
    id::{OrgId, PrincipalId, ServiceAccountId, TenantId, UserId},
    principal::{AuthStrength, Role, Scopes},
    secret::Secret,
    timestamp::Timestamp,
};

use super::{
    IdentityError,
    documents::{CredentialRecord, MemberKind, PRINCIPALS, PrincipalRecord, TENANTS, TenantRecord},
    tokens::{self, TokenUse},
};
use crate::{
    decision::apply::Writes,
    document,
    engine::{Engine, SYSTEM},
    store::{IndexName, IndexScan, Order},
    transaction::{Halt, Outcome},
};

/// A person or a machine of a tenant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Member {
    /// Its id.
    pub id: PrincipalId,
    /// Person or machine.
    pub kind: MemberKind,
    /// A name for people to read.
    pub display: Option<String>,
    /// What it may decide.
    pub role: Role,
    /// When it was added.
    pub created_at: Timestamp,
    /// Since when it may no longer act.
    pub disabled_at: Option<Timestamp>,
}

/// What a new credential is good for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NewCredential {
    /// What it may be used for.
    pub scopes: Scopes,
    /// How strongly it authenticates.
    pub strength: AuthStrength,
    /// How long it is valid; none for until revoked.
    pub ttl: Option<ExactDuration>,
    /// On whose behalf its holder acts (rule P-6).
    pub on_behalf_of: Option<PrincipalId>,
    /// Whether it is for trying things out: it may only raise what says so.
    pub test: bool,
}

impl Default for NewCredential {
    fn default() -> Self {
        Self { scopes: Scopes::All, strength: AuthStrength::Session, ttl: None, on_behalf_of: None, test: false }
    }
}

impl Engine {
    /// Creates a tenant.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn create_tenant(&self) -> Result<OrgId, IdentityError> {
        self.change(SYSTEM, |view, moment| {
            let mut mint = view.mint();
            let record = TenantRecord { org_id: mint.next(), created_at: moment.now };
            let mut writes = Writes::default();
            writes.put(None, &record).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&mint), record.org_id))
        })
        .await
    }

    /// Every tenant, by id.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn tenants(&self) -> Result<Vec<OrgId>, IdentityError> {
        let records = self.everything::<TenantRecord>(SYSTEM, TENANTS).await?;
        Ok(records.into_iter().map(|record| record.org_id).collect())
    }

    /// Adds a person.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn create_person(&self, tenant: OrgId, display: &str, role: Role) -> Result<UserId, IdentityError> {
        let display = display.to_owned();
        self.change(TenantId::Org(tenant), move |view, moment| {
            let mut mint = view.mint();
            let id: UserId = mint.next();
            let record = PrincipalRecord {
                id: PrincipalId::User(id),
                kind: MemberKind::Person,
                display: Some(display.clone()),
                role,
                created_at: moment.now,
                disabled_at: None,
                session_epoch: 0,
            };
            let mut writes = Writes::default();
            writes.put(None, &record).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&mint), id))
        })
        .await
    }

    /// Adds a machine.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn create_machine(&self, tenant: OrgId, display: &str) -> Result<ServiceAccountId, IdentityError> {
        let display = display.to_owned();
        self.change(TenantId::Org(tenant), move |view, moment| {
            let mut mint = view.mint();
            let id: ServiceAccountId = mint.next();
            let record = PrincipalRecord {
                id: PrincipalId::ServiceAccount(id),
                kind: MemberKind::Machine,
                display: Some(display.clone()),
                role: Role::Viewer,
                created_at: moment.now,
                disabled_at: None,
                session_epoch: 0,
            };
            let mut writes = Writes::default();
            writes.put(None, &record).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&mint), id))
        })
        .await
    }

    /// Every person and machine of a tenant, by id.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn members(&self, tenant: OrgId) -> Result<Vec<Member>, IdentityError> {
        let records = self.everything::<PrincipalRecord>(TenantId::Org(tenant), PRINCIPALS).await?;
        Ok(records.into_iter().map(Member::from).collect())
    }

    /// A person or machine of a tenant.
    ///
    /// # Errors
    ///
    /// [`IdentityError::NotFound`].
    pub async fn member(&self, tenant: OrgId, id: PrincipalId) -> Result<Member, IdentityError> {
        self.change(TenantId::Org(tenant), move |view, _| {
            let kept = view.get::<PrincipalRecord, _>(id)?.ok_or(IdentityError::NotFound("member"))?;
            Ok(Outcome::Nothing(Member::from(kept.document)))
        })
        .await
    }

    /// Changes what a person may decide. It holds from the next answer on (rule A-1).
    ///
    /// # Errors
    ///
    /// [`IdentityError::NotFound`].
    pub async fn set_role(&self, tenant: OrgId, id: UserId, role: Role) -> Result<(), IdentityError> {
        self.change(TenantId::Org(tenant), move |view, _| {
            let kept =
                view.get::<PrincipalRecord, _>(PrincipalId::User(id))?.ok_or(IdentityError::NotFound("person"))?;
            let mut record = kept.document.clone();
            record.role = role;
            let mut writes = Writes::default();
            writes.put(Some(&kept), &record).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await
    }

    /// Issues a bearer token to a person or machine. It is shown here once and kept as a digest.
    ///
    /// # Errors
    ///
    /// [`IdentityError::NotFound`] if the tenant has no such member.
    pub async fn issue_key(
        &self,
        tenant: OrgId,
        holder: PrincipalId,
        credential: NewCredential,
    ) -> Result<Secret<String>, IdentityError> {
        self.member(tenant, holder).await?;
        let usage = if matches!(holder, PrincipalId::User(_)) { TokenUse::PersonKey } else { TokenUse::Key };
        let token = tokens::mint(self.inner.entropy.as_ref(), usage)?;
        self.keep_credential(tenant, holder, &credential, &token).await?;
        Ok(token)
    }

    /// Makes a token worthless at once. Repeating it is harmless.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn revoke(&self, token: &str) -> Result<(), IdentityError> {
        self.revoke_digest(tokens::digest(token)).await
    }

    /// Makes the token of this digest worthless at once.
    pub(super) async fn revoke_digest(&self, digest: Digest) -> Result<(), IdentityError> {
        self.change(SYSTEM, move |view, moment| {
            let Some(kept) = view.get::<CredentialRecord, _>(digest.hex())? else { return Ok(Outcome::Nothing(())) };
            if kept.document.revoked_at.is_some() {
                return Ok(Outcome::Nothing(()));
            }
            let mut record = kept.document.clone();
            record.revoked_at = Some(moment.now);
            let mut writes = Writes::default();
            writes.put(Some(&kept), &record).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await
    }

    async fn keep_credential(
        &self,
        tenant: OrgId,
        holder: PrincipalId,
        credential: &NewCredential,
        token: &Secret<String>,
    ) -> Result<(), IdentityError> {
        let (digest, credential) = (tokens::digest(token.expose()), credential.clone());
        self.change(SYSTEM, move |view, moment| {
            let record = CredentialRecord {
                digest,
                tenant,
                holder: Some(holder),
                strength: credential.strength,
                scopes: credential.scopes.clone(),
                link_role: Role::Viewer,
                link_display: None,
                on_behalf_of: credential.on_behalf_of,
                test: credential.test,
                loaded: false,
                presented_at: None,
                session_epoch: 0,
                created_at: moment.now,
                expires_at: credential.ttl.map(|ttl| moment.now.saturating_add(ttl)),
                revoked_at: None,
            };
            let mut writes = Writes::default();
            writes.put(None, &record).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await
    }

    /// Every document of a small index.
    pub(super) async fn everything<D: document::Document>(
        &self,
        tenant: TenantId,
        index: IndexName,
    ) -> Result<Vec<D>, IdentityError> {
        self.everything_under(tenant, index, Vec::new()).await
    }

    /// Every document of a small index whose sort key begins like this.
    pub(super) async fn everything_under<D: document::Document>(
        &self,
        tenant: TenantId,
        index: IndexName,
        prefix: Vec<u8>,
    ) -> Result<Vec<D>, IdentityError> {
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let scan = IndexScan {
                tenant,
                index: index.clone(),
                prefix: prefix.clone(),
                after: after.take(),
                order: Order::Ascending,
                limit: 500,
            };
            let page = self.inner.store.scan(scan).await?;
            for row in page.rows {
                found.push(document::read::<D>(&row.record)?.document);
                after = Some(row.sort_key);
            }
            if !page.more {
                return Ok(found);
            }
        }
    }
}

impl From<PrincipalRecord> for Member {
    fn from(record: PrincipalRecord) -> Self {
        Self {
            id: record.id,
            kind: record.kind,
            display: record.display,
            role: record.role,
            created_at: record.created_at,
            disabled_at: record.disabled_at,
        }
    }
}
