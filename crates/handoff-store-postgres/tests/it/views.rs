//! What operators see, and the little that they may write.

use handoff_engine::store::{RecordKey, RecordKind, RecordWrite, Store as _, WriteSet};

use super::bench::{commit, database, entry, key, open, tenant};

const DOCUMENT: &str = r#"{"id":"req_1","state":"pending","waiter_ref":"w","created_at":"c","prompt":{"body":"\"title\":\u0000 \\","title":"Old \u00e9","z":{"title":"no"}},"title":"neither","amount":1.00,"deliveries":[{"id":"dlv_1","channel":"email","state":"sent","attempts":[{},{}]}]}"#;

fn record(kind: &'static str, id: &str, document: &str) -> RecordWrite {
    let key = RecordKey::new(RecordKind::from_static(kind), id);
    RecordWrite::Put { key, seen: None, document: document.into(), unindex: vec![], index: vec![] }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_title_of_a_pending_request_can_be_changed_and_the_rest_stays_byte_for_byte() {
    let database = database();
    let store = open(database.owner_url()).await;
    let ended = DOCUMENT.replace("pending", "settled");
    let set = WriteSet {
        records: vec![record("request", "req_1", DOCUMENT), record("request", "req_2", &ended)],
        ..WriteSet::default()
    };
    commit(&store, set).await;
    let in_its_name = |statement: &str| database.run(&format!("SET handoff.tenant = '{}'; {statement}", tenant()));
    in_its_name(r#"UPDATE requests SET title = 'New "é" \ 😀' WHERE id = 'req_1'"#).unwrap();
    let found = store.get(&tenant(), &[key("req_1")]).await.unwrap();
    let found = found[0].as_ref().unwrap();
    assert_eq!(found.version, 2, "whoever read it before cannot write over it");
    assert_eq!(*found.document, DOCUMENT.replace(r"Old \u00e9", r#"New \"é\" \\ 😀"#));
    assert_eq!(in_its_name("SELECT title FROM requests WHERE id = 'req_1'").unwrap(), "New \"é\" \\ 😀");
    let deliveries =
        in_its_name("SELECT id, request_id, channel, attempts FROM deliveries ORDER BY request_id LIMIT 1").unwrap();
    assert_eq!(deliveries, "dlv_1|req_1|email|2");

    for (statement, words) in [
        ("UPDATE requests SET title = 'x' WHERE id = 'req_2'", "while a request is pending"),
        ("UPDATE requests SET title = '' WHERE id = 'req_1'", "1 to 200 characters"),
        ("UPDATE requests SET state = 'settled' WHERE id = 'req_1'", "only the title can be changed"),
        ("DELETE FROM requests", "cancelled through the API"),
        ("INSERT INTO requests (id) VALUES ('x')", "raised through the API"),
        ("UPDATE signals SET type = 'x'", "acknowledged through the API"),
        ("DELETE FROM authorizations", "redeemed through the API"),
    ] {
        let refused = in_its_name(statement).unwrap_err().to_string();
        assert!(refused.contains(words), "{statement}: {refused}");
    }
    let found = store.get(&tenant(), &[key("req_1")]).await.unwrap();
    assert_eq!(found[0].as_ref().unwrap().version, 2, "a refusal changes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn receipts_are_refused_as_append_only_also_where_none_is_in_sight() {
    let database = database();
    let store = open(database.owner_url()).await;
    let body = r#"{"id":"rcp_1","request_id":"req_1"}"#;
    commit(&store, WriteSet { chain: vec![entry(None, body)], ..WriteSet::default() }).await;
    let named = format!("SET handoff.tenant = '{}'; SELECT id, request_id, height, body FROM receipts", tenant());
    assert_eq!(database.run(&named).unwrap(), format!("rcp_1|req_1|1|{body}"));
    assert_eq!(database.run("SELECT count(*) FROM receipts").unwrap(), "0");
    for url in [database.owner_url(), database.admin_url()] {
        for statement in
            ["UPDATE receipts SET body = ''", "DELETE FROM receipts", "INSERT INTO receipts (id) VALUES ('')"]
        {
            let refused = database.run_at(url, statement).unwrap_err().to_string();
            assert!(refused.contains("append-only"), "{statement}: {refused}");
        }
    }
}
