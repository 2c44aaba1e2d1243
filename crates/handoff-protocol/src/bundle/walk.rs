//! Reading a bundle, a receipt at a time.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    FORMAT,
    report::BundleReport,
    verify::{Trust, Verification},
};
use crate::{
    chain::Head,
    digest::Digest,
    id::OrgId,
    json::{Json, from_json},
    signature::Jwks,
};

/// The members of a bundle, as [`Bundle::to_text`](super::Bundle::to_text) writes them.
const MEMBERS: &[&str] = &["format", "org_id", "exported_at", "head", "keys", "receipts", "digest"];

/// Reads a bundle out of its text and verifies it on the way.
pub(super) struct Walk<'a>(pub(super) &'a Trust);

/// A receipt and its signature, as read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) receipt: Json,
    /// Nothing if the member is not there, which the digest over the bundle tells from null.
    #[serde(default, deserialize_with = "present")]
    pub(super) signature: Option<Json>,
}

/// What stands beside the receipts, as read.
#[derive(Default)]
pub(super) struct Frame {
    format: Option<Json>,
    org_id: Option<Json>,
    exported_at: Option<Json>,
    head: Option<Json>,
    keys: Option<Json>,
    digest: Option<Json>,
}

/// What must be known before a receipt can be judged.
pub(super) struct Known {
    pub(super) org_id: OrgId,
    pub(super) head: Head,
    pub(super) keys: Jwks,
}

impl Frame {
    fn put<E: Error>(&mut self, name: &str, value: Json) -> Result<(), E> {
        let place = match name {
            "format" => &mut self.format,
            "org_id" => &mut self.org_id,
            "exported_at" => &mut self.exported_at,
            "head" => &mut self.head,
            "keys" => &mut self.keys,
            "digest" => &mut self.digest,
            other => return Err(E::unknown_field(other, MEMBERS)),
        };
        *place = Some(value);
        Ok(())
    }

    /// Everything but the receipts and the digest, under its name.
    pub(super) fn covered(&self) -> Vec<(&'static str, &Json)> {
        let members = [
            ("format", &self.format),
            ("org_id", &self.org_id),
            ("exported_at", &self.exported_at),
            ("head", &self.head),
            ("keys", &self.keys),
        ];
        members.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))).collect()
    }

    fn known<E: Error>(&self) -> Result<Known, E> {
        let format: String = typed(&self.format, "format")?;
        if format != FORMAT {
            return Err(E::custom("the format is not known here"));
        }
        let _: crate::timestamp::Timestamp = typed(&self.exported_at, "exported_at")?;
        Ok(Known {
            org_id: typed(&self.org_id, "org_id")?,
            head: typed(&self.head, "head")?,
            keys: typed(&self.keys, "keys")?,
        })
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = BundleReport;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<BundleReport, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = BundleReport;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an export bundle")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<BundleReport, A::Error> {
        let mut frame = Frame::default();
        let mut verification = None;
        // Where the receipts come before what they are judged by, they have to wait.
        let mut waiting = None;
        while let Some(name) = map.next_key::<String>()? {
            if name != "receipts" {
                frame.put(&name, map.next_value()?)?;
                continue;
            }
            match frame.known::<A::Error>() {
                Ok(known) => {
                    let mut begun = Verification::begin(&frame, &known, self.0);
                    map.next_value_seed(Entries(&mut begun))?;
                    verification = Some(begun);
                }
                Err(_) => waiting = Some(map.next_value::<Vec<Entry>>()?),
            }
        }
        let verification = match verification {
            Some(verification) => verification,
            None => {
                let mut begun = Verification::begin(&frame, &frame.known()?, self.0);
                let entries = waiting.ok_or_else(|| Error::missing_field("receipts"))?;
                entries.iter().try_for_each(|entry| begun.entry(entry).map_err(Error::custom))?;
                begun
            }
        };
        let digest: Digest = typed(&frame.digest, "digest")?;
        Ok(verification.finish(digest, self.0))
    }
}

/// The receipts of a bundle, each verified and let go.
struct Entries<'a>(&'a mut Verification);

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of receipts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(entry) = entries.next_element::<Entry>()? {
            self.0.entry(&entry).map_err(Error::custom)?;
        }
        Ok(())
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

fn typed<T: DeserializeOwned, E: Error>(member: &Option<Json>, name: &'static str) -> Result<T, E> {
    let value = member.clone().ok_or_else(|| E::missing_field(name))?;
    from_json(value).map_err(E::custom)
}
