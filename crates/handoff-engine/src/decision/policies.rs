//! What holds for a tenant when a transition runs: the deployment's choices, the tenant's policy, its people.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
};

use handoff_protocol::{
    decision::{
        DecisionError, Policy,
        channels::Addressing,
        directory::Directory as People,
        tenant_policy::{TenantPolicy, VersionedPolicy},
    },
    digest::Digest,
    id::{OrgId, PrincipalId, TenantId},
    json::{DecodeError, Json},
    principal::Role,
    timestamp::Timestamp,
};
use serde::{Deserialize, Serialize};

use super::{apply::Writes, internal, keys};
use crate::{
    document::Document,
    engine::Engine,
    store::{IndexRow, Reads, RecordKey, RecordKind},
    transaction::{Halt, Outcome},
};

/// A policy could not be put in force.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// It is refused, as a whole.
    #[error("the policy is refused: {0}")]
    Refused(#[from] DecodeError),
    /// It could not be kept.
    #[error("the policy could not be kept")]
    Store(#[source] DecisionError),
}

/// One version of a tenant's policy, kept so that what a request was raised under can be looked up.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct PolicyRecord {
    version: u64,
    digest: Digest,
    loaded_at: Timestamp,
    document: Json,
}

/// The latest version.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct PolicyHead {
    version: u64,
    digest: Digest,
}

/// The id of the one head.
const HEAD: &str = "head";

impl Document for PolicyRecord {
    const KIND: RecordKind = keys::POLICY;

    fn id(&self) -> String {
        self.version.to_string()
    }

    fn index(&self) -> Vec<IndexRow> {
        Vec::new()
    }
}

impl Document for PolicyHead {
    const KIND: RecordKind = keys::POLICY_HEAD;

    fn id(&self) -> String {
        HEAD.to_owned()
    }

    fn index(&self) -> Vec<IndexRow> {
        Vec::new()
    }
}

impl Engine {
    /// Puts a policy document of a tenant in force at this engine, for raises from now on. One that differs from the last
    /// is kept under the next number, which is the answer; the same again keeps its number.
    ///
    /// # Errors
    ///
    /// [`PolicyError`]: a document that is not understood, or not carried out here, as a whole is refused as a whole,
    /// and what was in force stays.
    pub async fn load_policy(&self, tenant: OrgId, document: Json) -> Result<u64, PolicyError> {
        let policy = TenantPolicy::read(document, tenant)?;
        policy.check(&self.inner.policy)?;
        policy.check_carried_out(&self.inner.policy.callbacks)?;
        let kept = policy.clone();
        let reads = Reads::none().record(RecordKey::new(keys::POLICY_HEAD, HEAD));
        let version = self
            .decide(TenantId::Org(tenant), reads, move |view, moment| {
                let head = view.get::<PolicyHead, _>(HEAD)?;
                if let Some(head) = head.as_ref().filter(|head| head.document.digest == kept.digest()) {
                    return Ok(Outcome::Nothing(head.document.version));
                }
                let version = head.as_ref().map_or(0, |head| head.document.version).saturating_add(1);
                let record = PolicyRecord {
                    version,
                    digest: kept.digest(),
                    loaded_at: moment.now,
                    document: kept.document().clone(),
                };
                let mut writes = Writes::default();
                writes.put(None, &record).map_err(Halt::Broken)?;
                writes.put(head.as_ref(), &PolicyHead { version, digest: kept.digest() }).map_err(Halt::Broken)?;
                Ok(Outcome::Write(writes.finish(&view.mint()), version))
            })
            .await
            .map_err(PolicyError::Store)?;
        let versioned = Arc::new(VersionedPolicy { version, policy });
        self.inner.policies.write().unwrap_or_else(PoisonError::into_inner).insert(tenant, versioned);
        Ok(version)
    }

    /// The people of a tenant, as the directory knows them.
    ///
    /// # Errors
    ///
    /// [`DecisionError::Internal`] if the directory does not answer.
    pub async fn people(&self, tenant: OrgId) -> Result<Arc<People>, DecisionError> {
        match &self.inner.directory {
            None => Ok(Arc::clone(&self.inner.policy.directory)),
            Some(directory) => directory.people(tenant).await.map_err(|error| internal(&error)),
        }
    }

    /// What holds for a tenant. Without directory and policies that is what the deployment chose, and costs nothing.
    pub(crate) async fn policy_for(&self, tenant: TenantId) -> Result<Arc<Policy>, DecisionError> {
        let TenantId::Org(tenant) = tenant else { return Ok(Arc::clone(&self.inner.policy)) };
        let of_tenant = self.policy_in_force(tenant);
        if of_tenant.is_none() && self.inner.directory.is_none() {
            return Ok(Arc::clone(&self.inner.policy));
        }
        let directory = self.people(tenant).await?;
        Ok(Arc::new(Policy { directory, tenant: of_tenant, ..Policy::clone(&self.inner.policy) }))
    }

    fn policy_in_force(&self, tenant: OrgId) -> Option<Arc<VersionedPolicy>> {
        self.inner.policies.read().unwrap_or_else(PoisonError::into_inner).get(&tenant).map(Arc::clone)
    }

    /// What holds for a tenant whose deliveries are claimed: with the roles that people have now, if anybody can be reached
    /// at all.
    pub(crate) async fn policy_for_claims(&self, tenant: TenantId) -> Result<Arc<Policy>, DecisionError> {
        let standing = self.policy_for(tenant).await?;
        let (channels, directory) = (&standing.channels, &standing.directory);
        let reaches =
            channels.names().any(|name| channels.get(name).is_some_and(|facts| facts.addressing == Addressing::Person));
        let TenantId::Org(tenant) = tenant else { return Ok(standing) };
        if !reaches || !directory.has_people() {
            return Ok(standing);
        }
        let members = self.members(tenant).await.map_err(|error| internal(&error))?;
        let active = members.iter().filter(|member| member.disabled_at.is_none());
        let roles: HashMap<PrincipalId, Role> = active.map(|member| (member.id, member.role)).collect();
        let mut directory = People::clone(directory);
        directory.set_roles(|person| roles.get(&PrincipalId::User(person)).copied());
        Ok(Arc::new(Policy { directory: Arc::new(directory), ..Policy::clone(&standing) }))
    }
}
