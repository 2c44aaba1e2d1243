//! Walking over a chain of receipts, offline, and saying what is wrong with it and where.

use std::collections::BTreeMap;

use thiserror::Error;

use super::{CHAIN_MEMBER, Head, Link, core_hash, link_digest};
use crate::digest::Digest;
use crate::json::{Json, NotCanonical};

/// Checks the receipts of one chain in order, and collects what is wrong.
///
/// The verifier goes on after a fault, from what the faulty receipt records, so one altered receipt is one finding and
/// not a finding for each receipt behind it. Without an anchor it cannot show that the tail was cut off (E-11): tell it
/// what is known of the chain from elsewhere with [`expect_head`](Self::expect_head).
///
/// ```
/// use handoff_protocol::chain::{ChainVerifier, Head};
/// use handoff_protocol::json::Json;
///
/// let mut receipt = Json::object([("kind", "decision".into())]);
/// let link = Head::GENESIS.append(&receipt)?;
/// if let Some(members) = receipt.as_object_mut() {
///     members.insert("chain", link.to_json());
/// }
///
/// let mut verifier = ChainVerifier::from_genesis();
/// verifier.expect_head(Head { height: 2, ..link.head() });
/// verifier.check(&receipt);
/// let report = verifier.finish();
/// assert_eq!(report.findings.len(), 1, "the anchor knows of a second receipt");
/// # Ok::<(), handoff_protocol::json::NotCanonical>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChainVerifier {
    position: u64,
    next_height: Option<u64>,
    previous: Option<Digest>,
    tenant: Option<Option<String>>,
    anchors: BTreeMap<u64, Digest>,
    head: Option<Head>,
    findings: Vec<ChainFinding>,
}

/// One thing that is wrong with a chain, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChainFinding {
    /// The place of the receipt among those checked, from 1; nothing if the finding is about the chain as a whole.
    pub position: Option<u64>,
    /// The height that the receipt records, or that an anchor expects.
    pub height: Option<u64>,
    /// What is wrong.
    pub fault: ChainFault,
}

/// What can be wrong with a receipt in its chain.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ChainFault {
    /// The content, the height or the previous digest is not what was sealed.
    #[error("the receipt does not have the digest that it records: it was altered after it was sealed")]
    DigestMismatch {
        /// The digest in the receipt.
        recorded: Digest,
        /// The digest of what the receipt says now.
        computed: Digest,
    },
    /// The receipt does not follow the one before it.
    #[error("the receipt does not build on the one before it")]
    BrokenLink {
        /// The digest of the receipt before.
        expected: Digest,
        /// The previous digest in this receipt.
        recorded: Digest,
    },
    /// A receipt is missing, repeated or out of order.
    #[error("the receipt stands at height {recorded} where height {expected} is due")]
    HeightGap {
        /// The height that follows the receipt before.
        expected: u64,
        /// The height in this receipt.
        recorded: u64,
    },
    /// The receipt cannot have a digest at all; whoever wrote it broke the rules, which is no sign of tampering (N-6).
    #[error("the receipt does not conform, so its digest cannot be computed: {0}")]
    NonConforming(#[source] NotCanonical),
    /// The receipt is not sealed.
    #[error("the receipt has no `chain` member")]
    MissingChain,
    /// The `chain` member is no link.
    #[error("the `chain` member of the receipt is malformed")]
    MalformedChain,
    /// The receipt is no JSON object.
    #[error("the receipt is not an object")]
    NotAReceipt,
    /// The receipt belongs to another tenant than the first one.
    #[error("the receipt names another `org_id` than the first one of the chain")]
    OtherTenant,
    /// The chain ends before a height that is known to have existed.
    #[error("the chain ends at height {found}, but height {expected} is known to exist: its tail is missing")]
    Truncated {
        /// The height of the anchor.
        expected: u64,
        /// The height that the chain ends at.
        found: u64,
    },
    /// The chain is not the one that was anchored.
    #[error("the chain has another digest here than the one that was recorded elsewhere: it was rewritten")]
    Diverged {
        /// The digest of the anchor.
        expected: Digest,
        /// The digest in the chain.
        found: Digest,
    },
    /// The walk began above an anchor and says nothing about it.
    #[error("the walk did not reach the height that was recorded elsewhere")]
    AnchorNotReached,
}

/// What a walk over a chain found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChainReport {
    /// How many receipts were checked.
    pub receipts: u64,
    /// The last link seen, or where the walk began; nothing if it began anywhere and no receipt was sealed.
    pub head: Option<Head>,
    /// Everything that is wrong, in the order of the walk.
    pub findings: Vec<ChainFinding>,
}

impl ChainReport {
    /// Tells whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

impl ChainVerifier {
    /// Begins at the first receipt of a chain (E-7).
    #[must_use]
    pub fn from_genesis() -> Self {
        Self::after(Head::GENESIS)
    }

    /// Begins behind a head that was verified before.
    #[must_use]
    pub fn after(head: Head) -> Self {
        Self {
            position: 0,
            next_height: Some(head.height.saturating_add(1)),
            previous: Some(head.digest),
            tenant: None,
            anchors: BTreeMap::new(),
            head: Some(head),
            findings: Vec::new(),
        }
    }

    /// Begins in the middle: the first receipt's own height and previous digest are taken as they are.
    #[must_use]
    pub fn from_anywhere() -> Self {
        Self { next_height: None, previous: None, head: None, ..Self::from_genesis() }
    }

    /// Adds an anchor: a head of this chain that is known from elsewhere.
    ///
    /// Call it before the walk reaches that height. Two anchors that contradict each other are a finding at once.
    pub fn expect_head(&mut self, anchor: Head) {
        let Head { height, digest } = anchor;
        match (self.head.filter(|head| head.height == height), self.anchors.get(&height)) {
            (Some(head), _) if head.digest != digest => self.diverged(None, anchor, head.digest),
            (None, Some(other)) if *other != digest => {
                let other = *other;
                self.diverged(None, anchor, other);
            }
            (Some(_), _) => {}
            (None, _) => {
                self.anchors.insert(height, digest);
            }
        }
    }

    /// Checks the next receipt, with its `chain` member.
    pub fn check(&mut self, receipt: &Json) {
        self.check_hashed(receipt, core_hash(receipt));
    }

    /// Checks the next receipt by the hash of its content, and tells whether it has the digest that it records.
    pub(crate) fn check_hashed(&mut self, receipt: &Json, core: Result<Digest, NotCanonical>) -> bool {
        self.position = self.position.saturating_add(1);
        match read_link(receipt) {
            Ok(link) => {
                self.check_tenant(receipt, link.height);
                self.check_place(link);
                let computed = self.check_digest(core, link);
                let digest = computed.unwrap_or(link.digest);
                self.check_anchor(Head { height: link.height, digest });
                self.next_height = Some(link.height.saturating_add(1));
                self.previous = Some(link.digest);
                self.head = Some(link.head());
                computed == Some(link.digest)
            }
            Err(fault) => {
                self.find(None, fault);
                // One receipt stands here, whatever it is; what follows can no longer be compared with it.
                self.next_height = self.next_height.map(|height| height.saturating_add(1));
                self.previous = None;
                false
            }
        }
    }

    /// Takes what was found since the last time.
    pub(crate) fn take_findings(&mut self) -> Vec<ChainFinding> {
        std::mem::take(&mut self.findings)
    }

    /// Ends the walk and compares its end with the anchors that were not reached.
    #[must_use]
    pub fn finish(mut self) -> ChainReport {
        let found = self.head.map_or(0, |head| head.height);
        for (height, _) in std::mem::take(&mut self.anchors) {
            let fault = if height > found {
                ChainFault::Truncated { expected: height, found }
            } else {
                ChainFault::AnchorNotReached
            };
            self.findings.push(ChainFinding { position: None, height: Some(height), fault });
        }
        ChainReport { receipts: self.position, head: self.head, findings: self.findings }
    }

    fn check_tenant(&mut self, receipt: &Json, height: u64) {
        let tenant = receipt.get("org_id").and_then(Json::as_str);
        match &self.tenant {
            None => self.tenant = Some(tenant.map(str::to_owned)),
            Some(first) if first.as_deref() != tenant => self.find(Some(height), ChainFault::OtherTenant),
            Some(_) => {}
        }
    }

    fn check_place(&mut self, link: Link) {
        if let Some(expected) = self.next_height.filter(|expected| *expected != link.height) {
            self.find(Some(link.height), ChainFault::HeightGap { expected, recorded: link.height });
        }
        if let Some(expected) = self.previous.filter(|expected| *expected != link.prev_digest) {
            self.find(Some(link.height), ChainFault::BrokenLink { expected, recorded: link.prev_digest });
        }
    }

    /// Gives the digest of what the receipt says, if it has one.
    fn check_digest(&mut self, core: Result<Digest, NotCanonical>, link: Link) -> Option<Digest> {
        match core.map(|core| link_digest(link.height, link.prev_digest, core)) {
            Ok(computed) => {
                if computed != link.digest {
                    self.find(Some(link.height), ChainFault::DigestMismatch { recorded: link.digest, computed });
                }
                Some(computed)
            }
            Err(fault) => {
                self.find(Some(link.height), ChainFault::NonConforming(fault));
                None
            }
        }
    }

    fn check_anchor(&mut self, reached: Head) {
        if let Some(digest) = self.anchors.remove(&reached.height).filter(|digest| *digest != reached.digest) {
            self.diverged(Some(self.position), Head { height: reached.height, digest }, reached.digest);
        }
    }

    fn find(&mut self, height: Option<u64>, fault: ChainFault) {
        self.findings.push(ChainFinding { position: Some(self.position), height, fault });
    }

    fn diverged(&mut self, position: Option<u64>, anchor: Head, found: Digest) {
        let fault = ChainFault::Diverged { expected: anchor.digest, found };
        self.findings.push(ChainFinding { position, height: Some(anchor.height), fault });
    }
}

/// Checks one receipt alone, from the height and the previous digest that it records itself (E-6).
///
/// # Errors
///
/// Any [`ChainFault`] that a single receipt can have.
pub fn verify_alone(receipt: &Json) -> Result<Link, ChainFault> {
    let link = read_link(receipt)?;
    match compute(receipt, link)? {
        computed if computed == link.digest => Ok(link),
        computed => Err(ChainFault::DigestMismatch { recorded: link.digest, computed }),
    }
}

fn read_link(receipt: &Json) -> Result<Link, ChainFault> {
    let members = receipt.as_object().ok_or(ChainFault::NotAReceipt)?;
    let chain = members.get(CHAIN_MEMBER).ok_or(ChainFault::MissingChain)?;
    Link::from_json(chain).ok_or(ChainFault::MalformedChain)
}

fn compute(receipt: &Json, link: Link) -> Result<Digest, ChainFault> {
    let core_hash = core_hash(receipt).map_err(ChainFault::NonConforming)?;
    Ok(link_digest(link.height, link.prev_digest, core_hash))
}

#[cfg(test)]
mod tests;
