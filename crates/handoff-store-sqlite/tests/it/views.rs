//! Operators look at views, and write one thing through them: the title of a pending request.

use handoff_engine::store::{Record, RecordKey, RecordKind, RecordWrite, Store as _, StoreError, WriteSet};
use handoff_store_sqlite::SqliteStore;

use crate::bench::{Bench, insert, key, tenant, typical, write};

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

/// A pending request and one that ended.
const REQUESTS: [(&str, &str); 2] = [
    (
        "a",
        r#"{"state":"pending","waiter_ref":"w1","prompt":{"title":"Deploy?","n":1E2,"é":"\u0000\u00e9"},"z":[2.0,1]}"#,
    ),
    ("b", r#"{"state":"answered","prompt":{"title":"Deploy?"}}"#),
];

async fn with_requests(bench: &Bench) -> SqliteStore {
    let store = bench.open();
    let records = REQUESTS.iter().map(|(id, document)| insert(id, document)).collect();
    let _ = write(&store, WriteSet { records, ..WriteSet::default() }).await.unwrap();
    store
}

async fn kept(store: &SqliteStore, id: &str) -> Record {
    store.get(&tenant(), &[key(id)]).await.unwrap().remove(0).unwrap()
}

#[tokio::test]
async fn a_title_is_changed_where_it_stands_and_the_rest_keeps_its_spelling() {
    let bench = Bench::new();
    let store = with_requests(&bench).await;
    let shell = bench.shell();
    let change = "UPDATE requests SET title = ?1 WHERE id = 'a'";
    let longest = "😀".repeat(200);
    for (title, spelled) in
        [("Ship?", "Ship?"), ("\"\\\n\u{1}é", r#"\"\\\n\u0001é"#), (longest.as_str(), longest.as_str())]
    {
        let before = kept(&store, "a").await;
        shell.execute(change, [title]).unwrap();
        let after = kept(&store, "a").await;
        let expected = REQUESTS[0].1.replace("Deploy?", spelled);
        assert_eq!((after.document.as_ref(), after.version), (expected.as_str(), before.version + 1));
    }
    shell.execute("UPDATE requests SET title = json('[1]') WHERE id = 'a'", []).unwrap();
    assert_eq!(*kept(&store, "a").await.document, *REQUESTS[0].1.replace("Deploy?", "[1]"), "a text like any other");
}

#[tokio::test]
async fn whoever_read_a_request_before_its_title_changed_cannot_write_over_it() {
    let bench = Bench::new();
    let store = with_requests(&bench).await;
    let seen = kept(&store, "a").await;
    bench.shell().execute("UPDATE requests SET title = 'Ship?' WHERE id = 'a'", []).unwrap();
    let over = RecordWrite::Put {
        key: key("a"),
        seen: Some(seen.version),
        document: seen.document,
        unindex: vec![],
        index: vec![],
    };
    let refused = write(&store, WriteSet { records: vec![over], ..WriteSet::default() }).await.unwrap_err();
    assert!(matches!(refused, StoreError::Conflict(_)), "{refused}");
}

#[tokio::test]
async fn whatever_else_is_written_through_a_view_is_refused_in_words_and_changes_nothing() {
    let bench = Bench::new();
    let store = with_requests(&bench).await;
    let signal = other("signal", "s", r#"{"type":"answered"}"#);
    let authorization = other("authorization", "z", r#"{"redemptions":[]}"#);
    let _ = write(&store, WriteSet { records: vec![signal, authorization], ..WriteSet::default() }).await.unwrap();
    let _ = store.transact(typical("x".to_owned(), r#"{"id":"rcpt"}"#.to_owned())).await.unwrap();
    let title = |title: &str| format!("UPDATE requests SET title = {title} WHERE id = 'a'");
    let shell = bench.shell();
    let refused = |statement: &str| shell.execute(statement, []).expect_err(statement).to_string();
    for (statement, words) in [
        ("UPDATE requests SET title = 'x' WHERE id = 'b'".to_owned(), "while a request is pending"),
        ("UPDATE requests SET title = 'x'".to_owned(), "while a request is pending"),
        ("UPDATE requests SET state = 'answered' WHERE id = 'a'".to_owned(), "only the title can be changed"),
        ("UPDATE requests SET title = 'x', waiter_ref = waiter_ref WHERE id = 'a'".to_owned(), "only the title"),
        ("UPDATE OR REPLACE requests SET id = 'c' WHERE id = 'a'".to_owned(), "only the title can be changed"),
        ("INSERT INTO requests (id, title) VALUES ('c', 'x')".to_owned(), "is raised through the API"),
        ("DELETE FROM requests WHERE id = 'a'".to_owned(), "is cancelled through the API"),
        (title("''"), "1 to 200 characters"),
        (title("NULL"), "1 to 200 characters"),
        (title("7"), "1 to 200 characters"),
        (title("x'41'"), "1 to 200 characters"),
        (title("'a' || char(0) || 'b'"), "without NUL"),
        (title("printf('%.201c', 'x')"), "1 to 200 characters"),
        (title("CAST(x'436166e9' AS TEXT)"), "not UTF-8"),
        (title("printf('%.199c', 'x') || CAST(x'80' AS TEXT)"), "not UTF-8"),
        (title("CAST(x'c0af' AS TEXT)"), "not UTF-8"),
        (title("CAST(x'eda080' AS TEXT)"), "not UTF-8"),
        (title("CAST(x'f4908080' AS TEXT)"), "not UTF-8"),
        ("UPDATE receipts SET body = '{}'".to_owned(), "append-only"),
        ("DELETE FROM receipts".to_owned(), "append-only"),
        ("INSERT INTO receipts DEFAULT VALUES".to_owned(), "append-only"),
        ("UPDATE signals SET acked_at = 'x'".to_owned(), "can only be read"),
        ("DELETE FROM signals".to_owned(), "can only be read"),
        ("INSERT INTO signals (id) VALUES ('t')".to_owned(), "can only be read"),
        ("UPDATE authorizations SET redemptions = 0".to_owned(), "can only be read"),
        ("DELETE FROM authorizations".to_owned(), "can only be read"),
        ("INSERT INTO authorizations (id) VALUES ('y')".to_owned(), "can only be read"),
    ] {
        let said = refused(&statement);
        assert!(said.contains(words), "{statement}: {said}");
    }
    for (id, document) in REQUESTS {
        let kept = kept(&store, id).await;
        assert_eq!((kept.document.as_ref(), kept.version), (document, 1), "{id}");
    }
}

#[tokio::test]
async fn a_store_of_the_schema_before_learns_the_statement_when_it_is_opened() {
    let bench = Bench::new();
    drop(with_requests(&bench).await);
    let shell = bench.shell();
    for view in ["requests", "receipts", "signals", "authorizations"] {
        let named = "SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?";
        let mut drops = shell.prepare(named).unwrap();
        let drops: Vec<String> = drops.query_map([view], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        drops.iter().for_each(|drop| shell.execute_batch(drop).unwrap());
    }
    shell.pragma_update(None, "user_version", 3).unwrap();
    let change = "UPDATE requests SET title = 'Ship?' WHERE id = 'a'";
    assert!(shell.execute(change, []).unwrap_err().to_string().contains("is a view"));
    let store = bench.open();
    bench.shell().execute(change, []).unwrap();
    assert!(kept(&store, "a").await.document.contains("Ship?"));
}
