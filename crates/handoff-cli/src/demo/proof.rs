//! Proving the record, and showing that a changed decision is found.

use handoff_protocol::bundle::{self, BundleReport, Finding, Trust};

use crate::failure::Failure;

/// Verifies an export with the keys that the server publishes.
pub(super) fn verify(export: &str, trust: &Trust) -> Result<BundleReport, Failure> {
    bundle::verify(export.as_bytes(), trust).map_err(|error| Failure::failed(format!("the export: {error}")))
}

/// Makes a copy say another decision, and returns it with what the verifier says of it.
pub(super) fn tampered(
    export: &str,
    decided: &str,
    instead: &str,
    trust: &Trust,
) -> Result<(String, Finding), Failure> {
    let says = |decision: &str| format!("\"decision\":{{\"values\":{{\"decision\":\"{decision}\"");
    let copy = export.replacen(&says(decided), &says(instead), 1);
    if copy == export {
        return Err(Failure::failed("the export does not hold what was decided"));
    }
    let report = verify(&copy, trust)?;
    let finding = report
        .findings
        .into_iter()
        .find(|finding| finding.receipt_id.is_some())
        .ok_or_else(|| Failure::failed("the changed decision was not found: this must not be"))?;
    Ok((copy, finding))
}
