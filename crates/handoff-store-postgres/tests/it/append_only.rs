//! What was sealed stays, whoever asks.

use handoff_postgres_cluster::{Database, SERVICE};

use super::bench::{commit, database, everything, open, tenant};

async fn sealed() -> Database {
    let database = database();
    database.run(&format!("ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO {SERVICE}")).unwrap();
    let store = open(database.owner_url()).await;
    commit(&store, everything()).await;
    database
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_changes_deletes_or_truncates_what_was_sealed() {
    let database = sealed().await;
    let named = format!("SET handoff.tenant = '{}';", tenant());
    for (who, url) in [
        ("the owner", database.owner_url()),
        ("a service", database.service_url()),
        ("a superuser", database.admin_url()),
    ] {
        for table in ["chain_entries", "chain_bodies", "erasures", "events"] {
            for statement in [
                format!("UPDATE {table} SET tenant = tenant"),
                format!("UPDATE {table} SET tenant = 'x' WHERE false"),
                format!("DELETE FROM {table}"),
                format!("TRUNCATE {table} CASCADE"),
            ] {
                let refused = database.run_at(url, &format!("{named} {statement}")).unwrap_err().to_string();
                assert!(refused.contains("append-only"), "{who}: {statement}: {refused}");
            }
        }
    }
    // Also as whoever applies changes of another database.
    let replica = format!("SET session_replication_role = replica; {named}");
    for statement in ["DELETE FROM events", "TRUNCATE chain_entries CASCADE", "DELETE FROM chain_bodies"] {
        let refused = database.run_at(database.admin_url(), &format!("{replica} {statement}")).unwrap_err().to_string();
        assert!(refused.contains("append-only"), "{statement}: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_goes_only_with_a_reason_and_does_not_come_back() {
    let database = sealed().await;
    let named = format!("SET handoff.tenant = '{}';", tenant());
    let in_its_name = |statement: &str| database.run(&format!("{named} {statement}"));
    let back = "INSERT INTO chain_bodies SELECT tenant, chain, 2, 'again' FROM chain_entries WHERE height = 2";
    assert!(in_its_name(back).unwrap_err().to_string().contains("append-only"));
    let body = "DELETE FROM chain_bodies WHERE height = 1";
    assert!(in_its_name(body).unwrap_err().to_string().contains("insert a row in erasures first"));
    let reason = "INSERT INTO erasures SELECT tenant, chain, 1, 'a court asked', 0 FROM chain_entries WHERE height = 1";
    in_its_name(&format!("{reason}; {body}")).unwrap();
    assert_eq!(in_its_name("SELECT count(*) FROM chain_bodies").unwrap(), "0");
    assert_eq!(in_its_name("SELECT count(*) FROM chain_entries").unwrap(), "2");
    let second = in_its_name("INSERT INTO erasures SELECT tenant, chain, height, 'other', 0 FROM erasures");
    assert!(second.is_err(), "the first reason stands");
}
