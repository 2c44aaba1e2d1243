//! Heights, digests and signatures of the receipts (E-6, E-7, E-13).

use handoff_protocol::{
    chain::{ChainVerifier, Link},
    json::{Json, from_text},
    signature::ReceiptSignature,
};

use super::{Facts, Report, Trust};
use crate::decision::RECEIPTS;

const CHECK: &str = "chain";

pub(super) fn check(facts: &Facts<'_>, trust: &Trust, report: &mut Report) {
    let entries = facts.snapshot.chains.get(&RECEIPTS).map_or(&[][..], Vec::as_slice);
    let mut previous = handoff_protocol::chain::Head::GENESIS;
    for entry in entries {
        let follows = Some(entry.height) == previous.height.checked_add(1) && entry.previous == previous.digest;
        report.expect(follows, (CHECK, "E-7"), entry.height, || "does not follow the entry before it".to_owned());
        previous = handoff_protocol::chain::Head { height: entry.height, digest: entry.digest };
        let erased = facts.snapshot.erased.contains(&(RECEIPTS, entry.height));
        report.expect(entry.body.is_none() == erased, (CHECK, "E-8"), entry.height, || {
            match entry.body {
                None => "has lost its body, and nothing says that it was erased",
                Some(_) => "was erased and has its body still",
            }
            .to_owned()
        });
    }
    if entries.len() == facts.receipts.len() {
        let mut verifier = ChainVerifier::from_genesis();
        facts.receipts.iter().for_each(|receipt| verifier.check(&receipt.json));
        for finding in verifier.finish().findings {
            let height = finding.height.or(finding.position).unwrap_or_default();
            report.find((CHECK, "E-6"), height, finding.fault.to_string());
        }
    }
    for receipt in &facts.receipts {
        let entry = receipt.entry;
        let link = receipt.json.get("chain").and_then(Link::from_json);
        let kept = Link { height: entry.height, prev_digest: entry.previous, digest: entry.digest };
        report.expect(link == Some(kept), (CHECK, "E-8"), entry.height, || {
            "says another place in the chain than it has".to_owned()
        });
        let Some(keys) = &trust.keys else { continue };
        let signed = entry.attestation.as_deref().map(from_text::<ReceiptSignature>);
        match signed {
            None => report.find((CHECK, "E-13"), entry.height, "is not signed"),
            Some(Err(_)) => report.find((CHECK, "E-13"), entry.height, "has a signature that cannot be read"),
            Some(Ok(signature)) => {
                if let Err(error) = keys.verify(&entry.digest, &signature) {
                    report.find((CHECK, "E-13"), entry.height, error.to_string());
                }
            }
        }
        let org = receipt.json.get("org_id").and_then(Json::as_str);
        report.expect(org == Some(facts.snapshot.tenant.to_string().as_str()), (CHECK, "T-1"), entry.height, || {
            "names another tenant".to_owned()
        });
    }
}
