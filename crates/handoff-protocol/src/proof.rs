//! The proof of one decision: its receipt as it was sealed, its signature and the published keys, to be checked by
//! anyone, offline.
//!
//! A whole chain shows that nothing was left out; it also shows everybody's decisions to whoever asked for one. A proof
//! shows one receipt and nothing else: that this is what was sealed, at this place of the chain, by the holder of a key.
//! That the place exists in the chain which others see needs a head recorded elsewhere, or the whole chain.
//! [`bundle::verify`](crate::bundle::verify) reads both.

use serde::{Deserialize, Serialize};

use crate::{
    bundle::{BundleError, BundleReport, FindingKind, Retirements, Trust},
    chain::{CHAIN_MEMBER, Link, verify_alone},
    digest::Digest,
    id::OrgId,
    json::{Json, from_json, to_json},
    signature::{Jwks, KeySet, ReceiptSignature},
    timestamp::Timestamp,
};

/// What a proof says that it is.
pub const FORMAT: &str = "handoff-proof/1";

/// One receipt and what proves it.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// The tenant.
    pub org_id: OrgId,
    /// When it was made, by the server's clock.
    pub made_at: Timestamp,
    /// The keys published then, retired ones included.
    pub keys: Jwks,
    /// The receipt, exactly as it was sealed.
    pub receipt: Json,
    /// Its detached signature; none from a server without a signing key.
    pub signature: Option<ReceiptSignature>,
}

/// A proof as written, with a digest over all of it.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: String,
    org_id: OrgId,
    made_at: Timestamp,
    keys: Jwks,
    receipt: Json,
    signature: Option<ReceiptSignature>,
    digest: Digest,
}

impl Proof {
    /// Writes the proof as one JSON document.
    ///
    /// # Errors
    ///
    /// [`BundleError`] if the receipt cannot be digested.
    pub fn to_text(&self) -> Result<String, BundleError> {
        let mut written = Written {
            format: FORMAT.to_owned(),
            org_id: self.org_id,
            made_at: self.made_at,
            keys: self.keys.clone(),
            receipt: self.receipt.clone(),
            signature: self.signature.clone(),
            digest: Digest::zero(),
        };
        written.digest = crate::bundle::digest_of(&to_json(&written)?)?;
        let mut text = to_json(&written)?.to_text();
        text.push('\n');
        Ok(text)
    }
}

/// Verifies a proof that was read as JSON; whatever is wrong in it is a finding.
pub(crate) fn verify(document: Json, trust: &Trust) -> Result<BundleReport, BundleError> {
    let covered = crate::bundle::digest_of(&document);
    let written: Written = from_json(document)?;
    let mut report = BundleReport::begin(written.org_id);
    report.limits.push("this is one receipt: whether others came before or after it cannot be seen");
    let keys = report.trusted_keys(&written.keys, trust);
    let must_be_signed = written.signature.is_some() || keys.iter().len() > 0;
    report.receipts = 1;
    let link = written.receipt.get(CHAIN_MEMBER).and_then(|chain| from_json::<Link>(chain.clone()).ok());
    let height = link.map(|link| link.height);
    if let Err(fault) = verify_alone(&written.receipt) {
        report.find(height, receipt_id(&written.receipt), FindingKind::Digest, fault.to_string());
    }
    if let Some(link) = link {
        report.head = Some(link.head());
        let retired = Retirements::of(&written.keys, trust.keys.as_ref());
        report.check_signature(&written.receipt, written.signature.as_ref(), &keys, &retired, must_be_signed);
        check_anchors(&mut report, link, trust);
    }
    report.check_tenant(&written.receipt);
    if covered.as_ref() != Ok(&written.digest) && report.findings.is_empty() {
        report.find(None, None, FindingKind::Bundle, "the proof was changed after it was written, outside its receipt");
    }
    if !must_be_signed {
        report.limits.push("the receipt carries no signature: only its digest was checked");
    }
    Ok(report)
}

/// Heads recorded elsewhere tell about this receipt where they are of its own height, and about no other.
fn check_anchors(report: &mut BundleReport, link: Link, trust: &Trust) {
    let at_this_height: Vec<&Digest> =
        trust.anchors.iter().filter(|head| head.height == link.height).map(|head| &head.digest).collect();
    if at_this_height.iter().any(|digest| **digest != link.digest) {
        report.find(
            Some(link.height),
            None,
            FindingKind::Head,
            "the chain recorded elsewhere has another receipt here",
        );
    } else if at_this_height.is_empty() {
        report.limits.push("without a head of this height recorded elsewhere, its place in the chain is only claimed");
    }
}

fn receipt_id(receipt: &Json) -> Option<String> {
    receipt.get("id").and_then(Json::as_str).map(str::to_owned)
}

impl BundleReport {
    /// The keys to check with: those brought, or else those in the file, which is said.
    fn trusted_keys(&mut self, carried: &Jwks, trust: &Trust) -> KeySet {
        if let Some(keys) = &trust.keys {
            return keys.clone();
        }
        self.limits.push("the keys were taken from the proof itself: compare them with the published ones");
        KeySet::from_jwks(carried).unwrap_or_else(|error| {
            self.find(None, None, FindingKind::Keys, format!("the keys in the proof cannot be used: {error}"));
            KeySet::default()
        })
    }
}
