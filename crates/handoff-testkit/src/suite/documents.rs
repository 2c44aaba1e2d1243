//! Text and names come back byte for byte.

use handoff_engine::store::{BlobWrite, ChainAppend, EventType, NewEvent, TimerWrite, WriteSet};

use super::{
    StoreFactory,
    bench::{Bench, CHAIN, entry, key, put, records, tenant, timer},
};

/// Texts that a store might be tempted to read, tidy or re-encode.
const TEXTS: [&str; 9] = [
    r#"{"b":1,"a":2,"b ":3}"#,
    r#"{ "spaced" :  [ 1 ,2 ] }"#,
    r#"{"numbers":[1.0,1e2,-0,0.10,12345678901234567890123,1E+2]}"#,
    r#"{"escapes":"\u0041\/\n\u00e9\ud83d\ude00"}"#,
    r#"{"nul":"a\u0000b"}"#,
    "{\"raw\":\"é 😀 \u{202e} \u{feff} e\u{301}\"}",
    r#"{"twice":1,"twice":2}"#,
    "plain text, 'quoted' \\ with \"both\"; -- and\ttabs\r\nlines",
    "",
];

/// Documents, bodies, attestations, event data and timer actions are text, never read as anything else.
pub async fn texts_are_kept_byte_for_byte(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    for (place, text) in (1_u64..).zip(TEXTS) {
        let set = WriteSet {
            records: vec![put(&place.to_string(), None, text)],
            blobs: vec![BlobWrite::Store { owner: place.to_string(), bytes: text.into() }],
            chain: vec![ChainAppend { body: text.into(), attestation: Some(text.into()), ..entry(&CHAIN, place) }],
            events: vec![NewEvent {
                event_type: EventType::from_static("thing.happened"),
                subject: text.to_owned(),
                data: text.into(),
            }],
            timers: vec![TimerWrite::Put {
                key: timer(&place.to_string()),
                due: bench.in_seconds(place),
                action: text.into(),
            }],
            ..WriteSet::default()
        };
        bench.commit(set).await;
    }
    let without = ChainAppend { attestation: None, ..entry(&CHAIN, 10) };
    bench.commit(WriteSet { chain: vec![without], ..WriteSet::default() }).await;

    bench.advance(60);
    let entries = bench.entries(&CHAIN).await;
    let events = bench.store.read_events(&tenant(1), 0, 100).await.expect("events are read");
    let claimed = bench.store.claim_timers(100, std::time::Duration::from_secs(1)).await.expect("timers are claimed");
    for (place, text) in TEXTS.into_iter().enumerate() {
        let record = bench.record(&(place + 1).to_string()).await.expect("the record is there");
        assert_eq!(&*record.document, text, "a document");
        assert_eq!(entries[place].body.as_deref(), Some(text), "a body");
        assert_eq!(entries[place].attestation.as_deref(), Some(text), "an attestation");
        assert_eq!(&*events[place].data, text, "the data of an event");
        assert_eq!(events[place].subject, text, "the subject of an event");
        assert_eq!(&*claimed.timers[place].action, text, "the action of a timer");
    }
    assert_eq!(entries[9].attestation, None, "no attestation is not an empty one");
}

/// A large document is as good as a small one.
pub async fn a_document_of_a_megabyte_is_kept(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let document = format!("[{}0]", r#""0123456789 é","#.repeat(70_000));
    assert!(document.len() > 1_000_000, "the document is large");
    bench.commit(records([put("large", None, &document)])).await;
    let record = bench.record("large").await.expect("the record is there");
    assert!(*record.document == *document, "a large document comes back as it was written");
}

/// Ids of 200 bytes, of any script, and ids that differ in case or composition alone name different records.
pub async fn long_and_foreign_ids_are_kept_apart(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let (long, longer) = ("x".repeat(199), "x".repeat(200));
    let ids = [
        &*long, &*longer, "a", "A", "a ", "ä", "a\u{308}", "日本", "a/b", "a%2Fb", "a'b\"c", "{}", "..", "-1", "", "😀",
    ];
    bench.commit(records(ids.iter().map(|id| put(id, None, id)))).await;
    let keys: Vec<_> = ids.iter().rev().map(|id| key(id)).collect();
    let found = bench.store.get(&tenant(1), &keys).await.expect("records are read");
    let documents: Vec<_> = found.iter().flatten().map(|record| &*record.document).collect();
    let asked: Vec<_> = ids.iter().rev().copied().collect();
    assert_eq!(documents, asked, "records come in the order asked, each under its own id");

    let repeated = [key("a"), key("absent"), key("a")];
    let found = bench.store.get(&tenant(1), &repeated).await.expect("records are read");
    let there: Vec<_> = found.iter().map(Option::is_some).collect();
    assert_eq!(there, [true, false, true], "each key gets its own answer");
    assert_eq!(bench.store.get(&tenant(1), &[]).await.expect("nothing is read"), [], "nothing asked, nothing answered");
}
