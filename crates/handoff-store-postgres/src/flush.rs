//! What a batch has come to, as the values of the two statements that write it, each key once.

use std::borrow::Cow;

use handoff_engine::store::StoreError;
use handoff_protocol::id::TenantId;

use crate::{codec, link::Question, overlay::Overlay};

type Text<'a> = Cow<'a, str>;

/// Everything that comes before the label.
#[derive(Default)]
struct State<'a> {
    new: Rows<'a>,
    put: Rows<'a>,
    gone: Rows<'a>,
    off: IndexColumns<'a>,
    on: IndexColumns<'a>,
    stored: BlobColumns<'a>,
    kept: BlobColumns<'a>,
    dropped: BlobColumns<'a>,
    entries: Entries<'a>,
    erased: Erased<'a>,
}

#[derive(Default)]
struct Rows<'a> {
    kinds: Vec<Text<'a>>,
    ids: Vec<Text<'a>>,
    seen: Vec<i64>,
    versions: Vec<i64>,
    documents: Vec<Text<'a>>,
}

#[derive(Default)]
struct IndexColumns<'a> {
    indexes: Vec<Text<'a>>,
    sort_keys: Vec<&'a [u8]>,
    kinds: Vec<Text<'a>>,
    ids: Vec<Text<'a>>,
}

#[derive(Default)]
struct BlobColumns<'a> {
    owners: Vec<Text<'a>>,
    digests: Vec<String>,
    bytes: Vec<&'a [u8]>,
}

#[derive(Default)]
struct Entries<'a> {
    chains: Vec<Text<'a>>,
    heights: Vec<i64>,
    previous: Vec<String>,
    digests: Vec<String>,
    attestations: Vec<Option<Text<'a>>>,
    bodies: Vec<Text<'a>>,
    times: Vec<i64>,
}

#[derive(Default)]
struct Erased<'a> {
    chains: Vec<Text<'a>>,
    heights: Vec<i64>,
    reasons: Vec<Text<'a>>,
}

/// Everything after the label.
#[derive(Default)]
struct Rest<'a> {
    sequences: Vec<i64>,
    types: Vec<Text<'a>>,
    subjects: Vec<Text<'a>>,
    times: Vec<i64>,
    data: Vec<Text<'a>>,
    settled: Vec<Text<'a>>,
    epochs: Vec<i64>,
    removed: Vec<Text<'a>>,
    timers: Vec<Text<'a>>,
    due: Vec<i64>,
    actions: Vec<Text<'a>>,
}

macro_rules! state_sql {
    () => {
        concat!(
            "handoff_write_state($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, ",
            "$21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39)"
        )
    };
}

/// The one statement that writes a batch: a single round trip.
pub(crate) fn all<'q>(tenant: &TenantId, now: i64, overlay: &Overlay) -> Result<Question<'q>, StoreError> {
    let query = sqlx::query(concat!(
        "SELECT ",
        state_sql!(),
        ", handoff_write_rest($1, $40, $41, $42, $43, $44, $45, $46, $47, $48, $49, $50, $51, $52, $53) AS moved_at"
    ));
    let query = bind_state(query.bind(tenant.to_string()).bind(now), overlay)?;
    bind_rest(query, overlay)
}

/// The first of two statements, for who wants to come in between.
pub(crate) fn state<'q>(tenant: &TenantId, now: i64, overlay: &Overlay) -> Result<Question<'q>, StoreError> {
    let query = sqlx::query(concat!("SELECT ", state_sql!()));
    bind_state(query.bind(tenant.to_string()).bind(now), overlay)
}

/// The second of them.
pub(crate) fn rest<'q>(tenant: &TenantId, overlay: &Overlay) -> Result<Question<'q>, StoreError> {
    let query = sqlx::query(
        "SELECT handoff_write_rest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) AS moved_at",
    );
    bind_rest(query.bind(tenant.to_string()), overlay)
}

fn bind_state<'q>(query: Question<'q>, overlay: &Overlay) -> Result<Question<'q>, StoreError> {
    let State { new, put, gone, off, on, stored, kept, dropped, entries, erased } = gather_state(overlay)?;
    let query = query.bind(strs(&new.kinds)).bind(strs(&new.ids)).bind(&new.versions).bind(strs(&new.documents));
    let query = query.bind(strs(&put.kinds)).bind(strs(&put.ids)).bind(&put.seen).bind(&put.versions);
    let query = query.bind(strs(&put.documents));
    let query = query.bind(strs(&gone.kinds)).bind(strs(&gone.ids)).bind(&gone.seen);
    let query = [off, on].iter().fold(query, |query, rows| {
        query.bind(strs(&rows.indexes)).bind(&rows.sort_keys).bind(strs(&rows.kinds)).bind(strs(&rows.ids))
    });
    let query = query.bind(strs(&stored.owners)).bind(&stored.digests).bind(&stored.bytes);
    let query = [kept, dropped].iter().fold(query, |query, blobs| query.bind(strs(&blobs.owners)).bind(&blobs.digests));
    let attestations: Vec<Option<&str>> = entries.attestations.iter().map(Option::as_deref).collect();
    let query = query.bind(strs(&entries.chains)).bind(&entries.heights).bind(&entries.previous);
    let query = query.bind(&entries.digests).bind(attestations).bind(strs(&entries.bodies)).bind(&entries.times);
    Ok(query.bind(strs(&erased.chains)).bind(&erased.heights).bind(strs(&erased.reasons)))
}

fn bind_rest<'q>(query: Question<'q>, overlay: &Overlay) -> Result<Question<'q>, StoreError> {
    let rest = gather_rest(overlay)?;
    let query = query.bind(&rest.sequences).bind(strs(&rest.types)).bind(strs(&rest.subjects));
    let query = query.bind(&rest.times).bind(strs(&rest.data));
    let query = query.bind(strs(&rest.settled)).bind(&rest.epochs).bind(strs(&rest.removed));
    let query = query.bind(strs(&rest.timers)).bind(&rest.due).bind(strs(&rest.actions));
    let head = overlay.head();
    Ok(query.bind(codec::integer(head.sequence)?).bind(head.last_id.to_string()).bind(overlay.wakes()))
}

fn strs<'a>(texts: &'a [Text<'_>]) -> Vec<&'a str> {
    texts.iter().map(|text| &**text).collect()
}

fn gather_state(overlay: &Overlay) -> Result<State<'_>, StoreError> {
    let mut state = State::default();
    for (key, slot) in overlay.records.slots().filter(|(_, slot)| slot.changed) {
        let rows = match (slot.stored, &slot.now) {
            (None, Some(_)) => &mut state.new,
            (Some(_), Some(_)) => &mut state.put,
            (Some(_), None) => &mut state.gone,
            (None, None) => continue,
        };
        rows.kinds.push(codec::text(key.kind.as_str()));
        rows.ids.push(codec::text(&key.id));
        rows.seen.push(codec::integer(slot.stored.unwrap_or_default())?);
        if let Some(record) = &slot.now {
            rows.versions.push(codec::integer(record.version)?);
            rows.documents.push(codec::text(&record.document));
        }
    }
    for ((index, sort_key), change) in overlay.index.changes() {
        // A row that points to the same record again stays where it is.
        let removed = change.removed.as_ref().filter(|removed| change.now.as_ref() != Some(removed));
        for (rows, key) in [(&mut state.off, removed), (&mut state.on, change.now.as_ref())] {
            if let Some(key) = key {
                rows.indexes.push(codec::text(index.as_str()));
                rows.sort_keys.push(sort_key);
                rows.kinds.push(codec::text(key.kind.as_str()));
                rows.ids.push(codec::text(&key.id));
            }
        }
    }
    for ((owner, digest), change) in overlay.blobs.changes() {
        let add = |blobs: &mut BlobColumns<'_>| {
            blobs.owners.push(codec::text(owner).into_owned().into());
            blobs.digests.push(digest.to_string());
        };
        if let Some(bytes) = &change.stored {
            add(&mut state.stored);
            state.stored.bytes.push(bytes);
        }
        if change.kept {
            add(&mut state.kept);
        }
        if change.dropped {
            add(&mut state.dropped);
        }
    }
    for (entry, now) in &overlay.entries {
        let rows = &mut state.entries;
        rows.chains.push(codec::text(entry.chain.as_str()));
        rows.heights.push(codec::integer(entry.height)?);
        rows.previous.push(entry.previous.to_string());
        rows.digests.push(entry.digest.to_string());
        rows.attestations.push(entry.attestation.as_deref().map(codec::text));
        rows.bodies.push(codec::text(&entry.body));
        rows.times.push(now.unix_millis());
    }
    for ((chain, height), reason) in overlay.erasures.rows() {
        state.erased.chains.push(codec::text(chain.as_str()));
        state.erased.heights.push(codec::integer(*height)?);
        state.erased.reasons.push(codec::text(reason));
    }
    Ok(state)
}

fn gather_rest(overlay: &Overlay) -> Result<Rest<'_>, StoreError> {
    let mut rest = Rest::default();
    for (sequence, event, now) in &overlay.events {
        rest.sequences.push(codec::integer(*sequence)?);
        rest.types.push(codec::text(event.event_type.as_str()));
        rest.subjects.push(codec::text(&event.subject));
        rest.times.push(now.unix_millis());
        rest.data.push(codec::text(&event.data));
    }
    for (key, change) in overlay.timers.changes() {
        if let Some(epoch) = change.settled {
            rest.settled.push(codec::text(key.as_str()));
            // No epoch is that high, so that nothing is settled under it.
            rest.epochs.push(i64::try_from(epoch).unwrap_or(i64::MAX));
        }
        match &change.then {
            Some((due, action)) => {
                rest.timers.push(codec::text(key.as_str()));
                rest.due.push(due.unix_millis());
                rest.actions.push(codec::text(action));
            }
            None if change.settled.is_none() => rest.removed.push(codec::text(key.as_str())),
            None => {}
        }
    }
    Ok(rest)
}
