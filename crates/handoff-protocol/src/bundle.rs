//! Export bundles: a tenant's receipts with everything that proves them, to be checked by anyone, offline.
//!
//! A bundle is one JSON document: the receipts exactly as they were sealed, their detached signatures, the published
//! keys, the chain's head, and a digest over all of it. [`verify`] names what broke, each kind of fault on its own.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::{
    chain::{ChainFault, ChainVerifier, Head, verify_alone},
    decision::view::ReceiptView,
    digest::Digest,
    id::OrgId,
    json::{Json, JsonError, NotCanonical, ReadError, from_json, read, to_json},
    proof,
    signature::{Jwks, KeyError, KeySet, ReceiptSignature, SignatureError},
    timestamp::Timestamp,
};

/// What a bundle says that it is.
pub const FORMAT: &str = "handoff-export/1";

/// A tenant's receipts and what proves them.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// The tenant.
    pub org_id: OrgId,
    /// When it was made, by the exporting server's clock.
    pub exported_at: Timestamp,
    /// The head of the chain then.
    pub head: Head,
    /// The keys published then, retired ones included.
    pub keys: Jwks,
    /// The receipts, from height 1.
    pub receipts: Vec<BundleReceipt>,
}

/// A receipt and its signature.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BundleReceipt {
    /// The receipt, exactly as it was sealed.
    #[schemars(with = "ReceiptView")]
    pub receipt: Json,
    /// Its detached signature; null from a server without a signing key.
    pub signature: Option<ReceiptSignature>,
}

/// A tenant's receipts and what proves them, as written, with a digest over all of it.
#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Bundle")]
struct Written {
    format: String,
    org_id: OrgId,
    exported_at: Timestamp,
    head: Head,
    keys: Jwks,
    receipts: Vec<BundleReceipt>,
    digest: Digest,
}

/// The schema of what [`Bundle::to_text`] writes.
impl JsonSchema for Bundle {
    fn schema_name() -> Cow<'static, str> {
        Written::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Written::json_schema(generator)
    }
}

/// A bundle could not be written or read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// It is not JSON.
    #[error("this is not a JSON document: {0}")]
    NotJson(#[from] ReadError),
    /// It is JSON and not a bundle.
    #[error("this is not an export bundle of format `{FORMAT}`: {0}")]
    NotABundle(#[from] JsonError),
    /// It is a bundle of a format that is not known here.
    #[error("this bundle has a format that is not known here; this program reads `{FORMAT}`")]
    UnknownFormat,
    /// It holds a number that no digest can cover.
    #[error(transparent)]
    NotCanonical(#[from] NotCanonical),
}

impl Bundle {
    /// Writes the bundle as text, a receipt a line, so that a difference shows where it is.
    ///
    /// # Errors
    ///
    /// [`BundleError`] if a receipt in it cannot be digested.
    pub fn to_text(&self) -> Result<String, BundleError> {
        let mut written = Written {
            format: FORMAT.to_owned(),
            org_id: self.org_id,
            exported_at: self.exported_at,
            head: self.head,
            keys: self.keys.clone(),
            receipts: self.receipts.clone(),
            digest: Digest::zero(),
        };
        written.digest = digest_of(&to_json(&written)?)?;
        let document = to_json(&written)?;
        let mut text = String::from("{\n");
        let members = document.as_object().map(|members| members.iter().collect::<Vec<_>>()).unwrap_or_default();
        for (place, (name, value)) in members.iter().enumerate() {
            Json::from(*name).write_to(&mut text);
            text.push(':');
            match value.as_array() {
                Some(items) if !items.is_empty() => {
                    text.push_str("[\n");
                    for (place, item) in items.iter().enumerate() {
                        item.write_to(&mut text);
                        text.push_str(if place + 1 < items.len() { ",\n" } else { "\n" });
                    }
                    text.push(']');
                }
                _ => value.write_to(&mut text),
            }
            text.push_str(if place + 1 < members.len() { ",\n" } else { "\n" });
        }
        text.push_str("}\n");
        Ok(text)
    }
}

/// The digest over a bundle: its canonical text without the digest itself.
pub(crate) fn digest_of(document: &Json) -> Result<Digest, NotCanonical> {
    let mut covered = document.clone();
    if let Some(members) = covered.as_object_mut() {
        members.remove("digest");
    }
    Digest::of_json(&covered)
}

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
    let document = read(bytes)?;
    match document.get("format").and_then(Json::as_str) {
        Some(proof::FORMAT) => return proof::verify(document, trust),
        Some(format) if format != FORMAT => return Err(BundleError::UnknownFormat),
        Some(_) | None => {}
    }
    let covered = digest_of(&document);
    let written: Written = from_json(document)?;
    let mut report = BundleReport::begin(written.org_id);
    let retired = Retirements::of(&written.keys, trust.keys.as_ref());
    let keys = match &trust.keys {
        Some(keys) => keys.clone(),
        None => {
            report.limits.push("the keys were taken from the bundle itself: compare them with the published ones");
            KeySet::from_jwks(&written.keys).unwrap_or_else(|error| {
                report.find(None, None, FindingKind::Keys, key_words(error));
                KeySet::default()
            })
        }
    };
    let any_signed = written.receipts.iter().any(|entry| entry.signature.is_some());
    // Where there are keys there are signatures: taking all of them away must not make a rewritten chain look sound.
    let must_be_signed = any_signed || keys.iter().len() > 0;
    let mut verifier = ChainVerifier::from_genesis();
    for anchor in &trust.anchors {
        verifier.expect_head(*anchor);
    }
    for entry in &written.receipts {
        verifier.check(&entry.receipt);
        report.check_signature_of(&entry.receipt, entry.signature.as_ref(), &keys, must_be_signed);
        report.check_retirement(&entry.receipt, entry.signature.as_ref(), &keys, &retired);
        report.check_tenant(&entry.receipt);
    }
    let chain = verifier.finish();
    report.receipts = chain.receipts;
    report.head = chain.head;
    // Whose receipts these must be is known here, so the walk's own comparison with the first receipt adds nothing.
    for finding in chain.findings.into_iter().filter(|finding| finding.fault != ChainFault::OtherTenant) {
        let receipt = finding
            .position
            .and_then(|position| usize::try_from(position.saturating_sub(1)).ok())
            .and_then(|position| written.receipts.get(position));
        let id = receipt.and_then(|entry| entry.receipt.get("id")).and_then(Json::as_str).map(str::to_owned);
        let (kind, message) = (kind_of(&finding.fault), finding.fault.to_string());
        report.findings.push(Finding { height: finding.height, receipt_id: id, kind, message });
    }
    if chain.head != Some(written.head) {
        report.find(None, None, FindingKind::Head, "the receipts do not come to the head that the bundle names");
    }
    if covered.as_ref() != Ok(&written.digest) && report.findings.is_empty() {
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
    if !must_be_signed && report.receipts > 0 {
        report.limits.push("the receipts carry no signatures: only their chain was checked");
    }
    report.findings.sort_by_key(|finding| (finding.height, finding.kind));
    Ok(report)
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

    pub(crate) fn check_signature_of(
        &mut self,
        receipt: &Json,
        signature: Option<&ReceiptSignature>,
        keys: &KeySet,
        must_be_signed: bool,
    ) {
        // A receipt that was altered is named for that; its signature is judged by the digest that it records.
        let recorded = receipt.get("chain").and_then(|chain| chain.get("digest")).and_then(Json::as_str);
        let Some(digest) = recorded.and_then(|text| Digest::parse(text).ok()) else { return };
        let Some(signature) = signature else {
            if must_be_signed {
                self.find_in(
                    receipt,
                    FindingKind::Unsigned,
                    "this receipt has no signature although it should have one",
                );
            }
            return;
        };
        match keys.verify(&digest, signature) {
            // A valid signature says nothing of a receipt that no longer has the digest which was signed.
            Ok(_) if verify_alone(receipt).is_ok() => self.signed = self.signed.saturating_add(1),
            Ok(_) => {}
            Err(error @ SignatureError::UnknownKey) => {
                self.find_in(receipt, FindingKind::UnknownKey, error.to_string());
            }
            Err(error) => self.find_in(receipt, FindingKind::Signature, error.to_string()),
        }
    }

    /// Names a receipt whose signature is valid and by a key that had been retired when the receipt was decided.
    pub(crate) fn check_retirement(
        &mut self,
        receipt: &Json,
        signature: Option<&ReceiptSignature>,
        keys: &KeySet,
        retired: &Retirements,
    ) {
        let member = |name: &str| receipt.get(name).and_then(Json::as_str);
        let digest = receipt.get("chain").and_then(|chain| chain.get("digest")).and_then(Json::as_str);
        let (Some(signature), Some(digest)) = (signature, digest.and_then(|text| Digest::parse(text).ok())) else {
            return;
        };
        let decided_at = member("decided_at").and_then(|text| Timestamp::parse(text).ok());
        let (Some(retired_at), Some(decided_at)) = (retired.0.get(&signature.kid), decided_at) else { return };
        if *retired_at < decided_at && keys.verify(&digest, signature).is_ok() && verify_alone(receipt).is_ok() {
            self.doubts.push(Finding {
                height: height_of(receipt),
                receipt_id: receipt_id(receipt),
                kind: FindingKind::RetiredKey,
                message: format!("signed after its key was retired, at {retired_at}"),
            });
        }
    }

    pub(crate) fn check_tenant(&mut self, receipt: &Json) {
        let named = receipt.get("org_id").and_then(Json::as_str);
        if named != Some(self.org_id.to_string().as_str()) && verify_alone(receipt).is_ok() {
            let height = height_of(receipt);
            self.find(height, receipt_id(receipt), FindingKind::Tenant, "this receipt belongs to another tenant");
        }
    }

    fn find_in(&mut self, receipt: &Json, kind: FindingKind, message: impl Into<String>) {
        self.find(height_of(receipt), receipt_id(receipt), kind, message);
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

fn height_of(receipt: &Json) -> Option<u64> {
    let height = receipt.get("chain").and_then(|chain| chain.get("height")).and_then(Json::as_i64)?;
    u64::try_from(height).ok()
}

fn receipt_id(receipt: &Json) -> Option<String> {
    receipt.get("id").and_then(Json::as_str).map(str::to_owned)
}

fn key_words(error: KeyError) -> String {
    format!("the keys in the bundle cannot be used: {error}")
}

fn kind_of(fault: &ChainFault) -> FindingKind {
    match fault {
        ChainFault::DigestMismatch { .. } => FindingKind::Digest,
        ChainFault::BrokenLink { .. } => FindingKind::Link,
        ChainFault::HeightGap { .. } => FindingKind::Height,
        ChainFault::NonConforming(_) => FindingKind::NonConforming,
        ChainFault::MissingChain | ChainFault::MalformedChain | ChainFault::NotAReceipt => FindingKind::Digest,
        ChainFault::OtherTenant => FindingKind::Tenant,
        ChainFault::Truncated { .. } | ChainFault::Diverged { .. } | ChainFault::AnchorNotReached => FindingKind::Head,
    }
}
