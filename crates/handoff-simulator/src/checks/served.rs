//! Receipts are served to the byte as they were sealed, and chains never shrink.

use std::collections::BTreeMap;

use handoff_engine::decision::RECEIPTS;
use handoff_protocol::{
    digest::Digest,
    json::{Json, read_str},
};

use super::Final;
use crate::{cast::Cast, history::History};

/// Holds what was served against what is kept.
#[must_use]
pub fn check(history: &History, end: &Final, cast: &Cast) -> Vec<String> {
    let mut found = Vec::new();
    let mut sealed: BTreeMap<String, Digest> = BTreeMap::new();
    for entry in end.snapshots.iter().filter_map(|snapshot| snapshot.chains.get(&RECEIPTS)).flatten() {
        let Some(body) = &entry.body else { continue };
        let id = read_str(body).ok().and_then(|json| json.get("id").and_then(Json::as_str).map(str::to_owned));
        sealed.extend(id.map(|id| (id, Digest::of(body.as_bytes()))));
    }
    for (id, digest) in &history.served {
        if sealed.get(&id.to_string()) != Some(digest) {
            found.push(format!("E-8: {id} was served otherwise than it is kept"));
        }
    }
    for (tenant, span, height, digest) in &history.heads {
        let org = cast.tenants.get(*tenant).map(|tenant| handoff_protocol::id::TenantId::Org(tenant.id));
        let chain = end.snapshots.iter().find(|snapshot| Some(snapshot.tenant) == org);
        let entries = chain.and_then(|snapshot| snapshot.chains.get(&RECEIPTS)).map_or(&[][..], Vec::as_slice);
        let there = *height == 0 || entries.iter().any(|entry| entry.height == *height && entry.digest == *digest);
        if !there {
            found.push(format!("E-10: the head at {height} was served and is not in the chain"));
        }
        for (other, before, lower, _) in &history.heads {
            if other == tenant && before.to < span.from && lower > height {
                found.push(format!("E-10: the head was at {lower}, and at {height} afterwards"));
            }
        }
    }
    found
}
