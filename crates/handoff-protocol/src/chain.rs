//! Chains of receipts: each link binds its height, the link before it and the content it seals (E-6, E-7).

mod verify;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::json::{Json, NotCanonical};

pub use verify::{ChainFault, ChainFinding, ChainReport, ChainVerifier, verify_alone};

/// The name of the member that holds a receipt's link, and that the link does not cover.
pub const CHAIN_MEMBER: &str = "chain";

/// One link of a chain: the `chain` member of a receipt.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "ChainLink")]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The place in the chain; the first link stands at 1, and none is left out (E-7).
    #[schemars(range(min = 1))]
    pub height: u64,
    /// The digest of the link before, or all zeros in the first link.
    pub prev_digest: Digest,
    /// The digest over height, previous digest and content (E-6).
    pub digest: Digest,
}

/// Where a chain ends: what the next link builds on, and what an anchor remembers.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "BundleHead")]
pub struct Head {
    /// The number of links so far.
    pub height: u64,
    /// The digest of the last link, or all zeros in an empty chain (E-10).
    pub digest: Digest,
}

impl Head {
    /// The head of an empty chain: height 0 and the zero digest.
    pub const GENESIS: Self = Self { height: 0, digest: Digest::zero() };

    /// Makes the link that seals a receipt on top of this head.
    ///
    /// ```
    /// use handoff_protocol::chain::Head;
    /// use handoff_protocol::json::Json;
    ///
    /// let first = Head::GENESIS.append(&Json::object([("kind", "decision".into())]))?;
    /// let second = first.head().append(&Json::object([("kind", "policy".into())]))?;
    /// assert_eq!((second.height, second.prev_digest), (2, first.digest));
    /// # Ok::<(), handoff_protocol::json::NotCanonical>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] as for [`core_hash`].
    pub fn append(self, core: &Json) -> Result<Link, NotCanonical> {
        Link::seal(self.height.saturating_add(1), self.digest, core)
    }
}

impl Default for Head {
    fn default() -> Self {
        Self::GENESIS
    }
}

impl Link {
    /// Computes the link at a height, after a digest, over a receipt's content (E-6).
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] as for [`core_hash`].
    pub fn seal(height: u64, prev_digest: Digest, core: &Json) -> Result<Self, NotCanonical> {
        let digest = link_digest(height, prev_digest, core_hash(core)?);
        Ok(Self { height, prev_digest, digest })
    }

    /// Gives the head of the chain that ends with this link.
    #[must_use]
    pub const fn head(self) -> Head {
        Head { height: self.height, digest: self.digest }
    }

    /// Gives the link as the `chain` member of a receipt.
    #[must_use]
    pub fn to_json(self) -> Json {
        Json::object([
            ("height", self.height.into()),
            ("prev_digest", self.prev_digest.to_string().into()),
            ("digest", self.digest.to_string().into()),
        ])
    }

    /// Reads the `chain` member of a receipt: three members of the right kinds, a height from 1, and nothing else.
    #[must_use]
    pub fn from_json(chain: &Json) -> Option<Self> {
        let members = chain.as_object().filter(|members| members.len() == 3)?;
        let digest = |name| Digest::parse(members.get(name)?.as_str()?).ok();
        let height = members.get("height")?.as_number()?.safe_integer()?;
        let height = u64::try_from(height).ok().filter(|height| *height > 0)?;
        Some(Self { height, prev_digest: digest("prev_digest")?, digest: digest("digest")? })
    }
}

/// Hashes the content of a receipt: the canonical text of the whole without its `chain` member (E-6).
///
/// A receipt gives the same hash before and after it is sealed. The link's text takes it without prefix, as
/// [`Digest::hex`].
///
/// # Errors
///
/// [`NotCanonical`] if the content holds a number that has no canonical text (N-6).
pub fn core_hash(receipt: &Json) -> Result<Digest, NotCanonical> {
    write_canonical(receipt, &mut String::new())
}

/// Appends the canonical text of a receipt, its `chain` member included, and gives the hash of its content.
pub(crate) fn write_canonical(receipt: &Json, out: &mut String) -> Result<Digest, NotCanonical> {
    let begins = out.len();
    let chain = match receipt.as_object() {
        Some(members) => members.write_canonical_around(CHAIN_MEMBER, out)?,
        None => {
            receipt.write_canonical(out)?;
            None
        }
    };
    let chain = chain.unwrap_or(out.len()..out.len());
    let (before, behind) = (out.get(begins..chain.start), out.get(chain.end..));
    Ok(Digest::of_parts([before.unwrap_or_default(), behind.unwrap_or_default()]))
}

/// Computes the digest of a link over the text `height LF prev_digest LF core_hash` (E-6).
#[must_use]
pub fn link_digest(height: u64, prev_digest: Digest, core_hash: Digest) -> Digest {
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::PrefixedCoreHash.is_planted() {
        return Digest::of(format!("{height}\n{prev_digest}\n{core_hash}"));
    }
    Digest::of(format!("{height}\n{prev_digest}\n{}", core_hash.hex()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read_str;

    #[test]
    fn the_link_text_has_a_bare_core_hash_and_a_prefixed_previous_digest() {
        let core = Json::object([("a", 1.into())]);
        let text = format!("7\n{}\n{}", Digest::zero(), Digest::of(r#"{"a":1}"#).hex());
        assert_eq!(Link::seal(7, Digest::zero(), &core).unwrap().digest, Digest::of(text));
    }

    #[test]
    fn the_chain_member_is_not_covered_and_a_deeper_one_is() {
        let bare = read_str(r#"{"a":{"chain":1}}"#).unwrap();
        let sealed = read_str(r#"{"chain":{"height":1},"a":{"chain":1}}"#).unwrap();
        assert_eq!(core_hash(&bare), core_hash(&sealed));
        assert_ne!(core_hash(&bare), core_hash(&read_str(r#"{"a":{}}"#).unwrap()));
    }

    #[test]
    fn a_link_survives_the_way_through_json() {
        let link = Head::GENESIS.append(&Json::object([("a", 1.into())])).unwrap();
        assert_eq!(Link::from_json(&link.to_json()), Some(link));
        assert_eq!(serde_json::from_str::<Link>(&link.to_json().to_text()).unwrap(), link);
    }

    #[test]
    fn a_link_with_anything_amiss_is_not_read() {
        let good = Head::GENESIS.append(&Json::Null).unwrap().to_json().to_text();
        for (from, to) in [
            ("\"height\":1", "\"height\":0"),
            ("\"height\":1", "\"height\":-1"),
            ("\"height\":1", "\"height\":\"1\""),
            ("\"height\":1", "\"height\":1.5"),
            ("\"height\":1", "\"height\":9007199254740992"),
            ("\"height\":1", "\"height\":1,\"more\":1"),
            ("\"height\":1,", ""),
            ("sha256:", "sha512:"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good);
            assert_eq!(Link::from_json(&read_str(&bad).unwrap()), None, "{bad}");
        }
        assert_eq!(Link::from_json(&Json::Null), None);
    }
}
