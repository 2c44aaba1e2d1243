//! Credentials that a deployment brings along, loaded when it starts (section 24).

use std::collections::{BTreeMap, BTreeSet};

use handoff_protocol::{
    id::{OrgId, PrincipalId, ServiceAccountId, TenantId, UserId},
    principal::{AuthStrength, Role, Scopes},
    secret::Secret,
    timestamp::Timestamp,
};

use super::{
    IdentityError,
    credentials::Credential,
    documents::{CredentialRecord, LOADED, MemberKind, PrincipalRecord, TenantRecord},
    tokens,
};
use crate::{
    decision::apply::Writes,
    document::{Document, Kept},
    engine::{Engine, SYSTEM},
    transaction::{Halt, Outcome},
};

/// A principal with one token, as a deployment brings it along.
#[derive(Debug)]
pub struct Bootstrap {
    /// The tenant; it is made if it is not there.
    pub tenant: OrgId,
    /// Who holds the token.
    pub holder: Holder,
    /// The token. Its digest is kept and the text forgotten (rule P-3).
    pub token: Secret<String>,
    /// What the holder may decide.
    pub role: Role,
    /// How strongly the token authenticates.
    pub strength: AuthStrength,
    /// A name for people to read.
    pub display: Option<String>,
    /// What the token may be used for.
    pub scopes: Scopes,
    /// On whose behalf the holder acts (rule P-6).
    pub on_behalf_of: Option<PrincipalId>,
    /// Whether the token is for trying things out.
    pub test: bool,
}

/// Who holds a token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Holder {
    /// A person.
    Person(UserId),
    /// A machine.
    Machine(ServiceAccountId),
    /// Whoever has the link (rule A-6).
    Link,
}

impl Engine {
    /// Loads principals and their tokens: what is missing is made, and what is there is brought up to what they say.
    ///
    /// Of several entries for one member the last one's role and name hold. A token that was revoked stays revoked, and
    /// a member who was disabled stays disabled. Loading the same entries again writes nothing.
    ///
    /// Returns the tokens that an earlier load brought along, that these entries do not, and that are valid still: whoever
    /// changes or removes an entry may think that its old token went with it.
    ///
    /// # Errors
    ///
    /// If the store fails; then some entries may be loaded, and loading them again is safe.
    pub async fn load_principals(&self, entries: Vec<Bootstrap>) -> Result<Vec<Credential>, IdentityError> {
        let mut tenants = BTreeSet::new();
        // Of several entries for one member the last one is there in the end, and only it is written.
        let mut members = BTreeMap::new();
        for entry in &entries {
            if tenants.insert(entry.tenant.to_string()) {
                self.ensure_tenant(entry.tenant).await?;
            }
            let (id, kind) = match entry.holder {
                Holder::Person(id) => (PrincipalId::User(id), MemberKind::Person),
                Holder::Machine(id) => (PrincipalId::ServiceAccount(id), MemberKind::Machine),
                Holder::Link => continue,
            };
            let member = (entry.tenant, id, kind, entry.role, entry.display.clone());
            members.insert((entry.tenant.to_string(), id.to_string()), member);
        }
        for (tenant, id, kind, role, display) in members.into_values() {
            self.upsert(TenantId::Org(tenant), id.to_string(), move |kept: Option<&PrincipalRecord>, now| {
                PrincipalRecord {
                    id,
                    kind,
                    // A name is kept when the entry has none.
                    display: display.clone().or_else(|| kept.and_then(|kept| kept.display.clone())),
                    role,
                    created_at: kept.map_or(now, |kept| kept.created_at),
                    disabled_at: kept.and_then(|kept| kept.disabled_at),
                    session_epoch: kept.map_or(0, |kept| kept.session_epoch),
                }
            })
            .await?;
        }
        let brought: BTreeSet<String> =
            entries.iter().map(|entry| tokens::digest(entry.token.expose()).hex()).collect();
        for entry in entries {
            self.load_token(entry).await?;
        }
        let mut left = self.everything::<CredentialRecord>(SYSTEM, LOADED).await?;
        left.retain(|record| !brought.contains(&record.digest.hex()));
        Ok(left.into_iter().map(Credential::from).collect())
    }

    async fn ensure_tenant(&self, org_id: OrgId) -> Result<(), IdentityError> {
        self.upsert(SYSTEM, org_id.to_string(), move |kept: Option<&TenantRecord>, now| TenantRecord {
            org_id,
            created_at: kept.map_or(now, |kept| kept.created_at),
        })
        .await
    }

    async fn load_token(&self, entry: Bootstrap) -> Result<(), IdentityError> {
        let digest = tokens::digest(entry.token.expose());
        let holder = match entry.holder {
            Holder::Person(id) => Some(PrincipalId::User(id)),
            Holder::Machine(id) => Some(PrincipalId::ServiceAccount(id)),
            Holder::Link => None,
        };
        let Bootstrap { tenant, role, strength, display, scopes, on_behalf_of, test, .. } = entry;
        let link_display = display.filter(|_| holder.is_none());
        self.upsert(SYSTEM, digest.hex(), move |kept: Option<&CredentialRecord>, now| CredentialRecord {
            digest,
            tenant,
            holder,
            strength,
            scopes: scopes.clone(),
            link_role: role,
            link_display: link_display.clone(),
            on_behalf_of,
            test,
            loaded: true,
            presented_at: None,
            session_epoch: 0,
            created_at: kept.map_or(now, |kept| kept.created_at),
            expires_at: None,
            revoked_at: kept.and_then(|kept| kept.revoked_at),
        })
        .await
    }

    /// Brings a document up to what it should be, writing only if it is not that already.
    async fn upsert<D, F>(&self, tenant: TenantId, id: String, after: F) -> Result<(), IdentityError>
    where
        D: Document + PartialEq + 'static,
        F: Fn(Option<&D>, Timestamp) -> D + Send + Sync + 'static,
    {
        self.change(tenant, move |view, moment| {
            let kept: Option<Kept<D>> = view.get(&id)?;
            let after = after(kept.as_ref().map(|kept| &kept.document), moment.now);
            if kept.as_ref().is_some_and(|kept| kept.document == after) {
                return Ok(Outcome::Nothing(()));
            }
            let mut writes = Writes::default();
            writes.put(kept.as_ref(), &after).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await
    }
}
