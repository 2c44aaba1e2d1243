//! The chain of receipts, recomputed from what a server serves, by code that shares nothing with it (E-6, E-7, E-8).

use std::collections::BTreeSet;

use serde_json::Value;

use crate::json::{canonical, elements, scan, sha256_hex};

/// What the first receipt names as its predecessor.
pub const GENESIS: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

/// A link whose digest was recomputed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Link {
    /// The receipt's id.
    pub id: String,
    /// The tenant.
    pub tenant: String,
    /// The place in the chain, from 1.
    pub height: u64,
    /// What it says of its predecessor.
    pub previous: String,
    /// Its own digest.
    pub digest: String,
}

/// The head as a server states it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Head {
    /// The tenant.
    pub tenant: String,
    /// How many receipts there are.
    pub height: u64,
    /// The digest of the last.
    pub digest: String,
}

/// Recomputes one receipt from its text.
///
/// # Errors
///
/// What is wrong with it, in words.
pub fn link(text: &str) -> Result<Link, String> {
    let oddities = scan(text);
    if let Some((path, literal)) = oddities.numbers.first() {
        return Err(format!("non-conforming: the number at `{path}` is written `{literal}`"));
    }
    if let Some(path) = oddities.duplicates.first() {
        return Err(format!("non-conforming: the name at `{path}` stands twice"));
    }
    let mut core: Value = serde_json::from_str(text).map_err(|error| format!("non-conforming: {error}"))?;
    let members = core.as_object_mut().ok_or("non-conforming: it is no object")?;
    let chain = members.remove("chain").ok_or("`chain` is missing")?;
    let named = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| format!("`{name}` is no text"))
    };
    let height = chain.get("height").and_then(Value::as_u64).ok_or("`chain.height` is no number")?;
    let link = Link {
        id: named(&core, "id")?,
        tenant: named(&core, "org_id")?,
        height,
        previous: named(&chain, "prev_digest")?,
        digest: named(&chain, "digest")?,
    };
    let core_hash = sha256_hex(&canonical(&core)?);
    let digest = format!("sha256:{}", sha256_hex(format!("{height}\n{}\n{core_hash}", link.previous).as_bytes()));
    if digest == link.digest {
        Ok(link)
    } else {
        Err(format!("tampered: its digest is {}, and recomputed it is {digest}", link.digest))
    }
}

/// The texts of the receipts in a page of `GET /v1/receipts`, each to the byte.
///
/// # Errors
///
/// It is no such page.
pub fn receipts_of(page: &str) -> Result<Vec<&str>, String> {
    let value: Value =
        serde_json::from_str(page).map_err(|error| format!("the page of receipts is no JSON: {error}"))?;
    let data = value.get("data").and_then(Value::as_array).ok_or("the page of receipts has no `data`")?;
    let texts = elements(page, "data");
    if texts.len() == data.len() { Ok(texts) } else { Err("the page of receipts cannot be split".to_owned()) }
}

/// Walks a whole chain: each receipt recomputes, heights are 1, 2, 3 …, each names the digest before it, from the
/// genesis on, and all are of one tenant.
///
/// # Errors
///
/// The first thing that is wrong, in words.
pub fn walk(texts: &[String]) -> Result<Vec<Link>, String> {
    let mut links: Vec<Link> = Vec::with_capacity(texts.len());
    let mut ids = BTreeSet::new();
    for (height, text) in (1..).zip(texts) {
        let link = link(text).map_err(|problem| format!("receipt {height} of the chain: {problem}"))?;
        if link.height != height {
            return Err(format!("receipt {height} of the chain says that its height is {}", link.height));
        }
        let previous = links.last().map_or(GENESIS, |before| &before.digest);
        if link.previous != previous {
            return Err(format!(
                "receipt {height} of the chain names {} before it, and that is {previous}",
                link.previous
            ));
        }
        if let Some(first) = links.first().filter(|first| first.tenant != link.tenant) {
            return Err(format!("receipt {height} of the chain is of {}, the first of {}", link.tenant, first.tenant));
        }
        if !ids.insert(link.id.clone()) {
            return Err(format!("receipt {height} of the chain has the id of an earlier one"));
        }
        links.push(link);
    }
    Ok(links)
}

/// Holds a chain against its head as it was stated before and after it was fetched. Others may have added receipts
/// meanwhile, but what was the head must be in the chain at its height, and nothing may be beyond the later head.
///
/// # Errors
///
/// They do not agree.
pub fn agree(links: &[Link], before: &Head, after: &Head) -> Result<(), String> {
    let height = u64::try_from(links.len()).unwrap_or(u64::MAX);
    if height < before.height || height > after.height {
        let (least, most) = (before.height, after.height);
        return Err(format!("the chain has {height} receipts, and its head says {least} before and {most} after"));
    }
    for head in [before, after] {
        let at_head = match head.height {
            0 => Some(GENESIS),
            number => links.iter().find(|link| link.height == number).map(|link| link.digest.as_str()),
        };
        if let Some(digest) = at_head.filter(|digest| *digest != head.digest) {
            return Err(format!(
                "the head of height {} is {}, and the chain has {digest} there",
                head.height, head.digest
            ));
        }
        if let Some(link) = links.first().filter(|link| link.tenant != head.tenant) {
            return Err(format!("the head is of {}, the chain of {}", head.tenant, link.tenant));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
