//! Whether a tenant's receipts are what was sealed: their chain, their signatures, and the store's own columns.

use std::fmt;

use handoff_engine::{
    Engine, IdentityError,
    decision::RECEIPTS,
    store::{ChainEntry, HeightRange, StoreError},
};
use handoff_protocol::{
    chain::{ChainVerifier, Head, Link},
    id::{OrgId, TenantId},
    json::{Json, from_json, read_str},
    signature::{KeyError, KeySet, ReceiptSignature},
};

/// How many receipts one read brings.
const PAGE: usize = 500;

/// What was found of a tenant's receipts.
///
/// Its text is one line: `<tenant> OK count=<n> head=<digest> height=<n>` or `<tenant> BROKEN <reason>`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub struct ChainReport {
    /// The tenant.
    pub tenant: OrgId,
    /// How many receipts there are.
    pub count: u64,
    /// What they come to.
    pub head: Head,
    /// Everything that is wrong, in words.
    pub faults: Vec<String>,
}

impl ChainReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }
}

impl fmt::Display for ChainReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tenant, count, head, faults } = self;
        match faults.split_first() {
            None => write!(formatter, "{tenant} OK count={count} head={} height={}", head.digest, head.height),
            Some((first, [])) => write!(formatter, "{tenant} BROKEN {first}"),
            Some((first, more)) => write!(formatter, "{tenant} BROKEN {first} (and {} more)", more.len()),
        }
    }
}

/// Walks over a tenant's receipts (rules E-6, E-7, E-13).
///
/// Without a head recorded elsewhere it cannot show that receipts are missing from the end (rule E-11). Receipts that are
/// sealed while it walks may or may not be looked at.
///
/// # Errors
///
/// If the store cannot be read; what is read and is not as it must be is a fault in the report.
pub async fn check(engine: &Engine, tenant: OrgId) -> Result<ChainReport, IdentityError> {
    let store = engine.store();
    let keys = KeySet::from_jwks(&engine.key_set().await?);
    let mut walk = Walk::new(tenant, keys);
    let head = match store.chain_head(&TenantId::Org(tenant), &RECEIPTS).await {
        Ok(head) => head,
        Err(StoreError::Corrupt(reason)) => return Ok(walk.unreadable(&reason)),
        Err(error) => return Err(error.into()),
    };
    if let Some(head) = head {
        walk.verifier.expect_head(Head { height: head.height, digest: head.digest });
    }
    let mut from = 1;
    loop {
        let range = HeightRange { from, limit: PAGE };
        let entries = match store.read_chain(&TenantId::Org(tenant), &RECEIPTS, range).await {
            Ok(entries) => entries,
            Err(StoreError::Corrupt(reason)) => return Ok(walk.unreadable(&reason)),
            Err(error) => return Err(error.into()),
        };
        for entry in &entries {
            walk.take(entry);
            from = entry.height.saturating_add(1);
        }
        if entries.len() < PAGE {
            return Ok(walk.finish());
        }
    }
}

/// A walk in progress.
struct Walk {
    tenant: OrgId,
    keys: Result<KeySet, KeyError>,
    verifier: ChainVerifier,
    any_signed: bool,
    first_unsigned: Option<u64>,
    // By height, so that they can be told in the order of the chain.
    faults: Vec<(u64, String)>,
}

impl Walk {
    fn new(tenant: OrgId, keys: Result<KeySet, KeyError>) -> Self {
        Self {
            tenant,
            keys,
            verifier: ChainVerifier::from_genesis(),
            any_signed: false,
            first_unsigned: None,
            faults: Vec::new(),
        }
    }

    fn take(&mut self, entry: &ChainEntry) {
        let height = entry.height;
        // What is no JSON is no receipt either, and the verifier says so by its place.
        let receipt = entry.body.as_deref().map(read_str);
        match receipt {
            Some(Ok(receipt)) => {
                self.verifier.check(&receipt);
                self.compare(entry, &receipt);
            }
            Some(Err(error)) => {
                self.fault(height, format_args!("the receipt cannot be read: {error}"));
                self.verifier.check(&Json::Null);
            }
            None => {
                self.fault(height, format_args!("the receipt's body is gone"));
                self.verifier.check(&Json::Null);
            }
        }
        self.check_signature(entry);
    }

    /// The columns that the store keeps beside a body must say what the body says.
    fn compare(&mut self, entry: &ChainEntry, receipt: &Json) {
        let stored = Link { height: entry.height, prev_digest: entry.previous, digest: entry.digest };
        let sealed = receipt.get("chain").and_then(Link::from_json);
        if sealed.is_some_and(|sealed| sealed != stored) {
            self.fault(entry.height, format_args!("the entry beside the receipt differs from the receipt's own link"));
        }
        if receipt.get("org_id").and_then(Json::as_str) != Some(self.tenant.to_string().as_str()) {
            self.fault(entry.height, format_args!("the receipt belongs to another tenant"));
        }
    }

    fn check_signature(&mut self, entry: &ChainEntry) {
        let Some(text) = entry.attestation.as_deref() else {
            self.first_unsigned.get_or_insert(entry.height);
            return;
        };
        self.any_signed = true;
        let signature = read_str(text).ok().and_then(|json| from_json::<ReceiptSignature>(json).ok());
        let Some(signature) = signature else {
            self.fault(entry.height, format_args!("the signature cannot be read"));
            return;
        };
        let outcome = match &self.keys {
            Ok(keys) => keys.verify(&entry.digest, &signature).err().map(|error| error.to_string()),
            Err(error) => Some(format!("the published keys cannot be used: {error}")),
        };
        if let Some(reason) = outcome {
            self.fault(entry.height, format_args!("{reason}"));
        }
    }

    fn fault(&mut self, height: u64, reason: fmt::Arguments<'_>) {
        self.faults.push((height, format!("at height {height}: {reason}")));
    }

    /// Ends a walk at something that the store itself cannot read.
    fn unreadable(mut self, reason: &str) -> ChainReport {
        self.faults.push((0, format!("the store cannot read the chain: {reason}")));
        self.finish()
    }

    fn finish(mut self) -> ChainReport {
        if let Some(height) = self.first_unsigned.filter(|_| self.any_signed) {
            self.fault(height, format_args!("the receipt has no signature although others have"));
        }
        let report = self.verifier.finish();
        for finding in report.findings {
            match finding.height.or(finding.position) {
                Some(height) => self.faults.push((height, format!("at height {height}: {}", finding.fault))),
                None => self.faults.push((u64::MAX, finding.fault.to_string())),
            }
        }
        // At one height our own words come first: they say why, where the verifier can only say that.
        self.faults.sort_by_key(|(height, _)| *height);
        ChainReport {
            tenant: self.tenant,
            count: report.receipts,
            head: report.head.unwrap_or(Head::GENESIS),
            faults: self.faults.into_iter().map(|(_, words)| words).collect(),
        }
    }
}
