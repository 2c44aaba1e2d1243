//! Writing a bundle, a receipt at a time.

use super::{Bundle, BundleError, FORMAT, covered::Covered};
use crate::{
    chain::{Head, write_canonical},
    id::OrgId,
    json::{Json, read_str, to_json, write_text},
    signature::Jwks,
    timestamp::Timestamp,
};

/// A bundle in the making, for chains that are too long to be held at once.
///
/// The pieces of text, one after another, are the bundle: what [`begin`](Self::begin), [`receipt`](Self::receipt) for
/// each receipt from height 1, and [`finish`](Self::finish) append.
pub struct BundleWriter {
    covered: Covered,
    canonical: String,
    empty: bool,
}

impl BundleWriter {
    /// Appends what stands before the receipts.
    ///
    /// # Errors
    ///
    /// [`BundleError`] if the head is at a height that no JSON number can name.
    pub fn begin(
        org_id: OrgId,
        exported_at: Timestamp,
        head: Head,
        keys: &Jwks,
        out: &mut String,
    ) -> Result<Self, BundleError> {
        let members = [
            ("format", Json::from(FORMAT)),
            ("org_id", org_id.to_string().into()),
            ("exported_at", exported_at.to_string().into()),
            ("head", to_json(&head)?),
            ("keys", to_json(keys)?),
        ];
        out.push_str("{\n");
        for (name, value) in &members {
            write_text(name, out)?;
            out.push(':');
            value.write_to(out);
            out.push_str(",\n");
        }
        out.push_str("\"receipts\":[");
        let covered = Covered::begin(members.iter().map(|(name, value)| (*name, value)).collect())?;
        Ok(Self { covered, canonical: String::new(), empty: true })
    }

    /// Appends a receipt and its signature, both as the texts that were kept.
    ///
    /// # Errors
    ///
    /// [`BundleError`] if one of them is no JSON or cannot be digested.
    pub fn receipt(&mut self, receipt: &str, signature: Option<&str>, out: &mut String) -> Result<(), BundleError> {
        self.canonical.clear();
        self.canonical.push_str("{\"receipt\":");
        write_canonical(&read_str(receipt)?, &mut self.canonical)?;
        self.canonical.push_str(",\"signature\":");
        match signature {
            Some(signature) => read_str(signature)?.write_canonical(&mut self.canonical)?,
            None => self.canonical.push_str("null"),
        }
        self.canonical.push('}');
        self.covered.entry(&self.canonical);
        out.push_str(if std::mem::replace(&mut self.empty, false) { "\n" } else { ",\n" });
        out.push_str("{\"receipt\":");
        out.push_str(receipt);
        out.push_str(",\"signature\":");
        out.push_str(signature.unwrap_or("null"));
        out.push('}');
        Ok(())
    }

    /// Appends what stands behind the receipts: the digest over all of it.
    pub fn finish(self, out: &mut String) {
        out.push_str(if self.empty { "],\n\"digest\":\"" } else { "\n],\n\"digest\":\"" });
        out.push_str(&self.covered.finish().to_string());
        out.push_str("\"\n}\n");
    }
}

impl Bundle {
    /// Writes the bundle as text, a receipt a line, so that a difference shows where it is.
    ///
    /// # Errors
    ///
    /// [`BundleError`] if a receipt in it cannot be digested.
    pub fn to_text(&self) -> Result<String, BundleError> {
        let mut text = String::new();
        let mut writer = BundleWriter::begin(self.org_id, self.exported_at, self.head, &self.keys, &mut text)?;
        for entry in &self.receipts {
            let signature = entry.signature.as_ref().map(crate::json::to_text).transpose()?;
            writer.receipt(&entry.receipt.to_text(), signature.as_deref(), &mut text)?;
        }
        writer.finish(&mut text);
        Ok(text)
    }
}
