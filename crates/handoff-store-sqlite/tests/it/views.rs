//! Operators look at views, and can only look.

use handoff_engine::store::{RecordKey, RecordKind, RecordWrite, Store as _, WriteSet};

use crate::bench::{Bench, insert, typical, write};

fn other(kind: &'static str, id: &str, document: &str) -> RecordWrite {
    RecordWrite::Put {
        key: RecordKey::new(RecordKind::from_static(kind), id),
        seen: None,
        document: document.into(),
        unindex: vec![],
        index: vec![],
    }
}

#[tokio::test]
async fn views_show_what_the_documents_say() {
    let bench = Bench::new();
    let store = bench.open();
    let request =
        r#"{"state":"pending","prompt":{"title":"Deploy?"},"waiter_ref":"w1","created_at":"2026-01-01T00:00:00Z"}"#;
    let signal = r#"{"type":"answered","request_id":"r","waiter_ref":"w1","sequence":3}"#;
    let records = vec![
        insert("r", request),
        other("signal", "s", signal),
        other("authorization", "z", r#"{"redemptions":[{"effect_key":"e"}],"request_id":"r"}"#),
    ];
    let _ = write(&store, WriteSet { records, ..WriteSet::default() }).await.unwrap();
    let _ = store.transact(typical("x".to_owned(), r#"{"id":"rcpt","request_id":"r"}"#.to_owned())).await.unwrap();

    let shell = bench.shell();
    for (query, shown) in [
        ("SELECT state || title || waiter_ref || version FROM requests WHERE id = 'r'", "pendingDeploy?w11"),
        ("SELECT height || id || request_id || digest FROM receipts", "1rcptr"),
        ("SELECT id || type || request_id || sequence FROM signals", "sansweredr3"),
        ("SELECT id || redemptions || request_id FROM authorizations", "z1r"),
    ] {
        let found: String = shell.query_row(query, [], |row| row.get(0)).unwrap();
        assert!(found.starts_with(shown), "{query}: {found}");
    }
}

#[test]
fn views_cannot_be_written_through() {
    let bench = Bench::new();
    let _store = bench.open();
    let shell = bench.shell();
    for view in ["requests", "receipts", "signals", "authorizations"] {
        let refusal = shell.execute(&format!("UPDATE {view} SET id = 'x'"), []).unwrap_err().to_string();
        assert!(refusal.contains("is a view"), "{refusal}");
    }
}
