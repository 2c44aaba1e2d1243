//! Proving the record, and showing that a changed byte is found.

use handoff_protocol::bundle::{self, BundleReport, Finding, Trust};

use crate::failure::Failure;

/// Verifies an export with the keys that the server publishes.
pub(super) fn verify(export: &str, trust: &Trust) -> Result<BundleReport, Failure> {
    bundle::verify(export.as_bytes(), trust).map_err(|error| Failure::failed(format!("the export: {error}")))
}

/// Changes one byte of what was decided, in a copy, and returns the copy with what the verifier says of it.
pub(super) fn tampered(export: &str, decided: &str, trust: &Trust) -> Result<(String, Finding), Failure> {
    let marker = format!("\"decision\":{{\"values\":{{\"decision\":\"{decided}\"");
    let at = export
        .find(&marker)
        .and_then(|start| start.checked_add(marker.len())?.checked_sub(2))
        .ok_or_else(|| Failure::failed("the export does not hold what was decided"))?;
    let mut bytes = export.as_bytes().to_vec();
    // The last letter of the decision becomes its neighbor.
    let byte = bytes.get_mut(at).ok_or_else(|| Failure::failed("the export ends too early"))?;
    *byte ^= 1;
    let copy = String::from_utf8(bytes).map_err(|_| Failure::failed("the copy is not text any more"))?;
    let report = verify(&copy, trust)?;
    let finding = report
        .findings
        .into_iter()
        .find(|finding| finding.receipt_id.is_some())
        .ok_or_else(|| Failure::failed("the changed byte was not found: this must not be"))?;
    Ok((copy, finding))
}
