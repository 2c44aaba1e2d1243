//! Whether everything that a store keeps of each tenant is as the rules allow.

use std::fmt;

use handoff_engine::{
    decision::RECEIPTS,
    fsck::{self, Finding, Trust},
    store::{Inspect, Snapshot, StoreError},
};
use handoff_protocol::id::{OrgId, TenantId};

/// What was found of a tenant.
///
/// Its text is one line that says what was looked at, `<tenant> OK records=<n> …` or `<tenant> BROKEN findings=<n>
/// records=<n> …`, and behind it one for each finding, which begins with two blanks. It holds ids, names of records and rules,
/// and no value.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub struct TenantReport {
    /// The tenant.
    pub tenant: TenantId,
    /// How many there are of what was looked at, by name.
    pub looked_at: Vec<(&'static str, usize)>,
    /// What is wrong, in an order that is the same each time.
    pub findings: Vec<Finding>,
}

impl TenantReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

impl fmt::Display for TenantReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tenant, looked_at, findings } = self;
        match findings.len() {
            0 => write!(formatter, "{tenant} OK")?,
            count => write!(formatter, "{tenant} BROKEN findings={count}")?,
        }
        for (name, count) in looked_at {
            write!(formatter, " {name}={count}")?;
        }
        // A damaged store can hold anything where an id should be, and this goes to a terminal.
        let printable = |finding: &Finding| finding.to_string().replace(char::is_control, "\u{fffd}");
        findings.iter().try_for_each(|finding| write!(formatter, "\n  {}", printable(finding)))
    }
}

/// A check of a store, a tenant at a time: what is held in memory is everything of one tenant.
pub struct Fsck<'s> {
    store: &'s dyn Inspect,
    trust: Trust,
    tenants: Vec<TenantId>,
}

impl<'s> Fsck<'s> {
    /// Reads which tenants there are, and which keys signatures are judged by.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub async fn begin(store: &'s dyn Inspect) -> Result<Self, StoreError> {
        let mut tenants = store.tenants().await?;
        let mut trust = Trust::default();
        match store.snapshot(&TenantId::System).await {
            Ok(system) => {
                let keys = fsck::published_keys(&system);
                // A store whose server never signed has none, and nothing that could be judged.
                if !keys.keys.is_empty() {
                    trust = trust.with_keys(&keys);
                }
                // One whose rows are all gone must not go unnoticed.
                tenants.extend(fsck::known_tenants(&system).into_iter().map(TenantId::Org));
            }
            // It is said of that tenant, and signatures are left unjudged.
            Err(StoreError::Corrupt(_)) => {}
            Err(error) => return Err(error),
        }
        tenants.sort();
        tenants.dedup();
        Ok(Self { store, trust, tenants })
    }

    /// Every tenant, the system's own among them.
    #[must_use]
    pub fn tenants(&self) -> &[TenantId] {
        &self.tenants
    }

    /// Looks at one tenant alone from now on; answers whether there is such a tenant.
    pub fn only(&mut self, tenant: OrgId) -> bool {
        self.tenants.retain(|known| *known == TenantId::Org(tenant));
        !self.tenants.is_empty()
    }

    /// Checks everything of a tenant, as one commit left it.
    ///
    /// # Errors
    ///
    /// If the store cannot be read; what is read and is not as it must be is a finding.
    pub async fn check(&self, tenant: TenantId) -> Result<TenantReport, StoreError> {
        let snapshot = match self.store.snapshot(&tenant).await {
            Ok(snapshot) => snapshot,
            Err(StoreError::Corrupt(message)) => {
                let subject = tenant.to_string();
                let finding = Finding { check: "store", rule: "section 4", subject, message };
                return Ok(TenantReport { tenant, looked_at: Vec::new(), findings: vec![finding] });
            }
            Err(error) => return Err(error),
        };
        let findings = fsck::check(&snapshot, &self.trust);
        Ok(TenantReport { tenant, looked_at: looked_at(&snapshot), findings })
    }
}

fn looked_at(snapshot: &Snapshot) -> Vec<(&'static str, usize)> {
    vec![
        ("records", snapshot.records.len()),
        ("index", snapshot.index.len()),
        ("receipts", snapshot.chains.get(&RECEIPTS).map_or(0, Vec::len)),
        ("events", snapshot.events.len()),
        ("timers", snapshot.timers.len()),
    ]
}
