//! The directory port: who the people of a tenant are, and how they are reached.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use handoff_protocol::{decision::directory::Directory as People, id::OrgId};

/// Knows people. The engine asks before a transaction and hands what it got to the rules.
#[async_trait]
pub trait Directory: Send + Sync + 'static {
    /// The people of a tenant as they are now; an empty directory for a tenant that it knows nothing of. Roles are the
    /// engine's to add.
    ///
    /// # Errors
    ///
    /// [`DirectoryError`] if it cannot tell. Whatever needed to know is repeated later.
    async fn people(&self, tenant: OrgId) -> Result<Arc<People>, DirectoryError>;
}

/// The directory does not answer; the text is for the log.
#[derive(Debug, thiserror::Error)]
#[error("the directory does not answer: {0}")]
pub struct DirectoryError(pub String);

/// A directory that is known from the start, from configuration for example.
#[derive(Clone, Debug, Default)]
pub struct FixedDirectory(HashMap<OrgId, Arc<People>>);

impl FixedDirectory {
    /// Adds the people of a tenant.
    #[must_use]
    pub fn with(mut self, tenant: OrgId, people: People) -> Self {
        self.0.insert(tenant, Arc::new(people));
        self
    }
}

#[async_trait]
impl Directory for FixedDirectory {
    async fn people(&self, tenant: OrgId) -> Result<Arc<People>, DirectoryError> {
        Ok(self.0.get(&tenant).map(Arc::clone).unwrap_or_default())
    }
}
