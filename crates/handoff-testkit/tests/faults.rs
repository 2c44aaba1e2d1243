//! Planted faults do what they say, and leave nothing or everything behind.

use std::sync::Arc;

use handoff_engine::store::{
    EventType, NewEvent, Reads, RecordKey, RecordKind, RecordWrite, Step, Store, StoreError, Transacted, Transaction,
    WriteSet,
};
use handoff_protocol::id::TenantId;
use handoff_testkit::{Fault, FaultStore, MemoryStore, SeededEntropy, VirtualClock};

#[tokio::test]
async fn each_fault_fails_the_transaction_that_the_script_names() {
    let script = [(2, Fault::Unreachable), (3, Fault::LostBeforeCommit), (4, Fault::LostAfterCommit)];
    let store = FaultStore::new(memory(None), script);
    let mut events = Vec::new();
    let mut outcomes = Vec::new();
    for _ in 0..5 {
        outcomes.push(store.transact(transaction(None)).await);
        events.push(store.read_events(&TenantId::System, 0, 10).await.unwrap().len());
    }
    assert!(matches!(
        outcomes[..],
        [
            Ok(Transacted::Committed { sequence: 1 }),
            Err(StoreError::Unavailable(_)),
            Err(StoreError::Unknown(_)),
            Err(StoreError::Unknown(_)),
            Ok(Transacted::Committed { sequence: 3 }),
        ]
    ));
    assert_eq!(events, [1, 1, 1, 2, 3], "a lost answer leaves nothing or everything");

    store.fail_next(Fault::Unreachable);
    assert!(store.transact(transaction(None)).await.is_err());
    assert!(store.transact(transaction(None)).await.is_ok());
    assert_eq!(store.transactions(), 7);
}

#[tokio::test]
async fn a_fault_at_the_label_leaves_nothing_of_the_write() {
    let store = memory(Some(Arc::new(|label: &str| assert!(label != "fails", "planted at the label"))));
    let refused = store.transact(transaction(Some("fails"))).await;
    assert!(matches!(refused, Err(StoreError::StepPanicked(text)) if text.contains("planted")));
    assert_eq!(store.get(&TenantId::System, &[key()]).await.unwrap(), [None]);
    assert_eq!(store.read_events(&TenantId::System, 0, 10).await.unwrap(), []);
    let committed = store.transact(transaction(Some("passes"))).await.unwrap();
    assert_eq!(committed, Transacted::Committed { sequence: 1 });
}

fn memory(on_label: Option<handoff_testkit::memory::LabelHook>) -> MemoryStore {
    let (clock, entropy) = (Arc::new(VirtualClock::default()), Arc::new(SeededEntropy::new(1)));
    match on_label {
        Some(on_label) => MemoryStore::with_label_hook(clock, entropy, on_label),
        None => MemoryStore::new(clock, entropy),
    }
}

fn key() -> RecordKey {
    RecordKey::new(RecordKind::from_static("thing"), "one")
}

/// Writes a record and an event.
fn transaction(label: Option<&'static str>) -> Transaction {
    let step = move |loaded: &handoff_engine::store::Loaded, _: &_| {
        let seen = loaded.record(&key()).flatten().map(|record| record.version);
        let document = "text".into();
        let write = RecordWrite::Put { key: key(), seen, document, unindex: vec![], index: vec![] };
        let event = NewEvent {
            event_type: EventType::from_static("thing.happened"),
            subject: "one".to_owned(),
            data: "{}".into(),
        };
        Step::Commit(Box::new(WriteSet { records: vec![write], label, events: vec![event], ..WriteSet::default() }))
    };
    Transaction { tenant: TenantId::System, reads: Reads::none().record(key()), step: Arc::new(step) }
}
