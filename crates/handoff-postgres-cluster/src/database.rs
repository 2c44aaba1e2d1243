//! A fresh database, and the roles that come into it.

use crate::{
    cluster::{Cluster, Shell},
    error::ClusterError,
};

/// The role that owns the databases, as whoever migrates does in production. No superuser.
pub const OWNER: &str = "handoff_owner";

/// A role for a service that does not own its tables. No superuser either.
pub const SERVICE: &str = "handoff_service";

/// A database that nobody else uses. It goes with its cluster.
#[derive(Clone, Debug)]
pub struct Database {
    name: String,
    owner_url: String,
    service_url: String,
    admin_url: String,
    shell: Shell,
}

/// Makes the roles of a cluster that was started just now.
pub(crate) fn make_roles(cluster: &Cluster) -> Result<(), ClusterError> {
    let sql = format!(
        "CREATE ROLE {OWNER} LOGIN NOSUPERUSER NOBYPASSRLS; CREATE ROLE {SERVICE} LOGIN NOSUPERUSER NOBYPASSRLS"
    );
    cluster.shell().run(&cluster.address(), &sql).map(drop)
}

impl Database {
    pub(crate) fn make(cluster: &Cluster, name: &str) -> Result<Self, ClusterError> {
        let shell = cluster.shell();
        shell.run(&cluster.address(), &format!("CREATE DATABASE {name} OWNER {OWNER}"))?;
        Ok(Self {
            name: name.to_owned(),
            owner_url: cluster.url(OWNER, name),
            service_url: cluster.url(SERVICE, name),
            admin_url: cluster.in_database(name),
            shell,
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its owner comes in, who is no superuser.
    #[must_use]
    pub fn owner_url(&self) -> &str {
        &self.owner_url
    }

    /// Where a service comes in that owns nothing. What it may do is granted by the owner.
    #[must_use]
    pub fn service_url(&self) -> &str {
        &self.service_url
    }

    /// Where the superuser comes in, whom no policy binds.
    #[must_use]
    pub fn admin_url(&self) -> &str {
        &self.admin_url
    }

    /// Runs SQL in a shell, as the owner; answers what was printed.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Failed`] with what the server said.
    pub fn run(&self, sql: &str) -> Result<String, ClusterError> {
        self.run_at(&self.owner_url, sql)
    }

    /// The same, as whoever comes in at an address.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Failed`] with what the server said.
    pub fn run_at(&self, url: &str, sql: &str) -> Result<String, ClusterError> {
        self.shell.run(url, sql)
    }
}
