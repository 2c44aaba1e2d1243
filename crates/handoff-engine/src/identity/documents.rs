//! What is kept of identities.

use handoff_protocol::{
    id::{OrgId, PrincipalId, RequestId},
    principal::{AuthStrength, Principal, Role, Scopes},
    signature::Jwk,
    timestamp::Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::{
    document::Document,
    store::{IndexName, IndexRow, RecordKind},
};

pub(crate) const TENANT: RecordKind = RecordKind::from_static("tenant");
pub(crate) const PRINCIPAL: RecordKind = RecordKind::from_static("principal");
pub(crate) const CREDENTIAL: RecordKind = RecordKind::from_static("credential");
pub(crate) const LINK: RecordKind = RecordKind::from_static("link");
pub(crate) const SIGNING_KEY: RecordKind = RecordKind::from_static("signing_key");

/// Every tenant, by id (system tenant).
pub(crate) const TENANTS: IndexName = IndexName::from_static("tenant.id");
/// Every person and machine of a tenant, by id.
pub(crate) const PRINCIPALS: IndexName = IndexName::from_static("principal.id");
/// Every bearer token, by its tenant and digest (system tenant).
pub(crate) const CREDENTIALS: IndexName = IndexName::from_static("credential.tenant");
/// Every token that a deployment brought along and nobody revoked, by its tenant and digest (system tenant).
pub(crate) const LOADED: IndexName = IndexName::from_static("credential.loaded");
/// Every published key, by id (system tenant).
pub(crate) const SIGNING_KEYS: IndexName = IndexName::from_static("signing_key.id");

/// A tenant, in the list that the system tenant keeps.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct TenantRecord {
    pub(crate) org_id: OrgId,
    pub(crate) created_at: Timestamp,
}

impl Document for TenantRecord {
    const KIND: RecordKind = TENANT;

    fn id(&self) -> String {
        self.org_id.to_string()
    }

    fn index(&self) -> Vec<IndexRow> {
        vec![IndexRow { index: TENANTS, sort_key: self.id().into_bytes() }]
    }
}

/// Whether a member is a person or a machine.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MemberKind {
    /// A person.
    Person,
    /// A machine.
    Machine,
}

/// A person or a machine, as it stands now.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct PrincipalRecord {
    pub(crate) id: PrincipalId,
    pub(crate) kind: MemberKind,
    pub(crate) display: Option<String>,
    pub(crate) role: Role,
    pub(crate) created_at: Timestamp,
    pub(crate) disabled_at: Option<Timestamp>,
    /// Sessions of an earlier epoch are worth nothing: how a person signs out everywhere.
    #[serde(default)]
    pub(crate) session_epoch: u64,
}

impl PrincipalRecord {
    /// Brings what a credential said of its holder up to this record; nothing if the holder may no longer act.
    pub(crate) fn refresh(&self, principal: &mut Principal) -> Option<()> {
        if self.disabled_at.is_some() {
            return None;
        }
        principal.role = self.role;
        principal.display.clone_from(&self.display);
        Some(())
    }
}

impl Document for PrincipalRecord {
    const KIND: RecordKind = PRINCIPAL;

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn index(&self) -> Vec<IndexRow> {
        vec![IndexRow { index: PRINCIPALS, sort_key: self.id().into_bytes() }]
    }
}

/// A bearer token or a session, under the token's digest (system tenant).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct CredentialRecord {
    pub(crate) digest: handoff_protocol::digest::Digest,
    pub(crate) tenant: OrgId,
    /// Whose it is; none for an anonymous link.
    pub(crate) holder: Option<PrincipalId>,
    pub(crate) strength: AuthStrength,
    pub(crate) scopes: Scopes,
    /// The role of an anonymous link, which has no record of its own.
    pub(crate) link_role: Role,
    /// The name of an anonymous link.
    #[serde(default)]
    pub(crate) link_display: Option<String>,
    pub(crate) on_behalf_of: Option<PrincipalId>,
    /// Whether it is for trying things out.
    #[serde(default)]
    pub(crate) test: bool,
    /// Whether a deployment brought it along.
    #[serde(default)]
    pub(crate) loaded: bool,
    /// When a session began, which is when its person presented a credential (rule A-5); none for a bearer token, which
    /// is presented anew with each call.
    #[serde(default)]
    pub(crate) presented_at: Option<Timestamp>,
    /// The epoch of its holder's sessions in which a session began.
    #[serde(default)]
    pub(crate) session_epoch: u64,
    pub(crate) created_at: Timestamp,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) revoked_at: Option<Timestamp>,
}

impl Document for CredentialRecord {
    const KIND: RecordKind = CREDENTIAL;

    fn id(&self) -> String {
        self.digest.hex()
    }

    fn index(&self) -> Vec<IndexRow> {
        if self.presented_at.is_some() {
            // Sessions lapse by themselves, and nobody looks through them.
            return Vec::new();
        }
        let sort_key = [credentials_of(self.tenant), self.id().into_bytes()].concat();
        let mut rows = vec![IndexRow { index: CREDENTIALS, sort_key: sort_key.clone() }];
        if self.loaded && self.revoked_at.is_none() {
            rows.push(IndexRow { index: LOADED, sort_key });
        }
        rows
    }
}

/// What the rows of a tenant's tokens begin with.
pub(super) fn credentials_of(tenant: OrgId) -> Vec<u8> {
    format!("{tenant}/").into_bytes()
}

/// A one-time link, under its token's digest (system tenant).
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct LinkRecord {
    pub(crate) digest: handoff_protocol::digest::Digest,
    pub(crate) tenant: OrgId,
    pub(crate) person: PrincipalId,
    /// Where the person goes after entering.
    pub(crate) request_id: Option<RequestId>,
    pub(crate) created_at: Timestamp,
    pub(crate) expires_at: Timestamp,
    pub(crate) used_at: Option<Timestamp>,
}

impl Document for LinkRecord {
    const KIND: RecordKind = LINK;

    fn id(&self) -> String {
        self.digest.hex()
    }

    fn index(&self) -> Vec<IndexRow> {
        Vec::new()
    }
}

/// A published key.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SigningKeyStatus {
    /// The key as it is published; retired keys stay published.
    pub jwk: Jwk,
    /// When it was first published.
    pub created_at: Timestamp,
}

impl Document for SigningKeyStatus {
    const KIND: RecordKind = SIGNING_KEY;

    fn id(&self) -> String {
        self.jwk.kid.clone().unwrap_or_default()
    }

    fn index(&self) -> Vec<IndexRow> {
        vec![IndexRow { index: SIGNING_KEYS, sort_key: self.id().into_bytes() }]
    }
}

#[cfg(test)]
mod tests {
    use handoff_protocol::json::{from_json, read_str};

    use super::*;

    #[test]
    fn a_session_that_was_kept_without_its_moment_reads_as_one_without() {
        let kept = format!(
            r#"{{"digest":"{}","tenant":"org_01K3M7QW8ZC4YRXB2N6VD9FTHE","holder":null,"strength":"session","scopes":["*"],
                "link_role":"viewer","on_behalf_of":null,"created_at":"2026-01-01T00:00:00Z","expires_at":null,"revoked_at":null}}"#,
            handoff_protocol::digest::Digest::zero()
        );
        let record: CredentialRecord = from_json(read_str(&kept).unwrap()).unwrap();
        assert_eq!((record.presented_at, record.test), (None, false));
    }
}
