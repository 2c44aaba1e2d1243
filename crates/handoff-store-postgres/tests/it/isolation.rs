//! The database itself keeps tenants apart.

use handoff_engine::store::Store as _;
use handoff_postgres_cluster::{Database, SERVICE};
use handoff_store_postgres::PostgresStore;

use super::bench::{database, everything, key, open, options, other_tenant, tenant, write_in};

/// Every table that has rows of tenants.
const TABLES: &str = "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND a.attname = 'tenant' ORDER BY 1";

fn tables(database: &Database) -> Vec<String> {
    let tables: Vec<String> = database.run(TABLES).unwrap().lines().map(str::to_owned).collect();
    assert!(tables.len() >= 9, "{tables:?}");
    tables
}

async fn two_tenants() -> Database {
    let database = database();
    let store = open(database.owner_url()).await;
    for tenant in [tenant(), other_tenant()] {
        let _ = write_in(&store, tenant, everything()).await.unwrap();
    }
    database
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_predicate_a_query_sees_and_changes_the_rows_of_the_named_tenant_alone() {
    let database = two_tenants().await;
    let (mine, all) = (tenant(), database.admin_url());
    for table in tables(&database) {
        let count = format!("SELECT count(*) FROM {table}");
        let there = database.run_at(all, &count).unwrap();
        assert_eq!(there, database.run_at(all, &format!("{count} WHERE true")).unwrap());
        assert!(there.parse::<u32>().unwrap() >= 2, "{table} has rows of both tenants");
        assert_eq!(database.run(&count).unwrap(), "0", "{table}: who names no tenant sees nothing");
        let seen = database.run(&format!(
            "SET handoff.tenant = '{mine}'; SELECT count(*), min(tenant) = '{mine}', max(tenant) = '{mine}' FROM {table}"
        ));
        let half = there.parse::<u32>().unwrap() / 2;
        assert_eq!(seen.unwrap(), format!("{half}|t|t"), "{table}");

        let forged = format!(
            "SET handoff.tenant = '{mine}'; CREATE TEMPORARY TABLE one AS SELECT * FROM {table} LIMIT 1;
             UPDATE one SET tenant = '{}'; INSERT INTO {table} SELECT * FROM one",
            other_tenant()
        );
        let refused = database.run(&forged).unwrap_err().to_string();
        assert!(refused.contains("violates row-level security policy"), "{table}: {refused}");
    }
    for table in ["records", "record_index", "timers", "blobs", "tenants"] {
        database.run(&format!("SET handoff.tenant = '{mine}'; DELETE FROM {table}")).unwrap();
        let left = database.run_at(all, &format!("SELECT count(*), min(tenant) FROM {table}")).unwrap();
        assert_eq!(left, format!("1|{}", other_tenant()), "{table}: only rows of the named tenant went");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_security_is_forced_on_every_table_of_tenants_and_bound_to_the_named_tenant() {
    let database = two_tenants().await;
    for table in tables(&database) {
        let forced =
            format!("SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE oid = '{table}'::regclass");
        assert_eq!(database.run(&forced).unwrap(), "t|t", "{table}");
    }
    let views = "SELECT count(*) FROM pg_class WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace
                 AND NOT coalesce('security_invoker=true' = ANY (reloptions), false)";
    assert_eq!(database.run(views).unwrap(), "0", "views show what their reader may see");
    let trusted = "SELECT count(*) FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace";
    assert_eq!(database.run(trusted).unwrap(), "0", "no function lends its owner's rights");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_look_across_tenants_names_itself_and_reaches_one_table() {
    let database = two_tenants().await;
    let store = open(database.owner_url()).await;
    let unkept = handoff_engine::store::NewBlob { tenant: tenant(), owner: "x".to_owned(), bytes: "unkept".into() };
    store.put_blob(unkept).await.unwrap();
    for (scope, reached, rows) in [("timers", "timers", "2"), ("blobs", "blobs", "1"), ("heads", "tenants", "2")] {
        for table in tables(&database) {
            let seen = database.run(&format!("SET handoff.scope = '{scope}'; SELECT count(*) FROM {table}")).unwrap();
            assert_eq!(seen, if table == reached { rows } else { "0" }, "{scope} in {table}");
        }
    }
    let moved = "SET handoff.scope = 'heads'; UPDATE tenants SET sequence = 7; SELECT max(sequence) FROM tenants";
    assert_eq!(database.run(moved).unwrap(), "1", "heads are looked at and not moved");
    let deleted = "SET handoff.scope = 'timers'; DELETE FROM timers; SELECT count(*) FROM timers";
    assert_eq!(database.run(deleted).unwrap(), "2", "timers are claimed and not deleted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_owns_nothing_serves_once_the_owner_granted_it_rows() {
    let database = database();
    database
        .run(&format!(
            "ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {SERVICE};
             ALTER DEFAULT PRIVILEGES GRANT USAGE ON SEQUENCES TO {SERVICE}"
        ))
        .unwrap();
    let early = PostgresStore::open(database.service_url(), options()).await.unwrap_err().to_string();
    assert!(early.contains("handoffd migrate"), "{early}");
    drop(open(database.owner_url()).await);
    let store = open(database.service_url()).await;
    let _ = write_in(&store, tenant(), everything()).await.unwrap();
    assert!(store.get(&tenant(), &[key("one")]).await.unwrap()[0].is_some());
    assert_eq!(store.claim_timers(5, std::time::Duration::from_secs(60)).await.unwrap().timers.len(), 1);
    store.sweep_blobs(std::time::Duration::ZERO).await.unwrap();
    for statement in ["ALTER TABLE events DISABLE TRIGGER ALL", "DROP POLICY of_one_tenant ON records"] {
        assert!(database.run_at(database.service_url(), statement).is_err(), "{statement}");
    }
}
