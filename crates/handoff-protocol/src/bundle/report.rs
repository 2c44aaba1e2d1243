//! What a verification of a bundle finds.

use crate::{
    chain::{ChainFault, Head},
    id::OrgId,
};

/// What a verification found.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct BundleReport {
    /// The tenant.
    pub org_id: OrgId,
    /// How many receipts were checked.
    pub receipts: u64,
    /// How many of them are what was signed: they have the digest that they record, and a signature over it that is valid
    /// under a trusted key.
    pub signed: u64,
    /// The head that the receipts come to.
    pub head: Option<Head>,
    /// Everything that is wrong.
    pub findings: Vec<Finding>,
    /// Receipts that are whole and still leave a question, which only whoever runs the server can answer: no fault of the
    /// chain, so they do not make a bundle unsound.
    pub doubts: Vec<Finding>,
    /// What this verification cannot show.
    pub limits: Vec<&'static str>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The height at which it is wrong, where it concerns one receipt.
    pub height: Option<u64>,
    /// The receipt's id, as it stands in the bundle.
    pub receipt_id: Option<String>,
    /// What kind of fault.
    pub kind: FindingKind,
    /// The fault in words.
    pub message: String,
}

/// The kinds of faults, each its own.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum FindingKind {
    /// A receipt does not have the digest that it records.
    Digest,
    /// A receipt does not build on the one before it.
    Link,
    /// A receipt is missing, repeated or out of order.
    Height,
    /// A signature is not valid for its receipt.
    Signature,
    /// A signature names a key that is not trusted here.
    UnknownKey,
    /// A receipt has no signature although others have, or although keys were brought to check signatures with.
    Unsigned,
    /// A receipt cannot be digested, which is no sign of tampering.
    NonConforming,
    /// The chain is not the one that was known.
    Head,
    /// A receipt belongs to another tenant.
    Tenant,
    /// A published key cannot be used.
    Keys,
    /// A receipt was signed after its key was retired, which is a doubt and no fault: a server that still runs with the
    /// key may have done it, or whoever else has the key.
    RetiredKey,
    /// Something else in the bundle was changed after it was written.
    Bundle,
}

impl FindingKind {
    /// A word for reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Digest => "digest",
            Self::Link => "link",
            Self::Height => "height",
            Self::Signature => "signature",
            Self::UnknownKey => "unknown-key",
            Self::Unsigned => "unsigned",
            Self::NonConforming => "non-conforming",
            Self::Head => "head",
            Self::Tenant => "tenant",
            Self::Keys => "keys",
            Self::RetiredKey => "retired-key",
            Self::Bundle => "bundle",
        }
    }
}

impl BundleReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    /// A report on which nothing stands yet.
    pub(crate) fn begin(org_id: OrgId) -> Self {
        Self {
            org_id,
            receipts: 0,
            signed: 0,
            head: None,
            findings: Vec::new(),
            doubts: Vec::new(),
            limits: Vec::new(),
        }
    }

    pub(crate) fn find(
        &mut self,
        height: Option<u64>,
        receipt_id: Option<String>,
        kind: FindingKind,
        message: impl Into<String>,
    ) {
        self.findings.push(Finding { height, receipt_id, kind, message: message.into() });
    }
}

impl From<&ChainFault> for FindingKind {
    fn from(fault: &ChainFault) -> Self {
        match fault {
            ChainFault::DigestMismatch { .. } => Self::Digest,
            ChainFault::BrokenLink { .. } => Self::Link,
            ChainFault::HeightGap { .. } => Self::Height,
            ChainFault::NonConforming(_) => Self::NonConforming,
            ChainFault::MissingChain | ChainFault::MalformedChain | ChainFault::NotAReceipt => Self::Digest,
            ChainFault::OtherTenant => Self::Tenant,
            ChainFault::Truncated { .. } | ChainFault::Diverged { .. } | ChainFault::AnchorNotReached => Self::Head,
        }
    }
}
