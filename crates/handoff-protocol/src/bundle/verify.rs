//! Verifying a bundle, offline and a receipt at a time: what is held is the text and one receipt.

use std::collections::BTreeMap;

use super::{
    BundleError, FORMAT, Written,
    covered::Covered,
    report::{BundleReport, Finding, FindingKind},
    walk::{Entry, Frame, Known, Walk},
};
use crate::{
    chain::{CHAIN_MEMBER, ChainFault, ChainFinding, ChainVerifier, Head, verify_alone, write_canonical},
    digest::Digest,
    json::{Json, JsonError, TextError, from_json, from_text_seed, read, read_utf8},
    proof,
    signature::{Jwks, KeyError, KeySet, ReceiptSignature, SignatureError},
    timestamp::Timestamp,
};

/// What a verifier knows from elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// The keys to trust; without them those in the bundle are taken.
    pub keys: Option<KeySet>,
    /// Heads of this chain that were recorded elsewhere.
    pub anchors: Vec<Head>,
}

/// Verifies a bundle, or the proof of one receipt (see [`crate::proof`]), offline.
///
/// # Errors
///
/// [`BundleError`] only if this is no bundle at all; whatever is wrong in one is a [`Finding`].
pub fn verify(bytes: &[u8], trust: &Trust) -> Result<BundleReport, BundleError> {
    match read_utf8(bytes).map_err(TextError::from).and_then(|text| from_text_seed(text, Walk(trust))) {
        Ok(report) => Ok(report),
        Err(error) => no_bundle(bytes, trust, error),
    }
}

/// Verifies what is no bundle as a proof, or says why it is neither: first as JSON, then by its format, then by its
/// members.
fn no_bundle(bytes: &[u8], trust: &Trust, error: TextError) -> Result<BundleReport, BundleError> {
    let document = read(bytes)?;
    match document.get("format").and_then(Json::as_str) {
        Some(proof::FORMAT) => return proof::verify(document, trust),
        Some(format) if format != FORMAT => return Err(BundleError::UnknownFormat),
        Some(_) | None => {}
    }
    from_json::<Written>(document)?;
    Err(match error {
        TextError::Read(error) => error.into(),
        TextError::Json(error) => error.into(),
    })
}

/// A verification on its way.
pub(super) struct Verification {
    report: BundleReport,
    org_id: String,
    head: Head,
    keys: KeySet,
    retired: Retirements,
    chain: ChainVerifier,
    /// Nothing once something cannot be digested.
    covered: Option<Covered>,
    must_be_signed: bool,
    /// Receipts without a signature, while it is open whether they should have one.
    unsigned: Vec<Named>,
    canonical: String,
}

/// A receipt, for a finding.
struct Named {
    height: Option<u64>,
    id: Option<String>,
}

/// A receipt whose signature is still to be checked.
struct Signed {
    named: Named,
    digest: Digest,
    signature: ReceiptSignature,
    /// Whether the receipt has the digest that it records.
    whole: bool,
    decided_at: Option<Timestamp>,
}

impl Verification {
    pub(super) fn begin(frame: &Frame, known: &Known, trust: &Trust) -> Self {
        let mut report = BundleReport::begin(known.org_id);
        let keys = match &trust.keys {
            Some(keys) => keys.clone(),
            None => {
                report.limits.push("the keys were taken from the bundle itself: compare them with the published ones");
                KeySet::from_jwks(&known.keys).unwrap_or_else(|error| {
                    report.find(None, None, FindingKind::Keys, key_words(error));
                    KeySet::default()
                })
            }
        };
        let mut chain = ChainVerifier::from_genesis();
        for anchor in &trust.anchors {
            chain.expect_head(*anchor);
        }
        // Where there are keys there are signatures: taking all of them away must not make a rewritten chain look sound.
        let must_be_signed = keys.iter().len() > 0;
        let mut verification = Self {
            report,
            org_id: known.org_id.to_string(),
            head: known.head,
            retired: Retirements::of(&known.keys, trust.keys.as_ref()),
            must_be_signed,
            keys,
            chain,
            covered: Covered::begin(frame.covered()).ok(),
            unsigned: Vec::new(),
            canonical: String::new(),
        };
        verification.take_chain_findings(None);
        verification
    }

    /// Verifies the next receipt.
    pub(super) fn entry(&mut self, entry: &Entry) -> Result<(), JsonError> {
        let signature = entry.signature.as_ref().filter(|signature| !signature.is_null());
        let signature: Option<ReceiptSignature> = signature.map(|json| from_json(json.clone())).transpose()?;
        // One canonical text serves the digest of the receipt and the one over the bundle.
        self.canonical.clear();
        self.canonical.push_str("{\"receipt\":");
        let core = write_canonical(&entry.receipt, &mut self.canonical);
        let mut digestible = core.is_ok();
        if let Some(signature) = &entry.signature {
            self.canonical.push_str(",\"signature\":");
            digestible &= signature.write_canonical(&mut self.canonical).is_ok();
        }
        self.canonical.push('}');
        match &mut self.covered {
            Some(covered) if digestible => covered.entry(&self.canonical),
            covered => *covered = None,
        }
        let whole = self.chain.check_hashed(&entry.receipt, core);
        let id = entry.receipt.get("id").and_then(Json::as_str);
        self.take_chain_findings(id);
        if whole && entry.receipt.get("org_id").and_then(Json::as_str) != Some(self.org_id.as_str()) {
            self.report.find_foreign(Named::of(&entry.receipt));
        }
        self.must_be_signed |= signature.is_some();
        match signature {
            Some(signature) => {
                if let Some(signed) = Signed::of(&entry.receipt, signature, whole) {
                    self.report.judge(signed, &self.keys, &self.retired);
                }
            }
            None if records_digest(&entry.receipt) => self.unsigned.push(Named::of(&entry.receipt)),
            None => {}
        }
        if self.must_be_signed {
            self.find_unsigned();
        }
        Ok(())
    }

    /// Ends behind the last receipt.
    pub(super) fn finish(mut self, digest: Digest, trust: &Trust) -> BundleReport {
        let chain = std::mem::replace(&mut self.chain, ChainVerifier::from_genesis()).finish();
        self.report.receipts = chain.receipts;
        self.report.head = chain.head;
        chain.findings.iter().for_each(|finding| self.find_in_chain(finding, None));
        let mut report = self.report;
        if chain.head != Some(self.head) {
            report.find(None, None, FindingKind::Head, "the receipts do not come to the head that the bundle names");
        }
        if self.covered.map(Covered::finish) != Some(digest) && report.findings.is_empty() {
            report.find(
                None,
                None,
                FindingKind::Bundle,
                "the bundle was changed after it was written, outside its receipts",
            );
        }
        if trust.anchors.is_empty() {
            report.limits.push("without a head recorded elsewhere, receipts missing from the end cannot be seen");
        }
        if !self.must_be_signed && report.receipts > 0 {
            report.limits.push("the receipts carry no signatures: only their chain was checked");
        }
        report.findings.sort_by_key(|finding| (finding.height, finding.kind));
        report
    }

    fn find_unsigned(&mut self) {
        for named in self.unsigned.drain(..) {
            self.report.find_unsigned(named);
        }
    }

    fn take_chain_findings(&mut self, id: Option<&str>) {
        self.chain.take_findings().iter().for_each(|finding| self.find_in_chain(finding, id));
    }

    fn find_in_chain(&mut self, finding: &ChainFinding, id: Option<&str>) {
        // Whose receipts these must be is known here, so the walk's own comparison with the first adds nothing.
        if finding.fault == ChainFault::OtherTenant {
            return;
        }
        let id = id.filter(|_| finding.position.is_some()).map(str::to_owned);
        self.report.find(finding.height, id, FindingKind::from(&finding.fault), finding.fault.to_string());
    }
}

impl BundleReport {
    /// Judges a receipt by its signature; one that was altered is named for that elsewhere, and its signature is judged by
    /// the digest that it records.
    pub(crate) fn check_signature(
        &mut self,
        receipt: &Json,
        signature: Option<&ReceiptSignature>,
        keys: &KeySet,
        retired: &Retirements,
        must_be_signed: bool,
    ) {
        let whole = verify_alone(receipt).is_ok();
        match signature {
            Some(signature) => {
                if let Some(signed) = Signed::of(receipt, signature.clone(), whole) {
                    self.judge(signed, keys, retired);
                }
            }
            None if must_be_signed && records_digest(receipt) => self.find_unsigned(Named::of(receipt)),
            None => {}
        }
    }

    /// Names a receipt that is whole and belongs to another tenant.
    pub(crate) fn check_tenant(&mut self, receipt: &Json) {
        let ours = receipt.get("org_id").and_then(Json::as_str) == Some(self.org_id.to_string().as_str());
        if !ours && verify_alone(receipt).is_ok() {
            self.find_foreign(Named::of(receipt));
        }
    }

    fn judge(&mut self, signed: Signed, keys: &KeySet, retired: &Retirements) {
        let verdict = keys.verify(&signed.digest, &signed.signature);
        let Named { height, id } = signed.named;
        match verdict {
            // A valid signature says nothing of a receipt that no longer has the digest which was signed.
            Ok(_) if signed.whole => {
                self.signed = self.signed.saturating_add(1);
                let retired_at = retired.0.get(&signed.signature.kid).copied();
                if let (Some(retired_at), Some(decided_at)) = (retired_at, signed.decided_at)
                    && retired_at < decided_at
                {
                    self.doubts.push(Finding {
                        height,
                        receipt_id: id,
                        kind: FindingKind::RetiredKey,
                        message: format!("signed after its key was retired, at {retired_at}"),
                    });
                }
            }
            Ok(_) => {}
            Err(error @ SignatureError::UnknownKey) => {
                self.find(height, id, FindingKind::UnknownKey, error.to_string());
            }
            Err(error) => self.find(height, id, FindingKind::Signature, error.to_string()),
        }
    }

    fn find_unsigned(&mut self, named: Named) {
        let message = "this receipt has no signature although it should have one";
        self.find(named.height, named.id, FindingKind::Unsigned, message);
    }

    fn find_foreign(&mut self, named: Named) {
        self.find(named.height, named.id, FindingKind::Tenant, "this receipt belongs to another tenant");
    }
}

impl Named {
    fn of(receipt: &Json) -> Self {
        let height = receipt.get(CHAIN_MEMBER).and_then(|chain| chain.get("height")).and_then(Json::as_i64);
        let id = receipt.get("id").and_then(Json::as_str).map(str::to_owned);
        Self { height: height.and_then(|height| u64::try_from(height).ok()), id }
    }
}

impl Signed {
    /// A receipt with its signature; nothing if it records no digest that could have been signed.
    fn of(receipt: &Json, signature: ReceiptSignature, whole: bool) -> Option<Self> {
        let recorded = receipt.get(CHAIN_MEMBER).and_then(|chain| chain.get("digest")).and_then(Json::as_str)?;
        let decided_at = receipt.get("decided_at").and_then(Json::as_str);
        Some(Self {
            named: Named::of(receipt),
            digest: Digest::parse(recorded).ok()?,
            signature,
            whole,
            decided_at: decided_at.and_then(|text| Timestamp::parse(text).ok()),
        })
    }
}

/// Since when keys no longer sign, by their ids: the earlier time, where the bundle and the trusted keys differ. Keys that
/// were brought may be older than the retirement, and a bundle may be made to keep quiet about it.
pub(crate) struct Retirements(BTreeMap<String, Timestamp>);

impl Retirements {
    pub(crate) fn of(carried: &Jwks, brought: Option<&KeySet>) -> Self {
        let carried = carried.keys.iter().filter_map(|jwk| Some((jwk.kid.clone()?, jwk.retired_at?)));
        let brought = brought.into_iter().flat_map(KeySet::iter);
        let brought = brought.filter_map(|key| Some((key.kid().to_owned(), key.retired_at()?)));
        let mut earliest = BTreeMap::new();
        for (kid, at) in carried.chain(brought) {
            let kept = earliest.entry(kid).or_insert(at);
            *kept = at.min(*kept);
        }
        Self(earliest)
    }
}

/// Whether a receipt records a digest at all: one that does not is named for that alone.
fn records_digest(receipt: &Json) -> bool {
    let recorded = receipt.get(CHAIN_MEMBER).and_then(|chain| chain.get("digest")).and_then(Json::as_str);
    recorded.is_some_and(|text| Digest::parse(text).is_ok())
}

fn key_words(error: KeyError) -> String {
    format!("the keys in the bundle cannot be used: {error}")
}
